/* SPDX-License-Identifier: Apache-2.0 */
#include "ls_world.h"

#include "wire/frame.h"
#include "wire/goodbye.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum {
    RING_FRAMES = 512,       /* what a network card keeps for a daemon that does not look */
    INSTANT_EVENTS = 200000, /* more than this without time moving is a livelock */
};

void world_fail(struct world *w, const char *format, ...)
{
    if (w->failure[0] != '\0') {
        return;
    }
    va_list args;
    va_start(args, format);
    (void)vsnprintf(w->failure, sizeof w->failure, format, args);
    va_end(args);
    world_trace(w, "FAILED %s", w->failure);
}

void world_trace(struct world *w, const char *format, ...)
{
    if (w->trace == NULL) {
        return;
    }
    va_list args;
    va_start(args, format);
    fprintf(w->trace, "%12.3f us  ", (double)w->now.ns / 1e3);
    (void)vfprintf(w->trace, format, args);
    fputc('\n', w->trace);
    va_end(args);
}

void world_schedule(struct world *w, struct slot *slot, cw_time at)
{
    at = cw_time_max(at, w->now);
    if (at.ns == CW_NEVER.ns) {
        if (heap_is_queued(&slot->entry)) {
            heap_remove(&w->heap, &slot->entry);
        }
        return;
    }
    if (heap_is_queued(&slot->entry)) {
        if (slot->entry.at.ns != at.ns) {
            heap_adjust(&w->heap, &slot->entry, at, w->sequence++);
        }
    } else {
        CHECK(heap_insert(&w->heap, &slot->entry, at, w->sequence++) == 0);
    }
}

/* ---- Servers ----------------------------------------------------------------------------------------------------- */

void world_show_light(struct world *w, cw_server s, cw_link link)
{
    bool dark = world_pipe(w, world_peer(w, s, link), cw_link_opposite(link))->dark;
    ls_carrier(world_ls(w, s), link, !dark, w->now);
}

void world_boot(struct world *w, cw_server s)
{
    struct server *server = &w->servers[s];
    bool same_low = prng_chance(&w->chance, w->knobs.same_low, 100);
    server->incarnation += same_low ? 65536 : 1 + prng_below(&w->chance, 1000);
    struct ls_config config = {
        .torus = w->torus,
        .neighbours = w->neighbours,
        .self = s,
        .cluster = 7,
        .config_hash = 9,
        .incarnation = server->incarnation,
        .seed = w->seed,
        .alone = w->knobs.alone,
        .timers = w->knobs.timers,
    };
    CHECK(ls_open(&server->ls, &config) == 0);
    server->paused = server->leaving = false;
    world_trace(w, "server %u boots, incarnation %llu", s, (unsigned long long)server->incarnation);
    oracle_booted(w, s);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        if (torus_links(&w->torus) & cw_links_of(link)) {
            world_show_light(w, s, link);
        }
    }
    world_after(w, s);
}

static void free_frames(struct frame *frame)
{
    while (frame != NULL) {
        struct frame *next = frame->next;
        free(frame);
        frame = next;
    }
}

static void push_frame(struct world *w, cw_server s, cw_link link, struct frame *frame)
{
    struct pipe *pipe = world_pipe(w, s, link);
    bool spike = prng_chance(&w->delays, w->knobs.spikes, 1000);
    cw_span delay = spike ? w->knobs.delay_most : prng_span(&w->delays, CW_NS(pipe->delay.ns / 2), pipe->delay);
    frame->in = cw_link_opposite(link);
    frame->next = NULL;
    frame->sent = w->now;
    frame->at = cw_time_max(cw_time_add(w->now, delay), pipe->last_at);
    w->frames++;
    if (pipe->cut || prng_chance(&w->delays, w->knobs.loss, 1000)) {
        free(frame);
        return;
    }
    pipe->last_at = frame->at;
    if (pipe->first == NULL) {
        pipe->first = frame;
        world_schedule(w, &pipe->arrival, frame->at);
    } else {
        pipe->last->next = frame;
    }
    pipe->last = frame;
}

void world_drop_pipe(struct world *w, cw_server s, cw_link link)
{
    struct pipe *pipe = world_pipe(w, s, link);
    free_frames(pipe->first);
    pipe->first = pipe->last = NULL;
    world_schedule(w, &pipe->arrival, CW_NEVER);
}

/* What a supervisor sends when its daemon has died: it keeps the sessions where it can find them. */
static void say_goodbyes(struct world *w, cw_server s, const struct linkstate *ls)
{
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        const struct adjacency *adj = &ls->links[link].adj;
        if (adj->state < ADJ_INIT) {
            continue;
        }
        struct frame *frame = calloc(1, sizeof *frame);
        CHECK(frame != NULL);
        frame->head.packets = 1;
        frame->size = GOODBYE_BYTES;
        goodbye_encode(&(struct goodbye){adj->session, ls_incarnation(ls), torus_coord(&w->torus, s), GOODBYE_DIED},
                       frame->bytes);
        push_frame(w, s, link, frame);
    }
}

void world_kill(struct world *w, cw_server s, bool announced)
{
    struct server *server = &w->servers[s];
    world_trace(w, "server %u dies%s", s, announced ? ", announced" : "");
    if (announced) {
        say_goodbyes(w, s, server->ls);
    }
    for (unsigned i = 0; i < LS_COUNTERS; i++) {
        w->counts[i] += ls_count(server->ls, (enum ls_counter)i);
    }
    server->incarnation = ls_incarnation(server->ls);
    ls_close(server->ls);
    server->ls = NULL;
    server->paused = false;
    free_frames(server->ring);
    server->ring = server->ring_last = NULL;
    server->ring_count = 0;
    w->moved = true;
    world_schedule(w, &server->tick, CW_NEVER);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        free_frames(server->gate[link]);
        server->gate[link] = NULL;
        world_schedule(w, &world_pipe(w, s, link)->tx, CW_NEVER);
    }
}

void world_after(struct world *w, cw_server s)
{
    struct server *server = &w->servers[s];
    if (server->ls == NULL || server->paused) {
        return;
    }
    oracle_entered(w, s);
    if (prng_chance(&w->chance, w->knobs.asked, 100)) {
        ls_refresh(server->ls, w->now);
        oracle_entered(w, s);
    }
    world_schedule(w, &server->tick, ls_next_wake(server->ls));
    cw_links links = ls_tx_links(server->ls);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        struct pipe *pipe = world_pipe(w, s, link);
        if ((links & cw_links_of(link)) && !heap_is_queued(&pipe->tx.entry)) {
            world_schedule(w, &pipe->tx, pipe->free_at);
        }
    }
}

/* ---- Frames ------------------------------------------------------------------------------------------------------ */

/* Control, if there is any; data when no control waits and the link is up. NULL: nothing. */
static struct frame *pull_frame(struct world *w, cw_server s, cw_link link)
{
    struct linkstate *ls = world_ls(w, s);
    struct frame *frame = calloc(1, sizeof *frame);
    CHECK(frame != NULL);
    size_t room = prng_chance(&w->chance, w->knobs.small, 100) ? 240 : FRAME_BYTES;
    frame->size = ls_pull(ls, link, frame->bytes, room, &frame->head.packets, w->now);
    oracle_entered(w, s);
    if (!(ls_tx_links(ls) & cw_links_of(link)) && prng_chance(&w->chance, 1, 3)) {
        ls_refresh(ls, w->now); /* whoever sends data has looked at the views */
        oracle_entered(w, s);
        cw_links control = ls_tx_links(ls) | ls_owed_links(ls);
        frame->data = !(control & cw_links_of(link)) && (ls_up_links(ls) & cw_links_of(link));
    }
    if (frame->size == 0 && !frame->data) {
        free(frame);
        return NULL;
    }
    ls_stamp(ls, link, &frame->head);
    if (frame->data) {
        oracle_stamp(w, s, link, frame);
    }
    return frame;
}

static void transmit(struct world *w, cw_server s, cw_link link)
{
    struct pipe *pipe = world_pipe(w, s, link);
    if (w->servers[s].ls == NULL || w->servers[s].paused) {
        return;
    }
    struct frame *frame = pull_frame(w, s, link);
    if (frame != NULL) {
        pipe->free_at = cw_time_add(w->now, prng_span(&w->delays, CW_US(1), w->knobs.tx));
        push_frame(w, s, link, frame);
    }
    world_after(w, s);
}

/* Data that waited goes on when the control before it is here. */
static void try_gate(struct world *w, cw_server s, cw_link link)
{
    struct frame *frame = w->servers[s].gate[link];
    if (frame == NULL) {
        return;
    }
    enum ls_gate gate = ls_gate_again(world_ls(w, s), link, &frame->head);
    if (gate == LS_WAIT) {
        return;
    }
    w->servers[s].gate[link] = NULL;
    if (gate == LS_PASS) {
        oracle_passed(w, s, frame);
    }
    free(frame);
}

static void receive(struct world *w, cw_server s, struct frame *frame)
{
    struct server *server = &w->servers[s];
    cw_link link = frame->in;
    struct linkstate *ls = server->ls;
    (void)ls_frame(ls, link, &frame->head, w->now);
    oracle_entered(w, s);
    size_t at = 0;
    while (at < frame->size) {
        size_t size = (size_t)frame->bytes[at + 2] << 8 | frame->bytes[at + 3];
        enum wire_reason reason = ls_control(ls, link, frame->bytes + at, size, w->now);
        if (reason != WIRE_OK) {
            world_fail(w, "server %u refuses a control packet: %s", s, wire_reason_name(reason));
        }
        oracle_entered(w, s);
        at += size;
    }
    oracle_heard(w, s, frame);
    try_gate(w, s, link);
    if (frame->data) {
        enum ls_gate gate = ls_gate_again(ls, link, &frame->head);
        if (gate == LS_PASS) {
            oracle_passed(w, s, frame);
        } else if (gate == LS_WAIT && server->gate[link] == NULL) {
            w->waits++;
            server->gate[link] = frame;
            frame = NULL;
        }
    }
    free(frame);
    world_after(w, s);
}

static void arrive(struct world *w, cw_server from, cw_link by)
{
    struct pipe *pipe = world_pipe(w, from, by);
    struct frame *frame = pipe->first;
    pipe->first = frame->next;
    if (pipe->first == NULL) {
        pipe->last = NULL;
    } else {
        world_schedule(w, &pipe->arrival, pipe->first->at);
    }
    frame->next = NULL;
    cw_server s = world_peer(w, from, by);
    struct server *server = &w->servers[s];
    if (server->ls == NULL || (server->paused && server->ring_count == RING_FRAMES)) {
        free(frame);
        return;
    }
    if (!server->paused) {
        receive(w, s, frame);
        return;
    }
    if (server->ring == NULL) {
        server->ring = frame;
    } else {
        server->ring_last->next = frame;
    }
    server->ring_last = frame;
    server->ring_count++;
}

void world_resume(struct world *w, cw_server s)
{
    struct server *server = &w->servers[s];
    if (server->ls == NULL || !server->paused) {
        return;
    }
    world_trace(w, "server %u goes on", s);
    server->paused = false;
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        world_show_light(w, s, link);
    }
    if (prng_chance(&w->chance, 1, 2)) {
        ls_tick(server->ls, w->now); /* either the timer or the ring is looked at first */
        oracle_entered(w, s);
        oracle_look(w);
    }
    struct frame *frame = server->ring;
    server->ring = server->ring_last = NULL;
    server->ring_count = 0;
    while (frame != NULL) {
        struct frame *next = frame->next;
        frame->next = NULL;
        receive(w, s, frame);
        oracle_look(w);
        frame = next;
    }
    world_after(w, s);
}

/* ---- Time -------------------------------------------------------------------------------------------------------- */

static void happen(struct world *w, struct slot *slot)
{
    switch (slot->kind) {
    case SLOT_TICK:
        if (!w->servers[slot->server].paused) {
            ls_tick(world_ls(w, slot->server), w->now);
            world_after(w, slot->server);
        }
        break;
    case SLOT_ARRIVAL:
        arrive(w, slot->server, slot->link);
        break;
    case SLOT_TX:
        transmit(w, slot->server, slot->link);
        break;
    case SLOT_FAULT:
        faults_strike(w);
        faults_next(w);
        break;
    case SLOT_REPAIR:
        faults_repair(w, slot);
        break;
    }
}

static void run_until(struct world *w, cw_time end)
{
    while (w->failure[0] == '\0') {
        struct heap_entry *entry = heap_min(&w->heap);
        if (entry == NULL || entry->at.ns > end.ns) {
            break;
        }
        (void)heap_pop(&w->heap);
        w->same_instant = entry->at.ns > w->now.ns ? 0 : w->same_instant + 1;
        w->now = entry->at;
        w->events++;
        if (w->same_instant > INSTANT_EVENTS) {
            world_fail(w, "time stands still");
        }
        happen(w, container_of(entry, struct slot, entry));
        oracle_look(w);
    }
    w->now = w->failure[0] == '\0' ? end : w->now;
}

static void build(struct world *w)
{
    CHECK(torus_init(&w->torus, w->knobs.dims) == 0 && w->torus.servers <= WORLD_SERVERS);
    uint32_t slots = w->torus.servers * (2 + 2 * CW_LINK_COUNT) + REPAIRS + 1;
    w->heap_memory = malloc(heap_size(slots));
    CHECK(w->heap_memory != NULL);
    heap_init(&w->heap, w->heap_memory, slots);
    w->fault.kind = SLOT_FAULT;
    for (unsigned i = 0; i < REPAIRS; i++) {
        w->repairs[i].slot.kind = SLOT_REPAIR;
    }
    for (cw_server s = 0; s < w->torus.servers; s++) {
        struct server *server = &w->servers[s];
        server->incarnation = 1000 + prng_below(&w->chance, 100000);
        server->tick = (struct slot){.kind = SLOT_TICK, .server = s};
        server->repair = (struct slot){.kind = SLOT_REPAIR, .server = s};
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            w->neighbours[s * CW_LINK_COUNT + link] = torus_neighbour(&w->torus, s, link);
            struct pipe *pipe = world_pipe(w, s, link);
            pipe->arrival = (struct slot){.kind = SLOT_ARRIVAL, .server = s, .link = link};
            pipe->tx = (struct slot){.kind = SLOT_TX, .server = s, .link = link};
        }
    }
}

/* Long enough for the longest rest, some rounds, and whatever was held. */
static cw_span patience(const struct world *w)
{
    const struct ls_timers *t = &w->knobs.timers;
    return CW_NS(2 * t->damp_max.ns + 3 * t->pending_limit.ns + 10 * t->hold.ns + 20 * t->hello.ns);
}

void world_run(struct world *w, uint64_t seed, bool delivery_only, FILE *trace)
{
    *w = (struct world){.seed = seed, .delivery_only = delivery_only, .trace = trace};
    w->chance = prng_stream(seed, 0, 1);
    w->delays = prng_stream(seed, 0, 2);
    faults_draw(w);
    build(w);
    w->breaking = true;
    for (cw_server s = 0; s < w->torus.servers; s++) {
        if (prng_chance(&w->chance, 3, 4)) {
            world_boot(w, s);
        } else {
            world_schedule(w, &w->servers[s].repair, CW_NEVER);
            world_schedule(w, &w->servers[s].repair,
                           cw_time_add(w->now, prng_span(&w->chance, CW_NS(0), w->knobs.timers.hold)));
        }
    }
    faults_next(w);
    run_until(w, (cw_time){w->knobs.fault_phase.ns});
    w->breaking = false;
    faults_heal(w);
    cw_time end = cw_time_add(w->now, patience(w));
    const char *why = "";
    while (w->failure[0] == '\0' && !oracle_agreed(w, &why)) {
        if (w->now.ns >= end.ns) {
            world_fail(w, "no agreement after healing: %s", why);
            break;
        }
        run_until(w, cw_time_add(w->now, w->knobs.timers.hold));
    }
}

void world_close(struct world *w)
{
    w->trace = NULL;
    for (cw_server s = 0; s < w->torus.servers; s++) {
        if (w->servers[s].ls != NULL) {
            world_kill(w, s, false);
        }
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            free_frames(world_pipe(w, s, link)->first);
        }
    }
    oracle_close(w);
    free(w->heap_memory);
}
