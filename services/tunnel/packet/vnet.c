/* SPDX-License-Identifier: Apache-2.0 */
#include "services/tunnel/packet/vnet.h"

#include "services/tunnel/packet/checksum.h"

#include "base/bytes.h"

enum { NEEDS_SUM = 1 };
enum { GSO_NONE = 0, GSO_TCP4 = 1, GSO_TCP6 = 4, GSO_UDP = 5, GSO_ECN = 0x80 };

static uint16_t get_le16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static void put_le16(uint8_t *p, uint16_t v)
{
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
}

bool offload_fits(const struct ip_packet *p, const struct offload *offload)
{
    if (!offload->partial) {
        return offload->gso_size == 0;
    }
    if (!ip_is_tcp(p) && !(ip_is_udp(p) && ip_datagram_fits(p))) {
        return false;
    }
    if (offload->gso_size == 0) {
        return true;
    }
    if (ip_is_tcp(p) &&
        (offload->gso_size < OFFLOAD_TCP_LEAST || (p->bytes[p->ip_head + TCP_FLAGS] & (TCP_SYN | TCP_RST)) != 0)) {
        return false;
    }
    return p->length - p->heads > offload->gso_size;
}

/* The type that the packet would have if it had a gso size; GSO_ECN goes with TCP that has CWR set. */
static uint8_t type_of(const struct ip_packet *p)
{
    if (ip_is_udp(p)) {
        return GSO_UDP;
    }
    uint8_t type = p->version == 4 ? GSO_TCP4 : GSO_TCP6;
    return (p->bytes[p->ip_head + TCP_FLAGS] & TCP_CWR) != 0 ? type | GSO_ECN : type;
}

enum tunnel_cause vnet_read(const uint8_t *head, uint8_t *packet, const struct ip_packet *p, struct offload *out)
{
    *out = (struct offload){.partial = false};
    size_t start = get_le16(head + 6), offset = get_le16(head + 8);
    if ((head[0] & NEEDS_SUM) != 0) {
        out->partial = ip_checksum_at(p) != 0 && start == p->ip_head && offset == ip_checksum_at(p);
        if (!out->partial && (start < p->ip_head || start + offset + 2 > p->length || head[1] != GSO_NONE)) {
            return TUNNEL_OFFLOAD;
        }
    }
    if (head[1] != GSO_NONE) {
        if (ip_checksum_at(p) == 0 || (head[1] | GSO_ECN) != (type_of(p) | GSO_ECN) || get_le16(head + 4) == 0) {
            return TUNNEL_OFFLOAD;
        }
        /* Linux also calls a packet of one segment so, which a device would send as it is. */
        out->gso_size = p->length - p->heads > get_le16(head + 4) ? get_le16(head + 4) : 0;
    }
    if (!offload_fits(p, out)) {
        return TUNNEL_OFFLOAD;
    }
    if (out->partial) {
        put_be16(packet + p->ip_head + ip_checksum_at(p),
                 checksum_pseudo(packet, p->protocol, (uint32_t)(p->length - p->ip_head)));
    } else if ((head[0] & NEEDS_SUM) != 0) {
        checksum_complete(packet, p->length, start, offset);
    }
    return TUNNEL_GOOD;
}

enum tunnel_cause vnet_shift(uint8_t *head, int bytes)
{
    if ((head[0] & NEEDS_SUM) == 0) {
        return TUNNEL_GOOD;
    }
    int start = get_le16(head + 6) + bytes, heads = get_le16(head + 2);
    if (start < 0) {
        return TUNNEL_OFFLOAD;
    }
    put_le16(head + 6, (uint16_t)start);
    put_le16(head + 2, (uint16_t)(heads == 0 || heads + bytes < 0 ? 0 : heads + bytes));
    return TUNNEL_GOOD;
}

void vnet_write(const struct ip_packet *p, const struct offload *offload, uint8_t *head)
{
    CHECK_SLOW(offload_fits(p, offload));
    memset(head, 0, 10);
    if (!offload->partial) {
        return;
    }
    head[0] = NEEDS_SUM;
    put_le16(head + 6, p->ip_head);
    put_le16(head + 8, ip_checksum_at(p));
    if (offload->gso_size != 0) {
        head[1] = type_of(p);
        put_le16(head + 2, p->heads);
        put_le16(head + 4, offload->gso_size);
    }
}
