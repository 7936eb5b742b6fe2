/* SPDX-License-Identifier: Apache-2.0 */
#include "services/tunnel/packet/ip.h"

#include "services/tunnel/packet/checksum.h"
#include "services/tunnel/packet/limits.h"

#include "base/bytes.h"

enum { SOURCE4 = 12, DESTINATION4 = 16, SOURCE6 = 8, DESTINATION6 = 24 };
enum { OPTION_END = 0, OPTION_NOTHING = 1, OPTION_LOOSE_ROUTE = 131, OPTION_STRICT_ROUTE = 137 };
/* IPv6 extension heads (RFC 8200, section 4; RFC 4302 for authentication). */
enum { HOP_BY_HOP = 0, ROUTING = 43, FRAGMENT = 44, AUTHENTICATION = 51, FOR_DESTINATION = 60, FRAGMENT_HEAD = 8 };

/* ---- IPv4 -------------------------------------------------------------------------------------------------------- */

/* Options of IPv4 stand between the head's 20 bytes and its end. A list that overruns the head is cut short. */
static bool options_route(const uint8_t *at, size_t left)
{
    while (left > 0 && *at != OPTION_END) {
        size_t bytes = 1;
        if (*at == OPTION_LOOSE_ROUTE || *at == OPTION_STRICT_ROUTE) {
            return true;
        }
        if (*at != OPTION_NOTHING) {
            if (left < 2 || at[1] < 2 || at[1] > left) {
                return false;
            }
            bytes = at[1];
        }
        at += bytes;
        left -= bytes;
    }
    return false;
}

static enum tunnel_cause read4(struct ip_packet *p)
{
    const uint8_t *b = p->bytes;
    if (p->length < IP4_HEAD) {
        return TUNNEL_SHORT;
    }
    size_t head = 4 * (size_t)(b[0] & 15);
    if (head < IP4_HEAD || get_be16(b + IP4_LENGTH) != p->length) {
        return TUNNEL_LENGTH;
    }
    if (head > p->length) {
        return TUNNEL_SHORT;
    }
    if (get_be16(b + IP4_SUM) != checksum_ipv4_head(b, head)) {
        return TUNNEL_SUM;
    }
    if (options_route(b + IP4_HEAD, head - IP4_HEAD)) {
        return TUNNEL_OPTION;
    }
    p->protocol = b[IP4_PROTOCOL];
    p->fragment = (get_be16(b + IP4_FRAGMENT) & IP4_FRAGMENTED) != 0;
    p->ip_head = (uint16_t)head;
    return TUNNEL_GOOD;
}

/* ---- IPv6 -------------------------------------------------------------------------------------------------------- */

static bool is_extension(uint8_t next)
{
    return next == HOP_BY_HOP || next == ROUTING || next == AUTHENTICATION || next == FOR_DESTINATION;
}

/* Behind a fragment's head nothing is read: what is there may be the middle of something. */
static enum tunnel_cause read6(struct ip_packet *p)
{
    const uint8_t *b = p->bytes;
    if (p->length < IP6_HEAD) {
        return TUNNEL_SHORT;
    }
    if ((size_t)get_be16(b + IP6_LENGTH) + IP6_HEAD != p->length) {
        return TUNNEL_LENGTH;
    }
    size_t at = IP6_HEAD;
    uint8_t next = b[IP6_NEXT];
    while (is_extension(next)) {
        if (p->length - at < 8) {
            return TUNNEL_SHORT;
        }
        size_t bytes = next == AUTHENTICATION ? 4 * ((size_t)b[at + 1] + 2) : 8 * ((size_t)b[at + 1] + 1);
        if (bytes > p->length - at) {
            return TUNNEL_SHORT;
        }
        if (next == ROUTING && b[at + 2] == 0) {
            return TUNNEL_OPTION; /* RFC 5095 */
        }
        next = b[at];
        at += bytes;
    }
    if (next == FRAGMENT) {
        if (p->length - at < FRAGMENT_HEAD) {
            return TUNNEL_SHORT;
        }
        next = b[at];
        at += FRAGMENT_HEAD;
        p->fragment = true;
    }
    p->protocol = next;
    p->ip_head = (uint16_t)at;
    return TUNNEL_GOOD;
}

/* ---- Both -------------------------------------------------------------------------------------------------------- */

static enum tunnel_cause read_transport(struct ip_packet *p)
{
    const uint8_t *t = p->bytes + p->ip_head;
    size_t left = p->length - p->ip_head;
    if (ip_is_tcp(p)) {
        if (left < TCP_HEAD) {
            return TUNNEL_SHORT;
        }
        size_t head = 4 * (size_t)(t[TCP_OFFSET] >> 4);
        if (head < TCP_HEAD) {
            return TUNNEL_LENGTH;
        }
        if (head > left) {
            return TUNNEL_SHORT;
        }
        p->heads = (uint16_t)(p->ip_head + head);
        return TUNNEL_GOOD;
    }
    if (left < UDP_HEAD) {
        return TUNNEL_SHORT;
    }
    size_t datagram = get_be16(t + 4);
    if (datagram < UDP_HEAD || datagram > left) {
        return TUNNEL_LENGTH;
    }
    p->heads = (uint16_t)(p->ip_head + UDP_HEAD);
    return TUNNEL_GOOD;
}

enum tunnel_cause ip_read(const uint8_t *bytes, size_t length, struct ip_packet *out)
{
    if (length == 0) {
        return TUNNEL_SHORT;
    }
    if (length > TUNNEL_PACKET_MOST) {
        return TUNNEL_LENGTH;
    }
    *out = (struct ip_packet){.bytes = bytes, .length = length, .version = bytes[0] >> 4};
    if (out->version != 4 && out->version != 6) {
        return TUNNEL_VERSION;
    }
    enum tunnel_cause cause = out->version == 4 ? read4(out) : read6(out);
    if (cause != TUNNEL_GOOD) {
        return cause;
    }
    out->heads = out->ip_head;
    return ip_is_tcp(out) || ip_is_udp(out) ? read_transport(out) : TUNNEL_GOOD;
}

bool ip_datagram_fits(const struct ip_packet *p)
{
    return get_be16(p->bytes + p->ip_head + 4) == p->length - p->ip_head;
}

static void address(const struct ip_packet *p, unsigned at4, unsigned at6, struct ip_address *out)
{
    *out = (struct ip_address){.version = p->version};
    memcpy(out->b, p->bytes + (p->version == 4 ? at4 : at6), p->version == 4 ? 4 : 16);
}

void ip_source(const struct ip_packet *p, struct ip_address *out)
{
    address(p, SOURCE4, SOURCE6, out);
}

void ip_destination(const struct ip_packet *p, struct ip_address *out)
{
    address(p, DESTINATION4, DESTINATION6, out);
}

unsigned ip_ecn(const uint8_t *bytes)
{
    return bytes[0] >> 4 == 4 ? bytes[1] & 3 : bytes[1] >> 4 & 3;
}

void ip_mark(uint8_t *bytes)
{
    if (bytes[0] >> 4 == 4) {
        bytes[1] |= ECN_CE;
        put_be16(bytes + IP4_SUM, checksum_ipv4_head(bytes, 4 * (size_t)(bytes[0] & 15)));
        return;
    }
    bytes[1] |= ECN_CE << 4;
}

void ip_set_length(uint8_t *bytes, size_t ip_head, size_t length)
{
    if (bytes[0] >> 4 == 4) {
        put_be16(bytes + IP4_LENGTH, (uint16_t)length);
        put_be16(bytes + IP4_SUM, checksum_ipv4_head(bytes, ip_head));
        return;
    }
    put_be16(bytes + IP6_LENGTH, (uint16_t)(length - IP6_HEAD));
}
