/* SPDX-License-Identifier: Apache-2.0 */
#include "services/tunnel/join.h"

#include "services/tunnel/mutant.h"
#include "services/tunnel/packet/checksum.h"

#include "base/bytes.h"

/* Nothing is joined behind a segment with one of these, nor one with one of those to another. */
enum { LAST_HAS = TCP_SYN | TCP_FIN | TCP_RST | TCP_PSH | TCP_URG };
enum { NEXT_HAS_NONE = TCP_SYN | TCP_RST | TCP_URG | TCP_CWR };
/* Flags that a piece may have and the one before it may not, or the other way round. */
enum { FLAGS_MAY_DIFFER = TCP_FIN | TCP_PSH | TCP_CWR };

static uint32_t payload_of(const struct ip_packet *p)
{
    return (uint32_t)(p->length - p->heads);
}

/* ---- Does the packet follow? ------------------------------------------------------------------------------------- */

static bool ip4_alike(const struct join *j, const struct ip_packet *next)
{
    const uint8_t *a = j->bytes, *b = next->bytes;
    uint16_t id = (uint16_t)(get_be16(a + IP4_ID) + j->segments);
    bool id_counts = (get_be16(a + IP4_FRAGMENT) & IP4_DONT_FRAGMENT) == 0;
    if (id_counts && id != get_be16(b + IP4_ID)) {
        return false;
    }
    /* The fields between: flags, hop limit and protocol; and behind the sum: addresses and options. */
    return (a[1] == b[1] || TUNNEL_MUTANT(CE_LOST)) && memcmp(a + IP4_FRAGMENT, b + IP4_FRAGMENT, 4) == 0 &&
           memcmp(a + IP4_SUM + 2, b + IP4_SUM + 2, next->ip_head - IP4_SUM - 2u) == 0;
}

static bool ip6_alike(const struct join *j, const struct ip_packet *next)
{
    const uint8_t *a = j->bytes, *b = next->bytes;
    bool class_alike = get_be16(a) == get_be16(b) || TUNNEL_MUTANT(CE_LOST);
    return class_alike && get_be16(a + 2) == get_be16(b + 2) &&
           memcmp(a + IP6_NEXT, b + IP6_NEXT, next->ip_head - (size_t)IP6_NEXT) == 0;
}

static bool tcp_follows(const struct join *j, const struct ip_packet *next)
{
    const uint8_t *a = j->bytes + next->ip_head, *b = next->bytes + next->ip_head;
    size_t head = (size_t)next->heads - next->ip_head;
    uint8_t flags = a[TCP_FLAGS], more = b[TCP_FLAGS];
    if ((more & NEXT_HAS_NONE) != 0 || ((flags ^ more) & ~FLAGS_MAY_DIFFER) != 0) {
        return false;
    }
    uint32_t sequence = get_be32(a + TCP_SEQUENCE) + payload_of(&j->packet);
    if (sequence != get_be32(b + TCP_SEQUENCE) && !TUNNEL_MUTANT(JOIN_OVER_HOLE)) {
        return false;
    }
    /* Ports; the length of the head with the flag beside it; then what has a mutant; then the urgent pointer. */
    if (memcmp(a, b, 4) != 0 || a[TCP_OFFSET] != b[TCP_OFFSET] || get_be16(a + 18) != get_be16(b + 18)) {
        return false;
    }
    bool alike = get_be32(a + TCP_ACK) == get_be32(b + TCP_ACK) && get_be16(a + 14) == get_be16(b + 14) &&
                 memcmp(a + TCP_HEAD, b + TCP_HEAD, head - TCP_HEAD) == 0;
    return alike || TUNNEL_MUTANT(JOIN_ANY_ACK);
}

static bool udp_follows(const struct join *j, const struct ip_packet *next)
{
    return memcmp(j->bytes + next->ip_head, next->bytes + next->ip_head, 4) == 0;
}

/* The payload of its segments fits behind that of j's: the same, and the last one may be shorter. */
static bool size_follows(const struct join *j, const struct ip_packet *next, const struct offload *offload)
{
    uint32_t payload = payload_of(next);
    return payload > 0 && (offload->gso_size == 0 ? payload <= j->size : offload->gso_size == j->size);
}

static bool follows(const struct join *j, const struct ip_packet *next, const struct offload *offload)
{
    const struct ip_packet *p = &j->packet;
    if (j->closed || !offload->partial || next->version != p->version || next->protocol != p->protocol ||
        next->fragment || next->ip_head != p->ip_head || next->heads != p->heads ||
        p->length + payload_of(next) > TUNNEL_PACKET_MOST || !size_follows(j, next, offload)) {
        return false;
    }
    if (!(p->version == 4 ? ip4_alike(j, next) : ip6_alike(j, next))) {
        return false;
    }
    return ip_is_tcp(next) ? tcp_follows(j, next) : udp_follows(j, next);
}

/* ---- Joining ----------------------------------------------------------------------------------------------------- */

/* Can anything follow this packet, whose last segment has that many bytes of payload? */
static bool ends(const struct join *j, const struct ip_packet *packet, const struct offload *offload, uint32_t last)
{
    if (!offload->partial || packet->fragment || last == 0 || (last < j->size && !TUNNEL_MUTANT(JOIN_AFTER_SHORT))) {
        return true;
    }
    if (ip_is_tcp(packet)) {
        return j->size < OFFLOAD_TCP_LEAST || (packet->bytes[packet->ip_head + TCP_FLAGS] & LAST_HAS) != 0;
    }
    return !j->udp || !ip_is_udp(packet) || j->segments >= OFFLOAD_UDP_SEGMENTS;
}

static void note_last(struct join *j, const struct ip_packet *packet, const struct offload *offload)
{
    uint32_t payload = payload_of(packet), whole = offload_segments(packet, offload);
    uint32_t last = payload - (whole - 1) * offload->gso_size;
    j->segments += whole;
    j->closed = ends(j, packet, offload, last);
}

bool join_add(struct join *j, const struct ip_packet *packet, const struct offload *offload)
{
    CHECK_SLOW(offload_fits(packet, offload));
    if (j->packet.length == 0) {
        memcpy(j->bytes, packet->bytes, packet->length);
        j->packet = *packet;
        j->packet.bytes = j->bytes;
        j->offload = *offload;
        j->size = offload->gso_size == 0 ? payload_of(packet) : offload->gso_size;
        j->segments = 0;
        note_last(j, packet, offload);
        return true;
    }
    if (!follows(j, packet, offload)) {
        return false;
    }
    memcpy(j->bytes + j->packet.length, packet->bytes + packet->heads, payload_of(packet));
    j->packet.length += payload_of(packet);
    if (ip_is_tcp(packet)) {
        uint8_t more = packet->bytes[packet->ip_head + TCP_FLAGS] & (TCP_FIN | TCP_PSH);
        j->bytes[packet->ip_head + TCP_FLAGS] |= more;
    }
    j->offload.gso_size = (uint16_t)j->size;
    note_last(j, packet, offload);
    return true;
}

bool join_take(struct join *j, struct ip_packet *packet, struct offload *offload)
{
    if (j->packet.length == 0) {
        return false;
    }
    *packet = j->packet;
    *offload = j->offload;
    j->packet.length = 0;
    uint32_t transport = (uint32_t)(packet->length - packet->ip_head);
    if (offload->gso_size != 0) {
        ip_set_length(j->bytes, packet->ip_head, packet->length);
        if (ip_is_udp(packet)) {
            put_be16(j->bytes + packet->ip_head + 4, (uint16_t)transport);
        }
    }
    if (offload->partial) {
        put_be16(j->bytes + packet->ip_head + ip_checksum_at(packet),
                 checksum_pseudo(j->bytes, packet->protocol, transport));
    }
    return true;
}
