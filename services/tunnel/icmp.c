/* SPDX-License-Identifier: Apache-2.0 */
#include "services/tunnel/icmp.h"

#include "services/tunnel/mutant.h"
#include "services/tunnel/packet/checksum.h"

#include "base/bytes.h"

/* Of ICMP: the types that are errors, and the codes of what is said here. */
enum { UNREACHABLE = 3, SOURCE_QUENCH = 4, REDIRECT = 5, TIME_EXCEEDED = 11, PARAMETER = 12 };
enum { HOST = 1, NEEDS_FRAGMENT = 4, FILTERED = 13 };
/* Of ICMPv6: errors are below 128. */
enum { UNREACHABLE6 = 1, TOO_BIG6 = 2, QUERIES6 = 128 };
enum { PROHIBITED6 = 1, ADDRESS6 = 3 };
/* A whole IPv4 answer is no longer than this (RFC 1812, 4.3.2.3), an IPv6 one than the least MTU. */
enum { QUOTED4 = 576, HEAD = 8, HOPS = 64 };

static bool is_error(const struct ip_packet *p)
{
    if (p->length <= p->heads) {
        return true; /* no type can be seen: as if it were one */
    }
    uint8_t type = p->bytes[p->heads];
    if (p->version == 6) {
        return type < QUERIES6;
    }
    return type == UNREACHABLE || type == SOURCE_QUENCH || type == REDIRECT || type == TIME_EXCEEDED ||
           type == PARAMETER;
}

static bool is_later_fragment(const struct ip_packet *p)
{
    if (!p->fragment) {
        return false;
    }
    /* IPv6: the offset stands two bytes into the fragment head, which is the last 8 bytes of the IP heads. */
    return p->version == 4 ? (get_be16(p->bytes + IP4_FRAGMENT) & 0x1fff) != 0
                           : get_be16(p->bytes + p->ip_head - 6) >> 3 != 0;
}

static bool is_somebody(const struct ip_address *a)
{
    if (a->version == 6) {
        return a->b[0] != 0xff && (get_be64(a->b) != 0 || get_be64(a->b + 8) > 1);
    }
    return a->b[0] != 0 && a->b[0] != 127 && a->b[0] < 224;
}

static bool is_to_many(const struct ip_address *a)
{
    return a->version == 6 ? a->b[0] == 0xff : a->b[0] >= 224;
}

bool icmp_may(const struct ip_packet *p)
{
    struct ip_address from, to;
    ip_source(p, &from);
    ip_destination(p, &to);
    bool icmp = p->protocol == (p->version == 4 ? IP_ICMP : IP_ICMP6);
    return is_somebody(&from) && !is_to_many(&to) && !is_later_fragment(p) &&
           !(icmp && is_error(p) && !TUNNEL_MUTANT(ICMP_ABOUT_ICMP));
}

static void say4(enum icmp_what what, uint32_t mtu, uint8_t *icmp)
{
    static const uint8_t codes[] = {
        [ICMP_UNREACHABLE] = HOST, [ICMP_TOO_BIG] = NEEDS_FRAGMENT, [ICMP_PROHIBITED] = FILTERED};
    icmp[0] = UNREACHABLE;
    icmp[1] = codes[what];
    put_be32(icmp + 4, what == ICMP_TOO_BIG ? (mtu < UINT16_MAX ? mtu : UINT16_MAX) : 0);
}

static void say6(enum icmp_what what, uint32_t mtu, uint8_t *icmp)
{
    static const uint8_t codes[] = {[ICMP_UNREACHABLE] = ADDRESS6, [ICMP_TOO_BIG] = 0, [ICMP_PROHIBITED] = PROHIBITED6};
    icmp[0] = what == ICMP_TOO_BIG ? TOO_BIG6 : UNREACHABLE6;
    icmp[1] = codes[what];
    put_be32(icmp + 4, what == ICMP_TOO_BIG ? mtu : 0);
}

static void write_ip(uint8_t *out, size_t length, const struct ip_packet *p, const struct ip_address *self)
{
    struct ip_address to;
    ip_source(p, &to);
    memset(out, 0, p->version == 4 ? IP4_HEAD : IP6_HEAD);
    out[0] = p->version == 4 ? 0x45 : 0x60;
    out[p->version == 4 ? IP4_TTL : IP6_HOPS] = HOPS;
    out[p->version == 4 ? IP4_PROTOCOL : IP6_NEXT] = p->version == 4 ? IP_ICMP : IP_ICMP6;
    memcpy(out + (p->version == 4 ? 12 : 8), self->b, p->version == 4 ? 4 : 16);
    memcpy(out + (p->version == 4 ? 16 : 24), to.b, p->version == 4 ? 4 : 16);
    ip_set_length(out, IP4_HEAD, length);
}

size_t icmp_make(enum icmp_what what, const struct ip_packet *p, const struct ip_address *self, uint32_t mtu,
                 uint8_t out[static ICMP_BYTES_MOST])
{
    CHECK(self->version == p->version);
    size_t ip = p->version == 4 ? IP4_HEAD : IP6_HEAD;
    size_t room = (p->version == 4 ? (size_t)QUOTED4 : (size_t)ICMP_BYTES_MOST) - ip - HEAD;
    size_t quoted = p->length < room ? p->length : room;
    size_t length = ip + HEAD + quoted;
    uint8_t *icmp = out + ip;
    write_ip(out, length, p, self);
    memset(icmp, 0, HEAD);
    if (p->version == 4) {
        say4(what, mtu, icmp);
    } else {
        say6(what, mtu, icmp);
    }
    memcpy(icmp + HEAD, p->bytes, quoted);
    /* ICMPv6 sums the pseudo-head, too. */
    put_be16(icmp + 2, p->version == 4 ? 0 : checksum_pseudo(out, IP_ICMP6, (uint32_t)(length - ip)));
    checksum_complete(out, length, ip, 2);
    return length;
}

bool icmp_allowed(struct icmp_rate *rate, cw_time now)
{
    cw_time full = cw_time_add(cw_time_max(rate->full_at, now), CW_NS(CW_NS_PER_SEC / ICMP_A_SECOND));
    if (cw_time_since(full, now).ns > CW_NS_PER_SEC) {
        return false;
    }
    rate->full_at = full;
    return true;
}
