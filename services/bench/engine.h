/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.h - what bench does between its commands: sends packets, takes packets, and counts both.
 *
 * The service's state is one struct engine, zeroed by the host. bench.c reads and answers the commands.
 */
#ifndef SERVICES_BENCH_ENGINE_H
#define SERVICES_BENCH_ENGINE_H

#include "services/bench/bench.h"
#include "services/bench/pace.h"
#include "services/bench/window.h"

/* One direction of traffic with the neighbour over a link, in order by nature. */
struct engine_link {
    uint32_t number; /* of the next packet out */
    struct window window;
    uint64_t bits[1];
    int64_t missing;
    struct bench_link_stats stats; /* lost is reckoned from missing when asked for */
};

struct engine {
    struct bench_plan plan; /* mode BENCH_IDLE: nothing is sent */
    uint32_t run;
    cw_server self, servers;
    uint32_t width; /* of the windows of senders, bits */
    struct pace pace;
    cw_timer *timer;
    cw_links used;     /* links: those that are kept full */
    uint32_t number;   /* keys: of the next packet out */
    uint32_t *numbers; /* all: the same for every destination; NULL until a run is tracked */
    /* all, without numbers: packets made in this tick. The time tells those of two ticks apart. */
    uint32_t at_once;
    struct window *windows; /* of every sender; NULL until a tracked packet comes */
    uint64_t *bits;
    int64_t missing;
    struct bench_stats stats;
    struct engine_link link[CW_LINK_COUNT];
    void (*told)(void *context, const cw_rx *rx, uint32_t number); /* NULL: nobody watches */
    void *told_context;
};

int engine_open(cw_svc *s, struct engine *e);
void engine_close(cw_svc *s, struct engine *e);

/* As in struct bench_api. */
int engine_start(cw_svc *s, struct engine *e, const struct bench_plan *plan);
void engine_stop(cw_svc *s, struct engine *e);
void engine_reset(struct engine *e);
void engine_stats(const struct engine *e, struct bench_stats *out);
void engine_link_stats(const struct engine *e, cw_link link, struct bench_link_stats *out);

/* The upcalls. */
cw_verdict engine_packet(struct engine *e, cw_packet *p, const cw_rx *rx, cw_time now);
void engine_writable(cw_svc *s, struct engine *e);
void engine_link_up(cw_svc *s, struct engine *e);
cw_packet *engine_next_packet(cw_svc *s, struct engine *e, cw_link link);

#endif
