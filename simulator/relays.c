/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relays.c - servers that have a relay (docs/relay.md): frames are judged where they come in, by the function that runs
 * in the kernel, and those that qualify go on without the node.
 *
 * What a real machine does to the two is drawn here. A verdict is carried out some time after it was made, as by a
 * processor that was taken away. A frame that goes up waits in a socket before the node gets it. A turn of the node may
 * have several entries before its publication. The relay of a killed daemon is gone at once (tcx), or is stopped by the
 * watcher, which then says goodbye, or goes on until the lease has ended (clsact, and no watcher).
 */
#include "simulator/check_relay.h"
#include "simulator/world_internal.h"

#include "core/node_relay.h"
#include "wire/goodbye.h"
#include "wire/relay.h"
#include "wire/relay_publish.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    RARE = 1000,        /* one verdict in so many, and one wait in so many, is late by up to RARE_LATE */
    LATE_PART = 8,      /* a wait is late by this part of `dead` at most */
    TURN_ENTRIES = 4,   /* entries of a turn, on average */
    ETHERTYPE = 0x88b5, /* of data, in the Ethernet headers that are made up for the judge */
    SLACK_FRAMES = 2,   /* so many full frames may wait in a device */
    WATCHER_LATE_US = 500,
};
static const cw_span verdict_takes = CW_NS(500), rare_late = CW_MS(1), socket_least = CW_US(1), socket_most = CW_US(9);

struct sim_relay {
    struct relay_state state;
    struct prng random;
    uint64_t known[2]; /* by generation: what the checks call the knowledge that it was made of */
    cw_links waits;    /* of the last publication */
    bool goodbye;      /* the watcher has said goodbye */
    bool orphan;       /* the daemon is dead */
    uint64_t last_ns;  /* the server's clock at the node's last turn */
    cw_time lease;     /* the node's own; when it is dead: as it was */
    uint64_t taken[CW_LINK_COUNT], sent_until[CW_LINK_COUNT];
    uint32_t handed[CW_LINK_COUNT]; /* frames in the socket that were handed up for want of room on the link */
} __attribute__((aligned(64)));

static uint64_t pace_of(const struct world *w)
{
    return ((uint64_t)w->ps_per_byte * 1024 + 999) / 1000;
}

static uint64_t charge_of(const struct world *w, uint32_t size)
{
    return (size + RELAY_AT_FRAME + RELAY_OVERHEAD) * pace_of(w) >> 10;
}

/* ---- A relay begins and ends ------------------------------------------------------------------------------------- */

int relays_start(struct world *w, cw_server s)
{
    struct sim_server *h = &w->server[s];
    free(h->relay); /* of its former life */
    h->relay = NULL;
    if (w->config.relay_ppm == 0) {
        return 0;
    }
    struct prng random = prng_stream(w->config.seed, s | (uint64_t)h->starts << 32, WORLD_STREAM_RELAY);
    if (!prng_chance(&random, w->config.relay_ppm, WIRE_MILLION)) {
        return 0;
    }
    struct sim_relay *r = aligned_alloc(_Alignof(struct sim_relay), sizeof *r);
    if (r == NULL) {
        return -ENOMEM;
    }
    memset(r, 0, sizeof *r);
    r->random = random;
    struct node_relay_config config = {.state = &r->state, .ethertype = ETHERTYPE};
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        config.link[link].ifindex = link + 1u;
        relay_pace(&r->state, link, pace_of(w), SLACK_FRAMES * charge_of(w, w->config.node.mtu));
    }
    int rc = node_relay_open(h->node, &config);
    if (rc < 0) {
        free(r);
        return rc == -E2BIG ? 0 : rc; /* such a torus has no relays */
    }
    h->relay = r;
    return 0;
}

void relays_free(struct world *w, cw_server s)
{
    free(w->server[s].relay);
    w->server[s].relay = NULL;
}

/* The frames by which the watcher of a daemon that dies says goodbye, one for each link; made while its node lives. */
void relays_killing(struct world *w, cw_server s, bool power, struct relays_last *last)
{
    struct sim_server *h = &w->server[s];
    struct sim_relay *r = h->relay;
    memset(last, 0, sizeof *last);
    if (r == NULL) {
        return;
    }
    last->live = RELAY_READ(r->state.live);
    last->lease = RELAY_READ(r->state.lease);
    last->way = power ? RELAYS_GONE : (enum relays_end)prng_below(&r->random, RELAYS_ENDS);
    for (cw_link link = 0; link < CW_LINK_COUNT && last->way == RELAYS_WATCHED; link++) {
        struct cw_packet *frame = pkt_take(w->packets, FRAME_HEAD_BYTES + GOODBYE_BYTES);
        if (frame == NULL || !(ls_live_links(h->linkstate) & cw_links_of(link))) {
            pkt_release(frame);
            continue;
        }
        struct frame_head head = {.packets = 1};
        struct goodbye goodbye = {
            .session = ls_link_session(h->linkstate, link),
            .incarnation = ls_incarnation(h->linkstate),
            .server = torus_coord(&w->torus, s),
            .reason = GOODBYE_DIED,
        };
        ls_stamp(h->linkstate, link, &head);
        frame_encode(&head, frame->data);
        goodbye_encode(&goodbye, frame->data + FRAME_HEAD_BYTES);
        last->goodbye[link] = frame;
    }
}

static void stop_late(struct world *w, void *arg)
{
    struct sim_relay *r = w->server[(uintptr_t)arg].relay;
    if (r != NULL && r->orphan) {
        relay_stop(&r->state);
    }
}

void relays_killed(struct world *w, cw_server s, struct relays_last *last)
{
    struct sim_server *h = &w->server[s];
    struct sim_relay *r = h->relay;
    if (r == NULL) {
        return;
    }
    if (last->way == RELAYS_GONE) {
        relays_free(w, s);
        return;
    }
    r->orphan = true;
    memset(r->handed, 0, sizeof r->handed);
    if (last->way == RELAYS_LEFT || RELAY_MUTANT(WATCHER_LATE)) { /* a process that is killed closes no node */
        RELAY_WRITE(r->state.lease, last->lease);
        relay_release(&r->state.live, last->live);
    }
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        if (last->goodbye[link] != NULL) {
            r->goodbye = true;
            pump_give(w, s, link, last->goodbye[link]);
        }
    }
    if (last->way == RELAYS_WATCHED && RELAY_MUTANT(WATCHER_LATE)) {
        world_at(w, cw_time_add(w->now, CW_US(WATCHER_LATE_US)), stop_late, (void *)(uintptr_t)s);
    }
}

/* ---- Frames ------------------------------------------------------------------------------------------------------ */

/* The instant by the clock that is compared with the lease. */
static uint64_t clock_of(const struct world *w, const struct sim_server *h)
{
    return RELAY_MUTANT(CLOCK_SLEEPS) ? h->relay->last_ns : (uint64_t)pump_local(w, h).ns;
}

static uint32_t judge(struct world *w, struct sim_server *h, cw_link port, struct cw_packet *frame,
                      uint8_t bytes[static RELAY_HEADS_BYTES], struct relay_verdict *verdict)
{
    struct sim_relay *r = h->relay;
    uint32_t here = RELAY_HEADS_BYTES - RELAY_AT_FRAME;
    uint64_t before[CW_LINK_COUNT];
    here = frame->length < here ? frame->length : here;
    memset(bytes, 0, RELAY_AT_FRAME);
    relay_put16(bytes + RELAY_AT_ETHERTYPE, ETHERTYPE);
    memcpy(bytes + RELAY_AT_FRAME, frame->data, here);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        before[link] = relay_handed(&r->state, link);
    }
    relay_judge(&r->state, bytes, bytes + RELAY_AT_FRAME + here, RELAY_AT_FRAME + frame->length + frame->pad, port,
                clock_of(w, h), verdict);
    frame->links = CW_LINKS_NONE;
    for (cw_link link = 0; link < CW_LINK_COUNT && verdict->reason == RELAY_FULL && !r->orphan; link++) {
        if (relay_handed(&r->state, link) != before[link]) {
            frame->links = cw_links_of(link);
            r->handed[link]++;
        }
    }
    return verdict->reason;
}

bool relays_take(struct world *w, cw_server s, cw_link port, struct cw_packet *frame)
{
    struct sim_server *h = &w->server[s];
    struct sim_relay *r = h->relay;
    uint8_t bytes[RELAY_HEADS_BYTES];
    struct relay_verdict verdict;
    frame->links = CW_LINKS_NONE;
    if (!h->powered || pump_data_packets(frame) == 0) {
        return false;
    }
    uint32_t reason = judge(w, h, port, frame, bytes, &verdict);
    w->totals.judged[reason]++;
    if (reason != RELAY_PASSED) {
        return false;
    }
    unsigned gen = RELAY_READ(r->state.gen) & 1;
    if (w->check != NULL) {
        struct check_pass pass = {
            .server = s,
            .in = port,
            .out = (cw_link)verdict.out,
            .view = &r->state.view[gen],
            .known = r->known[gen],
            .lease = h->linkstate != NULL ? relays_lease(h) : r->lease,
            .ended = r->goodbye,
            .passed_by = r->waits | (r->handed[verdict.out] > 0 ? cw_links_of((cw_link)verdict.out) : CW_LINKS_NONE),
        };
        check_relay_passed(w->check, &pass, frame);
    }
    memcpy(frame->data, bytes + RELAY_AT_FRAME, RELAY_HEADS_BYTES - RELAY_AT_FRAME);
    frame->order = r->known[gen];
    cw_span late = prng_chance(&r->random, 1, RARE) ? prng_span(&r->random, CW_NS(0), rare_late) : verdict_takes;
    wheel_put(&w->wheel, cw_time_add(w->now, late), EVENT_ORDER(s, EVENT_RELAY + verdict.out), frame);
    return true;
}

void relays_commit(struct world *w, cw_server s, cw_link out, struct cw_packet *frame)
{
    w->totals.flying--;
    if (!w->server[s].powered) {
        pump_lose(w, frame, WORLD_LOSS_KILLED);
        return;
    }
    w->totals.relayed++;
    pump_give(w, s, out, frame);
}

void relays_left_socket(struct sim_server *h, const struct cw_packet *frame)
{
    if (h->relay != NULL && frame->links != CW_LINKS_NONE) {
        h->relay->handed[__builtin_ctz(frame->links)]--;
    }
}

void relays_sent(const struct world *w, struct sim_server *h, cw_link link, uint32_t size)
{
    if (h->relay != NULL && !h->relay->orphan) {
        uint64_t now = (uint64_t)pump_local(w, h).ns, *until = &h->relay->sent_until[link];
        *until = (*until > now ? *until : now) + charge_of(w, size);
    }
}

cw_span relays_socket_wait(const struct world *w, struct sim_server *h)
{
    struct prng *random = &h->relay->random;
    /* Timers are chosen for machines that keep them (semantics 4.6). What lasts longer is a pause. */
    cw_span late = CW_NS(w->config.node.timers.dead.ns / LATE_PART);
    late = late.ns < rare_late.ns ? late : rare_late;
    return prng_chance(random, 1, RARE) ? prng_span(random, CW_NS(0), late)
                                        : prng_span(random, socket_least, socket_most);
}

/* ---- The end of a turn ------------------------------------------------------------------------------------------- */

cw_time relays_lease(const struct sim_server *h)
{
    struct ls_transit transit;
    ls_transit(h->linkstate, &transit);
    return transit.live != CW_LINKS_NONE ? transit.lease : (cw_time){0};
}

bool relays_turn_ends(struct sim_server *h)
{
    return prng_chance(&h->relay->random, 1, TURN_ENTRIES);
}

cw_links relays_publish(struct world *w, cw_server s)
{
    struct sim_server *h = &w->server[s];
    struct sim_relay *r = h->relay;
    struct node_relay_turn turn = {.usable = h->light};
    bool drained = h->card_count == 0 || RELAY_MUTANT(TAKEN_EARLY);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        if (drained && !(node_waiting_links(h->node) & cw_links_of(link))) {
            r->taken[link] = relay_handed(&r->state, link);
        }
        turn.taken[link] = r->taken[link];
        turn.sent_until[link] = r->sent_until[link];
    }
    cw_links links = node_relay_publish(h->node, &turn, pump_local(w, h));
    unsigned gen = RELAY_READ(r->state.gen) & 1;
    r->waits = node_waiting_links(h->node);
    r->last_ns = (uint64_t)pump_local(w, h).ns;
    r->lease = relays_lease(h);
    if (w->check != NULL) {
        r->known[gen] = check_relay_published(w->check, s, &r->state.view[gen]);
    }
    return links;
}
