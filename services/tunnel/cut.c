/* SPDX-License-Identifier: Apache-2.0 */
#include "services/tunnel/cut.h"

#include "services/tunnel/mutant.h"
#include "services/tunnel/packet/checksum.h"

#include "base/bytes.h"

static uint32_t payload_of(const struct ip_packet *p)
{
    return (uint32_t)(p->length - p->heads);
}

enum tunnel_cause cut_begin(struct cut *c, const struct ip_packet *packet, const struct offload *offload, size_t room)
{
    CHECK_SLOW(offload_fits(packet, offload));
    *c = (struct cut){.packet = *packet, .offload = *offload, .step = payload_of(packet)};
    if (packet->length <= room) {
        return TUNNEL_GOOD;
    }
    if (offload->gso_size == 0 || (size_t)packet->heads + offload->gso_size > room) {
        return TUNNEL_TOO_BIG;
    }
    c->step = (uint32_t)(room - packet->heads) / offload->gso_size * offload->gso_size;
    return TUNNEL_GOOD;
}

/* Payload bytes of the next piece. */
static uint32_t next_payload(const struct cut *c)
{
    uint32_t left = payload_of(&c->packet) - c->done;
    return left < c->step ? left : c->step;
}

size_t cut_next_bytes(const struct cut *c)
{
    return c->ended ? 0 : c->packet.heads + next_payload(c);
}

static void cut_tcp(const struct cut *c, uint8_t *tcp, bool first, bool last)
{
    if (!TUNNEL_MUTANT(SEQUENCE_STAYS)) {
        put_be32(tcp + TCP_SEQUENCE, get_be32(tcp + TCP_SEQUENCE) + c->done);
    }
    if (!last && !TUNNEL_MUTANT(PUSH_ON_EACH)) {
        tcp[TCP_FLAGS] &= (uint8_t) ~(TCP_FIN | TCP_PSH);
    }
    if (!first && !TUNNEL_MUTANT(CWR_ON_EACH)) {
        tcp[TCP_FLAGS] &= (uint8_t)~TCP_CWR;
    }
}

/* Makes the heads of the whole packet, at out, those of a piece of `length` bytes. */
static void cut_heads(const struct cut *c, uint8_t *out, size_t length)
{
    const struct ip_packet *p = &c->packet;
    uint8_t *transport = out + p->ip_head;
    uint32_t payload = (uint32_t)(length - p->heads);
    if (p->version == 4 && !TUNNEL_MUTANT(ID_ALIKE)) {
        put_be16(out + IP4_ID, (uint16_t)(get_be16(out + IP4_ID) + c->segments));
    }
    ip_set_length(out, p->ip_head, length);
    if (ip_is_tcp(p)) {
        cut_tcp(c, transport, c->done == 0, c->done + payload == payload_of(p));
    } else {
        put_be16(transport + 4, (uint16_t)(length - p->ip_head));
    }
    if (!TUNNEL_MUTANT(OLD_PSEUDO_SUM)) {
        put_be16(transport + ip_checksum_at(p), checksum_pseudo(out, p->protocol, (uint32_t)(length - p->ip_head)));
    }
}

size_t cut_next(struct cut *c, uint8_t *out, struct offload *offload)
{
    const struct ip_packet *p = &c->packet;
    size_t length = cut_next_bytes(c);
    if (length == 0) {
        return 0;
    }
    uint32_t payload = next_payload(c);
    *offload = c->offload;
    if (length == p->length) {
        memcpy(out, p->bytes, length);
        c->ended = true;
        return length;
    }
    memcpy(out, p->bytes, p->heads);
    memcpy(out + p->heads, p->bytes + p->heads + c->done, payload);
    cut_heads(c, out, length);
    c->done += payload;
    c->segments += c->step / c->offload.gso_size;
    c->ended = c->done == payload_of(p);
    offload->gso_size = payload > c->offload.gso_size ? c->offload.gso_size : 0;
    return length;
}
