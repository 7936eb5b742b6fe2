/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve.c - one server's turn: changes of carriers, frames in, time, frames out, and when to wake next.
 *
 * Frames come before time: after a stall (the process was stopped, or had no processor), the hellos that wait in the
 * sockets are heard before any neighbour is judged silent (semantics 4.6). Frames are received into memory that was
 * taken beforehand. A short frame is copied into a small packet and its memory used again, so that no frame costs an
 * allocation larger than it needs.
 */
#include "daemon/host/boot_runner.h"
#include "daemon/host/internal.h"
#include "daemon/machine/transit.h"

#include "shim/clock.h"
#include "wire/frame.h"

#include <errno.h>
#include <string.h>

/* ---- Frames in --------------------------------------------------------------------------------------------------- */

static void aim(struct host *h, unsigned i)
{
    h->in[i] = (struct shim_frame){.bytes = h->stash[i]->data, .room = h->mtu};
}

int serve_open(struct host *h)
{
    for (unsigned i = 0; i < HOST_STASH; i++) {
        h->stash[i] = pkt_take(h->packets, pkt_home_longest(h->packets));
        if (h->stash[i] == NULL) {
            serve_close(h);
            return -ENOMEM;
        }
        aim(h, i);
    }
    return 0;
}

void serve_close(struct host *h)
{
    for (unsigned i = 0; i < HOST_STASH; i++) {
        pkt_release(h->stash[i]);
        h->stash[i] = NULL;
    }
}

/* The frame that was received into stash[i], as a packet; the stash has memory there again. NULL: none could be had. */
static struct cw_packet *frame_of(struct host *h, unsigned i)
{
    uint32_t length = h->in[i].length;
    struct cw_packet *p;
    if (length <= HOST_SMALL_PACKET - PKT_HEADROOM) {
        p = pkt_take(h->packets, length);
        if (p != NULL) {
            memcpy(p->data, h->in[i].bytes, length);
        }
        return p;
    }
    struct cw_packet *fresh = pkt_take(h->packets, pkt_home_longest(h->packets));
    if (fresh == NULL) {
        return NULL;
    }
    p = h->stash[i];
    p->length = length;
    h->stash[i] = fresh;
    aim(h, i);
    return p;
}

static void look_at_clock(struct host *h, cw_time *now)
{
    cw_time later = clock_now();
    cw_span span = cw_time_since(later, *now);
    if (span.ns > h->turn_longest.ns || span.ns > h->config.timers.hold.ns - h->config.timers.dead.ns) {
        viewlog_turn(h, span);
    }
    *now = later;
}

/*
 * The clock is read for every frame: whether a packet may be delivered is judged by the lease at that instant
 * (semantics 4.2), and when the process loses its processor between two frames, the second must not be judged by the
 * time of the first.
 */
static void take_frames(struct pump_server *s, cw_link link, unsigned count, cw_time *now, cw_links *links)
{
    struct host *h = s->face.host;
    struct pump_link *pump = &s->pump[link];
    struct host_link_tally *tally = &s->face.link[link].tally;
    tally->received += count;
    for (unsigned i = 0; i < count; i++) {
        look_at_clock(h, now);
        if (pump->tap != NULL) {
            pump->tap(pump->tap_context, false, h->in[i].bytes, h->in[i].length, *now);
        }
        if (boot_runner_rx(s, link, h->in[i].bytes, h->in[i].length, *now)) {
            continue; /* the bootstrap's */
        }
        if (s->face.node == NULL) { /* nobody is at home */
            unsigned version = h->in[i].bytes[FRAME_AT_VERSION] >> 4;
            if (version != WIRE_VERSION_NOW) {
                viewlog_foreign(s, link, (uint8_t)version);
            }
            continue;
        }
        struct cw_packet *frame = frame_of(h, i);
        if (frame == NULL) {
            tally->lost_memory++;
            continue;
        }
        *links |= node_rx(s->face.node, link, frame, *now);
    }
    for (unsigned i = 0; i < count; i++) {
        h->in[i].length = 0;
    }
}

/* Frames of a link whose data wakes us: a nap is for such. */
static void note_stream(struct pump_server *s, cw_link link, unsigned count)
{
    if (s->pump[link].readable != NULL) {
        s->stream |= cw_links_of(link);
        s->face.host->received += count;
    }
}

/*
 * Receives so many batches from each readable link; links that still have frames stay in s->readable. *now moves on
 * with the clock.
 */
static void receive(struct pump_server *s, unsigned batches, cw_time *now, cw_links *links)
{
    struct host *h = s->face.host;
    cw_links from = s->readable;
    s->readable = CW_LINKS_NONE;
    s->stream = from != CW_LINKS_NONE ? CW_LINKS_NONE : s->stream;
    for (; from != CW_LINKS_NONE; from &= (cw_links)(from - 1)) {
        cw_link link = (cw_link)__builtin_ctz(from);
        struct shim *shim = s->face.link[link].shim;
        if (shim == NULL) {
            continue;
        }
        unsigned batch = 0;
        int count = SHIM_BATCH;
        while (count == SHIM_BATCH && batch++ < batches) {
            count = shim_receive(shim, h->in, SHIM_BATCH);
            if (count > 0) {
                s->heard += (unsigned)count;
                take_frames(s, link, (unsigned)count, now, links);
                h->busy_until = cw_time_add(*now, h->config.busy_poll);
                note_stream(s, link, (unsigned)count);
            }
        }
        if (count < 0) {
            s->face.link[link].tally.failed++;
            viewlog_error(s, link, count);
        }
        if (count == SHIM_BATCH) {
            s->readable |= cw_links_of(link);
        }
    }
}

/* ---- Frames out -------------------------------------------------------------------------------------------------- */

static void hold(struct pump_link *l, struct cw_packet *p)
{
    CHECK(l->held_count < SHIM_BATCH);
    l->held[l->held_count] = p;
    l->out[l->held_count++] = (struct shim_frame){.bytes = p->data, .length = p->length};
    l->server->holding |= cw_links_of(l->link);
}

static void block(struct pump_server *s, cw_link link)
{
    struct pump_link *l = &s->pump[link];
    cw_time until = CW_NEVER;
    s->blocked |= cw_links_of(link);
    switch (shim_wait(s->face.link[link].shim, &until)) {
    case SHIM_WAIT_WRITABLE:
        pump_want_write(l);
        until = CW_NEVER;
        break;
    case SHIM_WAIT_WAKE:
        until = CW_NEVER;
        break;
    case SHIM_WAIT_TIME:
        break;
    }
    l->until = until;
}

/*
 * Takes p and gives it with its bytes as they must be on the cable, padding included; NULL: there was no memory, and p
 * was released.
 */
static struct cw_packet *finish(struct host *h, struct cw_packet *p)
{
    uint32_t whole = p->length + p->pad;
    if (p->back >= SHIM_HEADROOM && p->room >= whole && pkt_writable(p)) {
        if (p->pad > 0) {
            memset(p->data + p->length, 0, p->pad);
        }
    } else {
        struct cw_packet *copy = pkt_take(h->packets, whole);
        if (copy != NULL) {
            memcpy(copy->data, p->data, p->length);
            memset(copy->data + p->length, 0, p->pad);
        }
        pkt_release(p);
        p = copy;
    }
    if (p != NULL) {
        p->length = whole;
        p->pad = 0;
    }
    return p;
}

static void drop_first(struct pump_link *l, unsigned count)
{
    CHECK(count <= l->held_count);
    for (unsigned i = 0; i < count; i++) {
        pkt_release(l->held[i]);
    }
    l->held_count -= count;
    if (l->held_count == 0) {
        l->server->holding &= (cw_links)~cw_links_of(l->link);
        return;
    }
    memmove(l->held, l->held + count, l->held_count * sizeof *l->held);
    memmove(l->out, l->out + count, l->held_count * sizeof *l->out);
}

/* Gives the shim the frames that the link holds. */
static void flush(struct pump_server *s, cw_link link, cw_time now)
{
    struct pump_link *l = &s->pump[link];
    struct host_link *face = &s->face.link[link];
    if (l->held_count == 0) {
        return;
    }
    int sent = shim_send(face->shim, l->out, l->held_count);
    if (sent == -ENETDOWN || !face->carrier) {
        face->tally.lost_carrier += l->held_count;
        host_drop_held(l);
        s->changed |= cw_links_of(link);
        return;
    }
    if (sent < 0) {
        sent = 1; /* this one will never go: the shim has counted it, or it is longer than the cable bears */
        face->tally.lost_errors++;
    } else {
        face->tally.sent += (unsigned)sent;
        for (int i = 0; i < sent && s->face.host->transit != NULL; i++) {
            transit_sent(s->face.host->transit, link, l->out[i].length, now);
        }
        for (int i = 0; i < sent && l->tap != NULL; i++) {
            l->tap(l->tap_context, true, l->out[i].bytes, l->out[i].length, now);
        }
    }
    drop_first(l, (unsigned)sent);
    if (l->held_count > 0) {
        block(s, link);
    }
}

/* Pulls one frame for the link into what it holds. False: it has none. */
static bool pull(struct pump_server *s, cw_link link, cw_time now)
{
    struct cw_packet *p = node_tx_pull(s->face.node, link, now);
    if (p == NULL) {
        return false;
    }
    p = finish(s->face.host, p);
    if (p == NULL) {
        s->face.link[link].tally.lost_memory++;
        return true;
    }
    hold(&s->pump[link], p);
    return true;
}

/*
 * Links that have room at the same time are asked in turn (core/node.h): the first of the set after the link that was
 * given a frame last.
 */
static cw_link next_turn(cw_links links, cw_link last)
{
    unsigned behind = links & (unsigned)(~1u << last);
    return (cw_link)__builtin_ctz(behind != 0 ? behind : links);
}

/* How many frames the link takes now, at most a batch; 0: it is blocked. */
static unsigned measure(struct pump_server *s, cw_link link)
{
    unsigned room = shim_room(s->face.link[link].shim);
    if (room == 0) {
        block(s, link);
    }
    return room < SHIM_BATCH ? room : SHIM_BATCH;
}

/* Frames of the bootstrap: few, and before the node's. */
static void transmit_bootstrap(struct pump_server *s, cw_time now)
{
    struct host *h = s->face.host;
    cw_links links = boot_runner_links(s) & (cw_links)~s->blocked;
    for (; links != CW_LINKS_NONE; links &= (cw_links)(links - 1)) {
        cw_link link = (cw_link)__builtin_ctz(links);
        struct pump_link *l = &s->pump[link];
        if (s->face.link[link].shim == NULL) {
            continue;
        }
        flush(s, link, now);
        unsigned room = l->held_count == 0 ? measure(s, link) : 0;
        while (l->held_count < room) {
            struct cw_packet *p = pkt_take(h->packets, h->mtu);
            uint32_t length = p != NULL ? boot_runner_pull(s, link, p->data, h->mtu, now) : 0;
            if (length == 0) {
                pkt_release(p);
                break;
            }
            p->length = length;
            hold(l, p);
        }
        flush(s, link, now);
    }
}

/* Gives shims that have room, as far as is known, what their links hold. */
static void flush_all(struct pump_server *s, cw_time now)
{
    cw_links links = s->holding & (cw_links)~s->blocked;
    for (; links != CW_LINKS_NONE; links &= (cw_links)(links - 1)) {
        flush(s, (cw_link)__builtin_ctz(links), now);
    }
}

/*
 * True: there is more, for the next turn. A turn may send as many frames as it has heard: else what a server passes on
 * would be received in vain, in a queue that is full, whenever more comes than the processor can bear.
 */
static bool transmit(struct pump_server *s, cw_time now)
{
    unsigned room[CW_LINK_COUNT] = {0};
    cw_links dry = CW_LINKS_NONE, measured = CW_LINKS_NONE;
    unsigned left = s->heard > HOST_PULLS ? s->heard : HOST_PULLS;
    bool some = false;
    flush_all(s, now); /* what was refused goes first */
    for (; left > 0; left--) {
        cw_links links = node_tx_links(s->face.node) & (cw_links) ~(s->blocked | dry);
        if (links == CW_LINKS_NONE) {
            break;
        }
        cw_link link = next_turn(links, s->turn);
        if (!s->face.link[link].carrier) {
            dry |= cw_links_of(link);
            continue;
        }
        if (!(measured & cw_links_of(link))) {
            room[link] = measure(s, link);
            measured |= cw_links_of(link);
            continue;
        }
        if (!pull(s, link, now)) {
            dry |= cw_links_of(link);
            continue;
        }
        some = true;
        s->turn = link;
        if (s->pump[link].held_count >= room[link]) {
            flush(s, link, now);
            measured &= (cw_links)~cw_links_of(link);
        }
    }
    flush_all(s, now);
    /* A pull may have made work for a link that had none before (a change of view runs services). */
    return left == 0 || (some && (node_tx_links(s->face.node) & (cw_links)~s->blocked & dry));
}

/* ---- The turn ---------------------------------------------------------------------------------------------------- */

static void see_carriers(struct pump_server *s, cw_time now, cw_links *links)
{
    cw_links changed = s->changed;
    s->changed = CW_LINKS_NONE;
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        struct host_link *l = &s->face.link[link];
        if (!(changed & cw_links_of(link)) || l->shim == NULL) {
            continue;
        }
        shim_service_events(l->shim);
        bool carrier = shim_carrier(l->shim);
        if (carrier == l->carrier) {
            viewlog_outage(s, link);
            continue;
        }
        l->carrier = carrier;
        if (!carrier) {
            l->tally.lost_carrier += s->pump[link].held_count;
            host_drop_held(&s->pump[link]);
        }
        s->blocked &= (cw_links)~cw_links_of(link);
        s->pump[link].until = CW_NEVER;
        transit_carrier(s->face.host->transit, link, carrier);
        boot_runner_carrier(s, link, carrier, now);
        if (s->face.node != NULL) {
            *links |= node_carrier(s->face.node, link, carrier, now);
        }
        viewlog_carrier(s, link);
    }
}

/* Unblocks the links whose time has come, and gives the next such time. */
static cw_time unblock(struct pump_server *s, cw_time now)
{
    cw_time first = CW_NEVER;
    for (cw_links links = s->blocked; links != CW_LINKS_NONE; links &= (cw_links)(links - 1)) {
        cw_link link = (cw_link)__builtin_ctz(links);
        if (cw_time_due(s->pump[link].until, now)) {
            s->blocked &= (cw_links)~cw_links_of(link);
        } else {
            first = cw_time_min(first, s->pump[link].until);
        }
    }
    return first;
}

static void listen_everywhere(struct pump_server *s)
{
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        struct shim *shim = s->face.link[link].shim;
        if (shim != NULL) {
            shim->urgent = true;
            s->readable |= cw_links_of(link);
        }
    }
}

/* Time, unless frames that are here already should be heard first. */
static void tick(struct pump_server *s, cw_time *now, cw_links *links)
{
    cw_time due = node_next_wake(s->face.node);
    if (!cw_time_due(due, *now)) {
        s->stalled = 0;
        return;
    }
    bool late = cw_time_since(*now, due).ns > CW_MS(HOST_STALL_MS).ns;
    if (late && s->stalled < HOST_STALL_TURNS) {
        if (s->stalled == 0) {
            listen_everywhere(s); /* whatever has come in meanwhile, the descriptors need not have said so yet */
            receive(s, HOST_STALL_RECEIVES, now, links);
        }
        if (s->readable != CW_LINKS_NONE) {
            s->stalled++;
            return;
        }
    }
    s->stalled = 0;
    look_at_clock(s->face.host, now);
    *links |= node_tick(s->face.node, *now);
}

static void arm(struct pump_server *s, cw_time wake, cw_time now)
{
    struct heap *wakes = &s->face.host->wakes;
    bool queued = s->wake.place != 0;
    if (cw_time_due(wake, now)) {
        host_activate(s);
    }
    if (wake.ns == CW_NEVER.ns || cw_time_due(wake, now)) {
        if (queued) {
            heap_remove(wakes, &s->wake);
        }
    } else if (!queued) {
        CHECK(heap_insert(wakes, &s->wake, wake, s->face.index) == 0);
    } else if (s->wake.at.ns != wake.ns) {
        heap_adjust(wakes, &s->wake, wake, s->face.index);
    }
}

/* The end of a turn, for the relay. True: the publication has made something to send. */
static bool publish(struct pump_server *s, cw_time now)
{
    struct transit_turn turn = {
        .waits = s->blocked | s->holding,
        .drained = s->readable == CW_LINKS_NONE,
    };
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        turn.tapped |= s->pump[link].tap != NULL ? cw_links_of(link) : CW_LINKS_NONE;
    }
    return (transit_publish(s->face.host->transit, s->face.node, &turn, now) & (cw_links)~turn.waits) != 0;
}

cw_time serve_turn(struct pump_server *s, cw_time now)
{
    cw_links links = s->owed;
    s->owed = CW_LINKS_NONE;
    s->heard = 0;
    if (s->changed != CW_LINKS_NONE) {
        see_carriers(s, now, &links);
    }
    if (transit_turn(s->face.host->transit)) {
        listen_everywhere(s); /* what was handed up is in a socket, whether its descriptor has said so or not */
    }
    receive(s, 1, &now, &links); /* what it brings is sent before there is more */
    cw_time wake = unblock(s, now);
    boot_runner_tick(s, now);
    transmit_bootstrap(s, now);
    if (s->face.node != NULL) {
        tick(s, &now, &links);
        look_at_clock(s->face.host, &now);
        bool more = transmit(s, now);
        if (s->face.host->transit != NULL && publish(s, now)) {
            more = transmit(s, now) || more;
            more = publish(s, now) || more; /* what this one has made is sent in the next turn */
        }
        if (more) {
            host_activate(s);
        }
        wake = cw_time_min(unblock(s, now), node_next_wake(s->face.node));
        viewlog_update(s, now);
    }
    if (s->readable != CW_LINKS_NONE || s->changed != CW_LINKS_NONE) {
        host_activate(s);
    }
    arm(s, cw_time_min(wake, boot_runner_wake(s)), now);
    return now;
}
