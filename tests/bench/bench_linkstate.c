/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_linkstate.c - what the link state costs: a whole cluster boots at one instant, then one server dies and comes
 * back.
 *
 * Simulated: links of 1 Gb/s with 20 us of delay, control only, default timers. Printed: simulated time until every
 * server serves and sees all, the part of that that bare flooding would take (diameter hops), control bytes of the
 * busiest link beside what the link could carry meanwhile, and the processor's time.
 */
#include "base/heap.h"
#include "linkstate/linkstate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROOM = 1492, OVERHEAD = 8 + 14 + 24, DELAY_NS = 20000, NS_PER_BYTE = 8 };

struct frame {
    struct frame *next;
    cw_time at;
    struct frame_head head;
    uint16_t size;
    uint8_t bytes[];
};

struct slot {
    struct heap_entry entry;
    cw_server server;
    uint8_t what; /* 0 tick, 1..6 room on a link, 7..12 arrival of what a link carries */
};

struct pipe {
    struct frame *first, *last;
    cw_time free_at;
    uint64_t bytes;
};

struct world {
    struct torus torus;
    cw_server *neighbours;
    struct linkstate **ls;
    struct pipe *pipes;
    struct slot *slots;
    struct heap heap;
    void *memory;
    uint64_t sequence, frames;
    cw_time now;
};

static void schedule(struct world *w, struct slot *slot, cw_time at)
{
    at = cw_time_max(at, w->now);
    if (at.ns == CW_NEVER.ns) {
        return;
    }
    if (heap_is_queued(&slot->entry)) {
        heap_adjust(&w->heap, &slot->entry, at, w->sequence++);
    } else {
        CHECK(heap_insert(&w->heap, &slot->entry, at, w->sequence++) == 0);
    }
}

static void after(struct world *w, cw_server s)
{
    struct slot *slots = &w->slots[s * 13];
    schedule(w, &slots[0], ls_next_wake(w->ls[s]));
    cw_links links = ls_tx_links(w->ls[s]);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        if ((links & cw_links_of(link)) && !heap_is_queued(&slots[1 + link].entry)) {
            schedule(w, &slots[1 + link], w->pipes[s * CW_LINK_COUNT + link].free_at);
        }
    }
}

static void transmit(struct world *w, cw_server s, cw_link link)
{
    uint8_t bytes[ROOM], packets;
    size_t size = ls_pull(w->ls[s], link, bytes, sizeof bytes, &packets, w->now);
    if (size > 0) {
        struct pipe *pipe = &w->pipes[s * CW_LINK_COUNT + link];
        struct frame *frame = malloc(sizeof *frame + size);
        CHECK(frame != NULL);
        frame->next = NULL;
        frame->head = (struct frame_head){.packets = packets};
        frame->size = (uint16_t)size;
        memcpy(frame->bytes, bytes, size);
        ls_stamp(w->ls[s], link, &frame->head);
        pipe->free_at = cw_time_add(w->now, CW_NS((size + OVERHEAD) * NS_PER_BYTE));
        pipe->bytes += size + OVERHEAD;
        frame->at = cw_time_add(pipe->free_at, CW_NS(DELAY_NS));
        w->frames++;
        if (pipe->first == NULL) {
            pipe->first = frame;
            schedule(w, &w->slots[s * 13 + 7 + link], frame->at);
        } else {
            pipe->last->next = frame;
        }
        pipe->last = frame;
    }
    after(w, s);
}

static void arrive(struct world *w, cw_server from, cw_link by)
{
    struct pipe *pipe = &w->pipes[from * CW_LINK_COUNT + by];
    struct frame *frame = pipe->first;
    pipe->first = frame->next;
    if (pipe->first != NULL) {
        schedule(w, &w->slots[from * 13 + 7 + by], pipe->first->at);
    }
    cw_server s = w->neighbours[from * CW_LINK_COUNT + by];
    cw_link in = cw_link_opposite(by);
    if (w->ls[s] != NULL) {
        (void)ls_frame(w->ls[s], in, &frame->head, w->now);
        for (size_t at = 0, length; at < frame->size; at += length) {
            length = (size_t)frame->bytes[at + 2] << 8 | frame->bytes[at + 3];
            CHECK(ls_control(w->ls[s], in, frame->bytes + at, length, w->now) == WIRE_OK);
        }
        after(w, s);
    }
    free(frame);
}

static void boot(struct world *w, cw_server s, uint64_t incarnation)
{
    struct ls_config config = {
        .torus = w->torus,
        .neighbours = w->neighbours,
        .self = s,
        .incarnation = incarnation,
        .seed = 1,
        .timers = ls_timers_default(),
    };
    CHECK(ls_open(&w->ls[s], &config) == 0);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        ls_carrier(w->ls[s], link, true, w->now);
    }
    after(w, s);
}

static void step(struct world *w)
{
    struct heap_entry *entry = heap_pop(&w->heap);
    struct slot *slot = container_of(entry, struct slot, entry);
    w->now = entry->at;
    if (slot->what >= 7) {
        arrive(w, slot->server, (cw_link)(slot->what - 7));
    } else if (w->ls[slot->server] == NULL) {
        return;
    } else if (slot->what == 0) {
        ls_tick(w->ls[slot->server], w->now);
        after(w, slot->server);
    } else {
        transmit(w, slot->server, (cw_link)(slot->what - 1));
    }
}

static bool agreed(struct world *w)
{
    for (cw_server s = 0; s < w->torus.servers; s++) {
        if (w->ls[s] == NULL || !ls_serving(w->ls[s], w->now) || ls_committed(w->ls[s])->members != w->torus.servers) {
            return false;
        }
    }
    return true;
}

/* Runs until all agree; looks every 100 us. */
static double until_agreed(struct world *w)
{
    cw_time start = w->now;
    for (cw_time look = start; !agreed(w); look = cw_time_add(look, CW_US(100))) {
        while (heap_min_time(&w->heap).ns <= look.ns) {
            step(w);
        }
    }
    return (double)(w->now.ns - start.ns) / 1e6;
}

static void world_open(struct world *w, cw_dims dims)
{
    memset(w, 0, sizeof *w);
    CHECK(torus_init(&w->torus, dims) == 0);
    uint32_t n = w->torus.servers;
    w->neighbours = malloc(n * CW_LINK_COUNT * sizeof *w->neighbours);
    w->ls = calloc(n, sizeof(struct linkstate *));
    w->pipes = calloc(n * CW_LINK_COUNT, sizeof *w->pipes);
    w->slots = calloc(n * 13, sizeof *w->slots);
    w->memory = malloc(heap_size(n * 13));
    CHECK(w->neighbours != NULL && w->ls != NULL && w->pipes != NULL && w->slots != NULL && w->memory != NULL);
    heap_init(&w->heap, w->memory, n * 13);
    for (cw_server s = 0; s < n; s++) {
        for (uint8_t what = 0; what < 13; what++) {
            w->slots[s * 13 + what].server = s;
            w->slots[s * 13 + what].what = what;
        }
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            w->neighbours[s * CW_LINK_COUNT + link] = torus_neighbour(&w->torus, s, link);
        }
    }
}

static void world_close(struct world *w)
{
    for (cw_server s = 0; s < w->torus.servers; s++) {
        ls_close(w->ls[s]);
    }
    for (uint32_t i = 0; i < w->torus.servers * CW_LINK_COUNT; i++) {
        for (struct frame *frame = w->pipes[i].first, *next; frame != NULL; frame = next) {
            next = frame->next;
            free(frame);
        }
    }
    free(w->neighbours);
    free(w->ls);
    free(w->pipes);
    free(w->slots);
    free(w->memory);
}

static void report(struct world *w, const char *what, double ms, clock_t spent)
{
    uint64_t most = 0, counts[LS_COUNTERS] = {0};
    size_t bytes = 0;
    for (uint32_t i = 0; i < w->torus.servers * CW_LINK_COUNT; i++) {
        most = w->pipes[i].bytes > most ? w->pipes[i].bytes : most;
        w->pipes[i].bytes = 0;
    }
    for (cw_server s = 0; s < w->torus.servers; s++) {
        for (int i = 0; i < LS_COUNTERS; i++) {
            counts[i] += ls_count(w->ls[s], (enum ls_counter)i);
        }
        bytes = ls_bytes(w->ls[s]) > bytes ? ls_bytes(w->ls[s]) : bytes;
    }
    double flood_ms = torus_diameter(&w->torus) * (DELAY_NS + 100 * NS_PER_BYTE) / 1e6;
    printf("%5u servers, %-10s %8.2f ms = %5.1f floods; busiest link %8.1f KB = %5.1f %% of it; %7.2f s of processor, "
           "%llu frames, "
           "versions %llu, rounds %llu, acks lost %llu, teardowns %llu, memory %zu KB\n",
           w->torus.servers, what, ms, ms / flood_ms, (double)most / 1e3, (double)most * NS_PER_BYTE / (ms * 1e6) * 100,
           (double)spent / CLOCKS_PER_SEC, (unsigned long long)w->frames, (unsigned long long)counts[LS_VERSIONS],
           (unsigned long long)counts[LS_ADMISSIONS], (unsigned long long)counts[LS_ACKS_LOST],
           (unsigned long long)counts[LS_TEARDOWNS], bytes / 1024);
    w->frames = 0;
    fflush(stdout);
}

static void measure(cw_dims dims)
{
    struct world w;
    world_open(&w, dims);
    clock_t start = clock();
    for (cw_server s = 0; s < w.torus.servers; s++) {
        boot(&w, s, 1000 + s);
    }
    double ms = until_agreed(&w);
    report(&w, "cold start", ms, clock() - start);
    ls_close(w.ls[0]);
    w.ls[0] = NULL;
    while (w.now.ns < 1000000000) {
        step(&w);
    }
    for (uint32_t i = 0; i < w.torus.servers * CW_LINK_COUNT; i++) {
        w.pipes[i].bytes = 0;
    }
    w.frames = 0;
    start = clock();
    boot(&w, 0, 100000);
    ms = until_agreed(&w);
    report(&w, "one comes", ms, clock() - start);
    world_close(&w);
}

int main(int argc, char **argv)
{
    bool smoke = argc > 1 && strcmp(argv[1], "--smoke") == 0;
    measure((cw_dims){3, 3, 3});
    if (!smoke) {
        measure((cw_dims){8, 8, 8});
        if (argc > 1 && strcmp(argv[1], "--large") == 0) {
            measure((cw_dims){16, 16, 16});
        }
    }
    return 0;
}
