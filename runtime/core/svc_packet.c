/* SPDX-License-Identifier: Apache-2.0 */
/*
 * svc_packet.c - packets in a service's hands: made, read, resized, kept, freed.
 *
 * A packet in hand has its payload behind a head of packet_head_bytes(&p->head), whether it came off a cable or was
 * made here; one made here starts with room for the head and for the usual extensions, so that addressing it moves
 * nothing.
 */
#include "core/node_internal.h"

#include "base/bytes.h"
#include "wire/frame.h"

#include <errno.h>
#include <string.h>

enum {
    EXT_SPARE = 64, /* request and recorded path, or full key and path */
};

void node_charge_packet(struct cw_svc *svc, struct cw_packet *p)
{
    p->marks |= PKT_CHARGED;
    p->speaker = svc->index;
    svc->in_hand++;
    p->next = svc->hands;
    p->hand = &svc->hands;
    if (p->next != NULL) {
        p->next->hand = &p->next;
    }
    svc->hands = p;
}

void node_uncharge_packet(struct cw_svc *svc, struct cw_packet *p)
{
    p->marks &= (uint8_t)~PKT_CHARGED;
    svc->in_hand--;
    *p->hand = p->next;
    if (p->next != NULL) {
        p->next->hand = p->hand;
    }
    p->next = NULL;
}

bool node_in_hand(const struct cw_svc *svc, const struct cw_packet *p)
{
    return p != NULL && (p->marks & PKT_CHARGED) && p->speaker == svc->index;
}

bool node_must_hold(struct cw_svc *svc, const struct cw_packet *p, const char *function)
{
    if (node_in_hand(svc, p)) {
        return true;
    }
    if (p != NULL) {
        char text[120] = "";
        size_t length = strlen(function);
        length = length < 30 ? length : 30;
        memcpy(text, function, length);
        static const char why[] = ": the packet is not in the service's hands: it was freed, sent or given back before";
        memcpy(text + length, why, sizeof why);
        node_misuse(svc, text);
    }
    return false;
}

void node_fill(struct cw_packet *p)
{
    if (pkt_writable(p)) {
        memset(p->data, NODE_POISON, p->length);
    }
}

void node_let_go(struct cw_svc *svc, struct cw_packet *p)
{
    if (svc->node->lent == p) {
        svc->node->lent = NULL;
    }
    p->marks &= (uint8_t) ~(PKT_LENT | PKT_KEPT);
    node_uncharge_packet(svc, p);
}

void node_lend(struct cw_svc *svc, struct cw_packet *p)
{
    node_charge_packet(svc, p);
    p->marks |= PKT_LENT;
    svc->node->lent = p;
}

bool node_lend_end(struct cw_svc *svc, struct cw_packet *p, cw_verdict verdict)
{
    struct node *n = svc->node;
    if (n->lent != p) {
        return false; /* sent or freed in the upcall, whatever the verdict says: not to be looked at */
    }
    n->lent = NULL;
    p->marks &= (uint8_t)~PKT_LENT;
    if (verdict == CW_TAKE || (p->marks & PKT_KEPT)) {
        p->marks &= (uint8_t)~PKT_KEPT;
        return false;
    }
    node_uncharge_packet(svc, p);
    return true;
}

static uint32_t payload_most(const struct node *n)
{
    return n->config.mtu - FRAME_HEAD_BYTES - PACKET_HEAD_BYTES;
}

size_t cw_mtu(const cw_svc *s)
{
    return payload_most(s->node) - (s->guest != NULL ? EXT_GUEST_WORDS * EXT_WORD_BYTES : 0);
}

cw_packet *cw_packet_new_padded(cw_svc *s, size_t length, size_t pad)
{
    struct node *n = s->node;
    uint32_t most = payload_most(n);
    if (length > most || pad > most - length || s->in_hand >= NODE_HANDS_MAX || (s->guest != NULL && s->closing)) {
        return NULL;
    }
    struct cw_packet *p = pkt_take(n->env.packets, PACKET_HEAD_BYTES + (uint32_t)length);
    if (p == NULL) {
        return NULL;
    }
    uint32_t spare = p->room - p->length;
    spare = spare < EXT_SPARE ? spare : EXT_SPARE;
    p->data += spare;
    p->back = (uint16_t)(p->back + spare);
    p->room -= spare;
    p->pad = (uint32_t)pad;
    p->head = (struct packet_head){.length = (uint16_t)(p->length + pad)};
    p->exts = (struct packet_exts){{0}};
    p->in = CW_LINK_SELF;
    p->marks = 0;
    memset(p->data, 0, p->length);
    node_charge_packet(s, p);
    return p;
}

cw_packet *cw_packet_new(cw_svc *s, size_t length)
{
    return cw_packet_new_padded(s, length, 0);
}

void cw_packet_free(cw_svc *s, cw_packet *p)
{
    if (node_must_hold(s, p, "cw_packet_free")) {
        node_let_go(s, p);
        node_retire(s, p, "cw_packet_free");
    }
}

uint8_t *cw_packet_data(cw_packet *p, size_t *length)
{
    if (p == NULL) {
        if (length != NULL) {
            *length = 0;
        }
        return NULL;
    }
    uint32_t head = packet_head_bytes(&p->head);
    if (length != NULL) {
        *length = p->length - head;
    }
    return p->data + head;
}

size_t cw_packet_pad(const cw_packet *p)
{
    return p != NULL ? p->pad : 0;
}

int cw_packet_resize(cw_packet *p, size_t length)
{
    if (p == NULL || !(p->marks & PKT_CHARGED)) {
        return -EINVAL; /* in a queue by now: what it counts there stays */
    }
    uint32_t head = packet_head_bytes(&p->head);
    uint32_t most = pkt_home_longest(p->home) - FRAME_HEAD_BYTES - head - p->pad;
    if (length > most || head + length > p->room) {
        return -EMSGSIZE;
    }
    uint32_t total = head + (uint32_t)length;
    if (total > p->length) {
        memset(p->data + p->length, 0, total - p->length);
    }
    p->length = total;
    p->head.length = (uint16_t)(total + p->pad);
    put_be16(p->data + PACKET_AT_LENGTH, p->head.length);
    return 0;
}

int cw_packet_trace(const cw_packet *p, unsigned i, cw_trace_hop *out)
{
    if (p == NULL || out == NULL || out->size < sizeof *out) {
        return -EINVAL;
    }
    const uint8_t *ext = p->head.flags & packet_flag(EXT_TRACE) ? packet_ext(p->data, &p->exts, EXT_TRACE) : NULL;
    if (ext == NULL || i >= ext_trace_entries(ext)) {
        return -ENOENT;
    }
    struct ext_trace_entry entry = ext_trace_get(ext, i);
    out->server = entry.server;
    out->in = entry.in;
    out->out = entry.out < CW_LINK_COUNT ? entry.out : CW_LINK_SELF;
    out->wait_ns = entry.wait_ns;
    out->queued = entry.queued;
    return 0;
}

void cw_packet_keep(cw_packet *p)
{
    if (p != NULL && (p->marks & PKT_LENT)) {
        p->marks |= PKT_KEPT;
    }
}
