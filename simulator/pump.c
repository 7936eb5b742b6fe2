/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pump.c - frames to nodes and from nodes to wires: what runs once per hop.
 *
 * A frame that was pulled costs one event, its arrival: the wire says at once when it will leave. Only a busy link for
 * which more frames wait costs a second event, the poll.
 */
#include "simulator/check_relay.h"
#include "simulator/world_internal.h"

#include "wire/frame.h"
#include "wire/packet.h"

#include <stdlib.h>

enum {
    PPM = 1000000,
    /* Of one server at one instant: a service answers itself, or starts a timer of no time, for ever. */
    WAKES_MAX = 20000,
    PUBLISH_ROUNDS = 4, /* a publication is an entry, which may have something to send */
};

/* ---- Clocks ------------------------------------------------------------------------------------------------------ */

static int64_t run_off(const struct sim_server *h, int64_t true_ns)
{
    return true_ns + true_ns * h->ppm / PPM;
}

cw_time pump_local(const struct world *w, const struct sim_server *h)
{
    if (!w->clocks) {
        return w->now;
    }
    return (cw_time){h->clock_local + run_off(h, w->now.ns - h->clock_true)};
}

/* The first true instant at which the server's clock shows `local` or more. */
static int64_t true_of(const struct world *w, const struct sim_server *h, cw_time local)
{
    if (!w->clocks) {
        return local.ns;
    }
    int64_t span = local.ns - h->clock_local;
    int64_t guess = (int64_t)((__int128)span * PPM / (PPM + h->ppm));
    while (run_off(h, guess) < span) {
        guess++;
    }
    while (run_off(h, guess - 1) >= span) {
        guess--;
    }
    return h->clock_true + guess;
}

/* ---- From the node to the wires ---------------------------------------------------------------------------------- */

uint32_t pump_data_packets(const struct cw_packet *frame)
{
    const uint8_t *bytes = frame->data;
    const uint8_t *first = bytes + frame_head_bytes(bytes[FRAME_AT_VERSION] & 0xf);
    return packet_kind_of(first) == PACKET_CONTROL ? 0 : bytes[FRAME_AT_PACKETS];
}

void pump_lose(struct world *w, struct cw_packet *frame, enum world_loss cause)
{
    w->totals.lost[cause] += pump_data_packets(frame);
    pkt_release(frame);
}

static void launch(struct world *w, cw_server s, cw_link link, struct cw_packet *frame, cw_time arrives)
{
    cw_server far = w->neighbours[(size_t)s * CW_LINK_COUNT + link];
    w->totals.flying += pump_data_packets(frame);
    wheel_put(&w->wheel, arrives, EVENT_ORDER(far, EVENT_FRAME + cw_link_opposite(link)), frame);
}

static void flip_bits(struct cw_packet *frame, struct prng *random)
{
    for (uint64_t flips = 1 + prng_below(random, 3); flips > 0; flips--) {
        uint64_t bit = prng_below(random, (uint64_t)frame->length * 8);
        frame->data[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

/* Takes a frame, and does to it what the wire's harm says. */
static void send_harmed(struct world *w, cw_server s, cw_link link, struct cw_packet *frame,
                        const struct wire_flight *flight)
{
    switch (flight->fate) {
    case WIRE_LOST:
        pump_lose(w, frame, WORLD_LOSS_INJECTED);
        return;
    case WIRE_CUT:
        pump_lose(w, frame, WORLD_LOSS_CUT);
        return;
    case WIRE_CORRUPTED:
        if (!w->config.corrupt_passes) {
            pump_lose(w, frame, WORLD_LOSS_CORRUPTED);
            return;
        }
        flip_bits(frame, &w->harm_random[(size_t)s * CW_LINK_COUNT + link]);
        break;
    default:
        break;
    }
    struct cw_packet *twin = flight->again.ns != CW_NEVER.ns ? pkt_copy(frame) : NULL;
    launch(w, s, link, frame, flight->arrives);
    if (twin != NULL) {
        w->totals.duplicated += pump_data_packets(twin);
        twin->order = frame->order;
        launch(w, s, link, twin, flight->again);
    }
}

void pump_give(struct world *w, cw_server s, cw_link link, struct cw_packet *frame)
{
    size_t i = (size_t)s * CW_LINK_COUNT + link;
    struct wire *wire = &w->wire[i];
    uint32_t size = frame->length + frame->pad;
    if (size < WIRE_PAYLOAD_LEAST) {
        frame->pad += WIRE_PAYLOAD_LEAST - size; /* what the card does, and what the far end sees */
        size = WIRE_PAYLOAD_LEAST;
    }
    bool harmed = wire->state & WIRE_HARMED;
    struct wire_flight flight = wire_send(wire, &w->config.wire, w->ps_per_byte, size, w->now,
                                          harmed ? &w->harm[i] : NULL, harmed ? &w->harm_random[i] : NULL);
    uint32_t data = pump_data_packets(frame);
    w->totals.packet_hops += data;
    if (data == 0) {
        wire->control_frames++;
        w->totals.control_bytes += wire_bytes(size);
    }
    if (__builtin_expect(w->watch.frame != NULL, 0)) {
        w->watch.frame(w->watch.context, s, link, frame, w->now, &flight);
    }
    if (__builtin_expect(wire->state != 0, 0)) {
        send_harmed(w, s, link, frame, &flight);
        return;
    }
    launch(w, s, link, frame, flight.arrives);
}

/* Gives the link what the node has for it while the card has room. True when there was something. */
static bool pull(struct world *w, cw_server s, struct sim_server *h, cw_link link, cw_time local)
{
    const struct wire *wire = &w->wire[(size_t)s * CW_LINK_COUNT + link];
    bool some = false;
    do {
        CHECK(wire_room_at(wire).ns <= w->now.ns); /* a node is pulled when there is room */
        struct cw_packet *frame = node_tx_pull(h->node, link, local);
        if (frame == NULL) {
            return some;
        }
        if (__builtin_expect(w->config.relay_ppm != 0, 0)) {
            relays_sent(w, h, link, frame->length + frame->pad);
            if (w->check != NULL) {
                check_relay_sent(w->check, s, link, frame);
            }
        }
        pump_give(w, s, link, frame);
        some = true;
    } while (wire_room_at(wire).ns <= w->now.ns);
    return some;
}

/*
 * Links that are idle at one instant are asked in turns (node.h says why). Returns the first link of the set behind the
 * one that was given a frame last.
 */
static cw_link next_turn(cw_links links, cw_link last)
{
    unsigned behind = links & (unsigned)(~1u << last);
    return (cw_link)__builtin_ctz(behind != 0 ? behind : links);
}

static void transmit(struct world *w, cw_server s, struct sim_server *h, cw_links links)
{
    cw_time local = pump_local(w, h);
    cw_links asked = CW_LINKS_NONE;
    links &= (cw_links)~h->polled;
    while (links != CW_LINKS_NONE) {
        bool some = false;
        while (links != CW_LINKS_NONE) {
            cw_link link = next_turn(links, h->turn);
            links &= (cw_links)~cw_links_of(link);
            cw_time room = wire_room_at(&w->wire[(size_t)s * CW_LINK_COUNT + link]);
            if (room.ns > w->now.ns) {
                h->polled |= cw_links_of(link);
                wheel_put(&w->wheel, room, EVENT_ORDER(s, EVENT_POLL + link), NULL);
            } else if (!(asked & cw_links_of(link))) {
                asked |= cw_links_of(link);
                if (pull(w, s, h, link, local)) {
                    h->turn = link;
                    some = true;
                }
            }
        }
        /*
         * What is left waits for a poll, and a pull may have made work for other links (a change of view runs
         * services).
         */
        links = some ? node_tx_links(h->node) & (cw_links)~h->polled : CW_LINKS_NONE;
    }
}

/* ---- From events to the node ------------------------------------------------------------------------------------- */

static void arm(struct world *w, cw_server s, struct sim_server *h)
{
    cw_time wake = node_next_wake(h->node);
    if (wake.ns == CW_NEVER.ns) {
        return;
    }
    /* What is due may be any instant that has passed, however far back. */
    int64_t at = w->now.ns;
    if (cw_time_before(pump_local(w, h), wake)) {
        at = true_of(w, h, wake);
        at = at < w->now.ns ? w->now.ns : at;
    }
    /* An event that is too early is harmless: it looks, and arms again. So a wake that moves back costs nothing. */
    if (at < h->wake_ns) {
        h->wake_ns = at;
        wheel_put(&w->wheel, (cw_time){at}, EVENT_ORDER(s, EVENT_WAKE), NULL);
    }
}

void pump_note(struct world *w, cw_server s)
{
    const struct sim_server *h = &w->server[s];
    const struct linkstate *ls = h->linkstate;
    oracle_runs(&w->oracle, s, ls_incarnation(ls));
    /* A server that leaves delivers no key any more and is in no other server's O; packets still pass through it. */
    oracle_active(&w->oracle, s, ls_active(ls) && !h->leaving);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        oracle_claims(&w->oracle, s, link, ls_link_peer(ls, link));
    }
}

void pump_look(struct world *w, cw_server s)
{
    uint64_t changes = w->oracle.changes;
    pump_note(w, s);
    if (w->check != NULL) {
        check_view(w->check, s, w->oracle.changes != changes);
    }
}

void pump_after(struct world *w, cw_server s, cw_links links)
{
    struct sim_server *h = &w->server[s];
    transmit(w, s, h, links);
    if (__builtin_expect(h->relay != NULL, 0) && relays_turn_ends(h)) {
        links = relays_publish(w, s);
        for (unsigned round = 0; round < PUBLISH_ROUNDS && (links & (cw_links)~h->polled) != 0; round++) {
            transmit(w, s, h, links);
            links = relays_publish(w, s);
        }
    }
    arm(w, s, h);
    uint64_t notes = ls_notes(h->linkstate);
    if (notes != h->notes) {
        h->notes = notes;
        pump_look(w, s);
    }
}

static void handle_frame(struct world *w, cw_server s, struct sim_server *h, cw_link port, struct cw_packet *frame)
{
    uint32_t data = pump_data_packets(frame);
    w->totals.flying -= data;
    cw_links links = node_rx(h->node, port, frame, pump_local(w, h));
    pump_after(w, s, links);
}

cw_time pump_occupy(const struct world *w, struct sim_server *h, cw_span work)
{
    h->busy_ns = (h->busy_ns > w->now.ns ? h->busy_ns : w->now.ns) + work.ns;
    return (cw_time){h->busy_ns};
}

/*
 * For the first frame in the card. woken: the processor was idle, so that the frame waits in its socket before it is
 * seen. That is no work: who has frames before it takes the next one at once.
 */
static void wait_for_processor(struct world *w, cw_server s, struct sim_server *h, bool woken)
{
    uint32_t size = h->card_first->length + h->card_first->pad + WIRE_FRAME_EXTRA;
    int64_t cost = w->config.cpu_per_frame.ns + (int64_t)size * w->config.cpu_ps_per_byte / 1000;
    if (h->relay != NULL && woken) {
        cost += relays_socket_wait(w, h).ns;
    }
    h->working = true;
    wheel_put(&w->wheel, pump_occupy(w, h, CW_NS(cost)), EVENT_ORDER(s, EVENT_WORK), NULL);
}

static void put_into_card(struct world *w, cw_server s, struct sim_server *h, cw_link port, struct cw_packet *frame)
{
    if (h->card_count == w->config.cpu_queue) {
        w->totals.flying -= pump_data_packets(frame);
        relays_left_socket(h, frame);
        pump_lose(w, frame, WORLD_LOSS_CARD);
        return;
    }
    frame->in = port;
    frame->next = NULL;
    if (h->card_last != NULL) {
        h->card_last->next = frame;
    } else {
        h->card_first = frame;
    }
    h->card_last = frame;
    h->card_count++;
    if (h->state == WORLD_RUNS && !h->working) {
        wait_for_processor(w, s, h, true);
    }
}

static struct cw_packet *take_from_card(struct sim_server *h)
{
    struct cw_packet *frame = h->card_first;
    h->card_first = frame->next;
    if (h->card_first == NULL) {
        h->card_last = NULL;
    }
    h->card_count--;
    frame->next = NULL;
    relays_left_socket(h, frame);
    return frame;
}

static void work(struct world *w, cw_server s, struct sim_server *h)
{
    h->working = false;
    if (h->state != WORLD_RUNS || h->card_first == NULL) {
        return;
    }
    do { /* without a cost of its own for each frame a turn takes all that have come */
        struct cw_packet *frame = take_from_card(h);
        handle_frame(w, s, h, frame->in, frame);
    } while (!w->busy && h->card_first != NULL && h->state == WORLD_RUNS);
    if (h->card_first != NULL && h->state == WORLD_RUNS) {
        wait_for_processor(w, s, h, false);
    }
}

static void arrive(struct world *w, cw_server s, struct sim_server *h, cw_link port, struct cw_packet *frame)
{
    if (__builtin_expect(h->relay != NULL, 0) && relays_take(w, s, port, frame)) {
        return;
    }
    if (__builtin_expect(h->state == WORLD_RUNS && !w->busy && h->relay == NULL, 1)) {
        handle_frame(w, s, h, port, frame);
    } else if (h->state == WORLD_DEAD) {
        w->totals.flying -= pump_data_packets(frame);
        pump_lose(w, frame, WORLD_LOSS_DEAD);
    } else {
        put_into_card(w, s, h, port, frame);
    }
}

static void runs_in_circles(struct world *w, cw_server s)
{
    const struct upcall_mark *mark = w->config.mark;
    bool known = mark != NULL && mark->last != NULL;
    check_violated(w, 0, 1, &s,
                   "time stands still: %u times at one instant this server woke up, and had more to do%s%s%s%s",
                   WAKES_MAX, known ? "; what it did last was service " : "", known ? mark->last : "",
                   known ? ", in " : "", known ? upcall_name(mark->last_upcall) : "");
}

static void wake(struct world *w, cw_server s, struct sim_server *h, int64_t at_ns)
{
    if (at_ns != h->wake_ns) {
        return; /* it was moved forward after this one was queued */
    }
    h->wake_ns = INT64_MAX;
    if (h->state != WORLD_RUNS) {
        return;
    }
    cw_time local = pump_local(w, h);
    if (!cw_time_due(node_next_wake(h->node), local)) {
        arm(w, s, h);
        return;
    }
    h->wakes = h->woke_ns == w->now.ns ? h->wakes + 1 : 0;
    h->woke_ns = w->now.ns;
    if (h->wakes == WAKES_MAX) {
        runs_in_circles(w, s);
        return;
    }
    pump_after(w, s, node_tick(h->node, local));
}

void pump_resume(struct world *w, cw_server s)
{
    struct sim_server *h = &w->server[s];
    /* As a daemon does after a stall: first hear what the card kept, then judge who is dead (semantics 4.6). */
    if (!w->busy) {
        while (h->card_first != NULL) {
            struct cw_packet *frame = take_from_card(h);
            handle_frame(w, s, h, frame->in, frame);
        }
    } else if (h->card_first != NULL && !h->working) {
        wait_for_processor(w, s, h, true);
    }
    pump_after(w, s, node_tick(h->node, pump_local(w, h)));
}

void pump_event(struct world *w, const struct wheel_event *e)
{
    if (e->order < EVENT_ORDER(0, 0)) {
        struct action *action = e->what;
        struct action now = *action;
        free(action);
        now.fn(w, now.arg);
        return;
    }
    cw_server s = EVENT_SERVER(e->order);
    unsigned kind = EVENT_KIND(e->order);
    struct sim_server *h = &w->server[s];
    if (kind >= EVENT_FRAME && kind < EVENT_FRAME + CW_LINK_COUNT) {
        arrive(w, s, h, (cw_link)(kind - EVENT_FRAME), e->what);
    } else if (kind >= EVENT_POLL && kind < EVENT_POLL + CW_LINK_COUNT) {
        cw_link link = (cw_link)(kind - EVENT_POLL);
        h->polled &= (cw_links)~cw_links_of(link);
        if (h->state == WORLD_RUNS) {
            pump_after(w, s, cw_links_of(link));
        }
    } else if (kind >= EVENT_RELAY && kind < EVENT_RELAY + CW_LINK_COUNT) {
        relays_commit(w, s, (cw_link)(kind - EVENT_RELAY), e->what);
    } else if (kind == EVENT_WAKE) {
        wake(w, s, h, e->at_ns);
    } else if (kind == EVENT_WORK) {
        work(w, s, h);
    } else {
        servers_offload_done(w, s, e->what);
    }
}
