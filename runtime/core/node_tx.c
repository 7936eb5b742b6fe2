/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_tx.c - a link has room: control first, then the place whose turn it is (CamCubeOS 3.3), small packets gathered
 * into one frame.
 */
#include "core/node_internal.h"

#include "base/check.h"

#include <string.h>

enum {
    CONTROL_FRAME_MAX = 1500, /* control fits every device and does not make a data frame wait long */
};

/* Gives a frame of control packets; NULL: there are none to send, or no memory, and they are sent later. */
static struct cw_packet *pull_control(struct node *n, cw_link link)
{
    uint32_t room = CONTROL_FRAME_MAX < n->config.mtu ? CONTROL_FRAME_MAX : n->config.mtu;
    uint8_t bytes[CONTROL_FRAME_MAX];
    uint8_t packets = 0;
    size_t used = ls_pull(n->ls, link, bytes + FRAME_HEAD_BYTES, room - FRAME_HEAD_BYTES, &packets, n->now);
    if (used == 0) {
        return NULL;
    }
    struct frame_head head = {.packets = packets};
    ls_stamp(n->ls, link, &head);
    frame_encode(&head, bytes);
    struct cw_packet *frame = pkt_take(n->env.packets, FRAME_HEAD_BYTES + (uint32_t)used);
    if (frame == NULL) {
        return NULL; /* as if the frame had been lost: hellos come again, the stream repeats itself */
    }
    memcpy(frame->data, bytes, frame->length);
    return frame;
}

/* Has p waited for longer than its service lets it wait unmarked? */
static bool is_late(const struct node *n, const struct place *pl, const struct cw_packet *p)
{
    return pl->svc != NULL && pl->svc->mark_after.ns > 0 &&
           cw_time_since(n->now, p->queued).ns > pl->svc->mark_after.ns;
}

/* Changes in a packet what changes at the moment it leaves a place by a link: hops, mark, path and trace. */
static void depart(struct node *n, const struct place *pl, cw_link link, struct cw_packet *p)
{
    CHECK(packet_hop(p->data));
    if (is_late(n, pl, p)) {
        p->data[PACKET_AT_FLAGS] |= PACKET_MARK;
    } else if (NODE_MUTANT(MARK_CLEARED)) {
        p->data[PACKET_AT_FLAGS] &= (uint8_t)~PACKET_MARK;
    }
    if (p->head.flags & packet_flag(EXT_PATH)) {
        uint8_t *path = packet_ext(p->data, &p->exts, EXT_PATH);
        if (p->marks & PKT_RETRACES) {
            ext_path_pop(path);
        } else {
            ext_path_append(path, link);
        }
    }
    if (p->head.flags & packet_flag(EXT_TRACE)) {
        struct ext_trace_entry entry = {
            .server = n->place,
            .in = p->in < CW_LINK_COUNT ? p->in : EXT_TRACE_IN_MADE_HERE,
            .out = link,
            .wait_ns = (uint32_t)(n->now.ns - p->queued.ns > UINT32_MAX ? UINT32_MAX : n->now.ns - p->queued.ns),
            .job = p->head.job,
            .queued = p->ahead,
        };
        ext_trace_append(packet_ext(p->data, &p->exts, EXT_TRACE), &entry);
    }
    n->forwarded++;
}

/*
 * Gives the packet whose turn it is, charged to its place, as it leaves; NULL: there is none, or it is longer than
 * `most`, as when a service's own queue gives another packet than it said, or none.
 */
static struct cw_packet *take_next(struct node *n, cw_link link, uint32_t most)
{
    struct fairq *turns = &n->link[link].turns;
    while (n->ready[link] != 0) {
        struct place *pl = n->places[fairq_pick(turns, n->background, n->ready[link])];
        uint32_t weight = place_weight(n, pl, link);
        struct cw_packet *p = place_take(n, pl, link);
        if (p != NULL) {
            fairq_charge(turns, n->background, pl->number, p->length + p->pad, weight);
            if (p->length + p->pad > most) {
                node_decide(n, p); /* it waits again */
                return NULL;
            }
            depart(n, pl, link, p);
            return p;
        }
    }
    fairq_pick(turns, n->background, 0); /* nobody wants it now: whoever comes next starts level */
    return NULL;
}

/* The size of the packet whose turn it would be, if that is known; 0 otherwise. */
static uint32_t peek_size(struct node *n, cw_link link)
{
    if (n->ready[link] == 0) {
        return 0;
    }
    return place_peek(n, n->places[fairq_pick(&n->link[link].turns, n->background, n->ready[link])], link);
}

/* Puts the frame head in front of a packet that leaves alone, in its own memory where it can. */
static struct cw_packet *frame_alone(struct node *n, cw_link link, struct cw_packet *p)
{
    if (p->back < FRAME_HEAD_BYTES || !pkt_writable(p)) {
        struct cw_packet *copy = pkt_copy(p);
        if (copy == NULL) {
            node_drop(n, p, CW_DROP_NO_MEMORY);
            return NULL;
        }
        pkt_release(p);
        p = copy;
    }
    struct frame_head head = {.packets = 1};
    ls_stamp(n->ls, link, &head);
    p->data -= FRAME_HEAD_BYTES;
    p->back -= FRAME_HEAD_BYTES;
    p->room += FRAME_HEAD_BYTES;
    p->length += FRAME_HEAD_BYTES;
    frame_encode(&head, p->data);
    return p;
}

/* Takes p and more small packets that are ready: one frame (CamCubeOS 4.1, packet-level aggregation). */
static struct cw_packet *frame_gathered(struct node *n, cw_link link, struct cw_packet *p)
{
    struct cw_packet *frame = pkt_take(n->env.packets, n->config.mtu);
    if (frame == NULL) {
        return frame_alone(n, link, p);
    }
    struct frame_plan plan;
    frame_open(&plan, n->config.mtu, 0);
    while (p != NULL) {
        uint32_t at = frame_add(&plan, p->length + p->pad);
        memcpy(frame->data + at, p->data, p->length);
        memset(frame->data + at + p->length, 0, p->pad);
        pkt_release(p);
        uint32_t size = peek_size(n, link);
        if (size == 0 || size > NODE_GATHER_MAX || !frame_fits(&plan, size)) {
            break;
        }
        p = take_next(n, link, size);
    }
    struct frame_head head = {.packets = plan.packets};
    ls_stamp(n->ls, link, &head);
    frame_encode(&head, frame->data);
    frame->length = plan.size;
    return frame;
}

static struct cw_packet *pull(struct node *n, cw_link link)
{
    bool data = n->ready[link] != 0;
    if (data) {
        node_sync(n); /* data goes by the view of now, and what the neighbour must hear of that view goes before it */
    }
    cw_links control = ls_tx_links(n->ls) | (data ? ls_owed_links(n->ls) : CW_LINKS_NONE);
    if (control & cw_links_of(link)) {
        struct cw_packet *frame = pull_control(n, link);
        if (frame != NULL || (ls_owed_links(n->ls) & cw_links_of(link))) {
            return frame; /* without memory to say it, data must wait too */
        }
    }
    if (n->ready[link] == 0 || !(ls_up_links(n->ls) & cw_links_of(link))) {
        return NULL;
    }
    struct cw_packet *p = take_next(n, link, UINT32_MAX);
    if (p == NULL) {
        return NULL;
    }
    uint32_t size = p->length + p->pad;
    uint32_t next = size <= NODE_GATHER_MAX ? peek_size(n, link) : 0;
    if (next != 0 && next <= NODE_GATHER_MAX && FRAME_HEAD_BYTES + size + next <= n->config.mtu) {
        return frame_gathered(n, link, p);
    }
    return frame_alone(n, link, p);
}

struct cw_packet *node_tx_pull(struct node *n, cw_link link, cw_time now)
{
    CHECK(link < CW_LINK_COUNT);
    node_enter(n, now);
    struct cw_packet *frame = pull(n, link);
    if (n->relay != NULL) {
        node_relay_note(n); /* the frame may tell of something that was learned by this very pull */
    }
    return frame;
}
