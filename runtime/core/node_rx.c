/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_rx.c - a frame came in: control first and always, data only through the gate (semantics 4.4).
 *
 * A frame with one data packet becomes that packet: `data` moves over the frame head and nothing is copied. Of a frame
 * with several, each packet gets a descriptor of its own in the same memory.
 */
#include "core/node_internal.h"

#include "base/bytes.h"
#include "base/check.h"

/*
 * Bytes that are on the wire and not in memory (pad) may end the payload of the last packet and be nothing else: what
 * is decoded must be there. True for every frame and packet without pad; the decoders judge those.
 */
static bool heads_are_stored(const struct cw_packet *frame)
{
    if (frame->pad == 0) {
        return true;
    }
    if (frame->length < FRAME_HEAD_BYTES) {
        return false;
    }
    uint32_t at = frame_head_bytes(frame->data[FRAME_AT_VERSION] & 0xfu);
    for (unsigned left = frame->data[FRAME_AT_PACKETS]; left > 0; left--) {
        if (at + CONTROL_HEAD_BYTES > frame->length) {
            return false;
        }
        at += get_be16(frame->data + at + PACKET_AT_LENGTH);
    }
    return true;
}

static bool head_is_stored(const struct cw_packet *p)
{
    return p->pad == 0 || (p->length >= PACKET_HEAD_BYTES &&
                           p->length >= PACKET_HEAD_BYTES + p->data[PACKET_AT_EXT_WORDS] * (uint32_t)EXT_WORD_BYTES);
}

/* Takes p, whose bytes start at a data packet's head. */
static void receive_packet(struct node *n, cw_link in, struct cw_packet *p)
{
    /* Services answer to its source, and index tables by it; and no server outside the torus can have sent it. */
    if (!head_is_stored(p) || packet_decode(p->data, (size_t)p->length + p->pad, &p->head, &p->exts) != WIRE_OK ||
        !torus_holds(&n->torus, p->head.source)) {
        node_drop(n, p, CW_DROP_MALFORMED);
        return;
    }
    p->in = in;
    p->marks = 0;
    p->priority = 0; /* the neighbour may have handed over its very descriptor */
    p->speaker = 0;
    p->next = NULL;
    struct cw_svc *svc = node_service_of(n, p->head.job);
    if (svc != NULL && svc->on_path != CW_PATH_NONE &&
        (svc->on_path == CW_PATH_ALL || (p->head.flags & packet_flag(EXT_TRACE))) && !node_arrives_here(n, p) &&
        !node_pass_by(n, svc, p)) {
        return;
    }
    node_decide(n, p);
}

/* Takes a frame that passed the gate, with its packets still to be walked: the data packets are received. */
static void receive_data(struct node *n, cw_link in, struct cw_packet *frame, unsigned packets, struct frame_walk walk)
{
    struct frame_slice slice;
    if (packets == 1) {
        CHECK(frame_next(frame->data, &walk, &slice));
        frame->data += slice.at;
        frame->back = (uint16_t)(frame->back + slice.at);
        frame->room -= slice.at;
        frame->length = frame->length - slice.at;
        /* What lies behind the packet is Ethernet padding. */
        if (slice.size <= frame->length) {
            frame->length = slice.size;
            frame->pad = 0;
        } else {
            frame->pad = slice.size - frame->length;
        }
        receive_packet(n, in, frame);
        return;
    }
    while (frame_next(frame->data, &walk, &slice)) {
        if (packet_kind_of(frame->data + slice.at) == PACKET_CONTROL) {
            continue;
        }
        struct cw_packet *p = pkt_slice(frame, slice.at, slice.size);
        if (p == NULL) {
            n->drops[CW_DROP_NO_MEMORY]++;
            continue;
        }
        receive_packet(n, in, p);
    }
    pkt_release(frame);
}

enum { HAS_CONTROL = 1, HAS_DATA = 2 };

/*
 * Gives the control packets of a frame to the link state; returns what else the frame carries. Control that was relayed
 * is refused: it is between two daemons, and a kernel passes on data only.
 */
static unsigned receive_control(struct node *n, cw_link in, const struct cw_packet *frame, unsigned flags,
                                struct frame_walk walk)
{
    struct frame_slice slice;
    unsigned has = 0;
    while (frame_next(frame->data, &walk, &slice)) {
        if (packet_kind_of(frame->data + slice.at) != PACKET_CONTROL) {
            has |= HAS_DATA;
            continue;
        }
        has |= HAS_CONTROL;
        if ((flags & FRAME_RELAYED) || slice.at + slice.size > frame->length ||
            ls_control(n->ls, in, frame->data + slice.at, slice.size, n->now) != WIRE_OK) {
            n->drops[CW_DROP_MALFORMED]++;
        }
    }
    return has;
}

/* Counts the data packets of a frame that is not let in. Takes the frame. */
void node_refuse_frame(struct node *n, struct cw_packet *frame, cw_drop cause)
{
    struct frame_head head;
    struct frame_walk walk;
    struct frame_slice slice;
    CHECK(frame_decode(frame->data, (size_t)frame->length + frame->pad, &head, &walk) == WIRE_OK);
    while (frame_next(frame->data, &walk, &slice)) {
        if (packet_kind_of(frame->data + slice.at) != PACKET_CONTROL) {
            struct cw_packet *p = pkt_slice(frame, slice.at, slice.size);
            if (p != NULL) {
                node_drop(n, p, cause);
            } else {
                n->drops[cause]++;
            }
        }
    }
    pkt_release(frame);
}

static void wait_at_gate(struct node *n, cw_link in, struct cw_packet *frame)
{
    struct node_link *link = &n->link[in];
    if (link->waiting_count == NODE_GATE_FRAMES) {
        node_refuse_frame(n, frame, CW_DROP_GATE_OVERFLOW);
        return;
    }
    link->waiting[link->waiting_count++] = frame;
    n->gated |= cw_links_of(in);
}

/* Control has come in on the link: frames that waited for it go on, in their order. */
static void reopen_gate(struct node *n, cw_link in)
{
    struct node_link *link = &n->link[in];
    while (n->gated & cw_links_of(in)) {
        struct cw_packet *frame = link->waiting[0];
        struct frame_head head;
        struct frame_walk walk;
        CHECK(frame_decode(frame->data, (size_t)frame->length + frame->pad, &head, &walk) == WIRE_OK);
        enum ls_gate gate = ls_gate_again(n->ls, in, &head);
        if (gate == LS_WAIT) {
            return;
        }
        link->waiting_count--;
        for (unsigned i = 0; i < link->waiting_count; i++) {
            link->waiting[i] = link->waiting[i + 1];
        }
        if (link->waiting_count == 0) {
            n->gated &= (cw_links)~cw_links_of(in);
        }
        if (gate == LS_PASS) {
            receive_data(n, in, frame, head.packets, walk);
        } else {
            node_refuse_frame(n, frame, CW_DROP_STALE_LINK);
        }
    }
}

void node_expect(const struct node *n, const struct cw_packet *frame)
{
    if (n->last == NULL || frame->length < FRAME_HEAD_BYTES + PACKET_HEAD_BYTES) {
        return;
    }
    const uint8_t *packet = frame->data + FRAME_HEAD_BYTES, *to = packet + PACKET_AT_DESTINATION;
    __builtin_prefetch(n->last);
    __builtin_prefetch(&n->last->main.queue.packets_max);
    if (packet_kind_of(packet) == PACKET_KEY) {
        ls_expect(n->ls, key_home(&n->torus, get_be64(to)));
    } else if (packet_kind_of(packet) == PACKET_SERVER && torus_holds(&n->torus, (cw_coord){to[0], to[1], to[2]})) {
        ls_expect(n->ls, torus_id(&n->torus, (cw_coord){to[0], to[1], to[2]}));
    }
}

void node_look_at_gates(struct node *n)
{
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        if (n->link[link].waiting_count > 0) {
            reopen_gate(n, link);
        }
    }
}

cw_links node_rx(struct node *n, cw_link in, struct cw_packet *frame, cw_time now)
{
    CHECK(in < CW_LINK_COUNT && pkt_writable(frame));
    node_enter(n, now);
    struct frame_head head;
    struct frame_walk walk;
    enum wire_reason reason = WIRE_TRUNCATED;
    if (heads_are_stored(frame)) {
        reason = frame_decode(frame->data, (size_t)frame->length + frame->pad, &head, &walk);
    }
    if (reason != WIRE_OK) {
        if (reason == WIRE_BAD_VERSION) {
            ls_foreign_frame(n->ls, in, frame->data[FRAME_AT_VERSION] >> 4, now);
        }
        node_drop(n, frame, CW_DROP_MALFORMED);
        return node_leave_entry(n);
    }
    enum ls_gate gate = ls_frame(n->ls, in, &head, now);
    unsigned has = HAS_DATA;
    if (head.packets > 1 || packet_kind_of(frame->data + frame_head_bytes(head.flags)) == PACKET_CONTROL) {
        has = receive_control(n, in, frame, head.flags, walk);
    }
    if (!(has & HAS_DATA) && !(n->gated & cw_links_of(in))) {
        /*
         * Nobody asks for the new view yet: link state searches when it is due, once for a burst of records (views.h).
         */
        pkt_release(frame);
        return node_leave_entry(n);
    }
    node_sync(n);
    if (has & HAS_CONTROL) {
        reopen_gate(n, in);
        gate = ls_gate_again(n->ls, in, &head);
    }
    if (!(has & HAS_DATA)) {
        pkt_release(frame);
    } else if (gate == LS_PASS && !(n->gated & cw_links_of(in))) {
        receive_data(n, in, frame, head.packets, walk);
    } else if (gate == LS_STALE) {
        node_refuse_frame(n, frame, CW_DROP_STALE_LINK);
    } else {
        wait_at_gate(n, in, frame);
    }
    return node_leave_entry(n);
}

void node_start_settled(struct node *n, const struct record *records, const struct ls_settled_link links[CW_LINK_COUNT],
                        cw_time now)
{
    CHECK(n->services == 0);
    node_enter(n, now);
    ls_start_settled(n->ls, records, links, now);
    node_sync(n);
}

cw_links node_carrier(struct node *n, cw_link link, bool up, cw_time now)
{
    CHECK(link < CW_LINK_COUNT);
    node_enter(n, now);
    ls_carrier(n->ls, link, up, now);
    node_sync(n);
    reopen_gate(n, link);
    return node_leave_entry(n);
}
