/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ls_bench.h - a few link states and the cables between them, carried by hand: frames take no time and arrive unless
 * the cable is cut or a filter takes them, so that every instant in a test follows from the timers alone.
 */
#ifndef LS_BENCH_H
#define LS_BENCH_H

#include "linkstate/internal.h"
#include "wire/goodbye.h"
#include "wire/hello.h"
#include "wire/stream.h"

enum { LS_BENCH_SERVERS = 8, LS_BENCH_BYTES = 1500 };

/* One frame: its head, and its control packets one behind the other. */
struct note {
    struct frame_head head;
    uint8_t bytes[LS_BENCH_BYTES];
    size_t size; /* 0: nothing was said */
};

struct ls_bench {
    struct torus torus;
    cw_server neighbours[LS_BENCH_SERVERS * CW_LINK_COUNT];
    struct ls_timers timers;
    struct linkstate *ls[LS_BENCH_SERVERS];
    cw_links cut[LS_BENCH_SERVERS]; /* by sender: frames sent on these are lost */
    cw_time now;
    unsigned frames; /* carried or lost */
};

/* Default timers, nobody booted. */
void ls_bench_open(struct ls_bench *b, cw_dims dims);
void ls_bench_close(struct ls_bench *b);

struct ls_config ls_bench_config(const struct ls_bench *b, cw_server s, uint64_t incarnation);
/* Opens it, without light on any cable. */
void ls_bench_boot(struct ls_bench *b, cw_server s, uint64_t incarnation);
/* Both ends see light on the cable, or none. */
void ls_bench_light(struct ls_bench *b, cw_server s, cw_link link, bool on);
/* Loses what is sent on the cable, either way, or no longer. */
void ls_bench_cut(struct ls_bench *b, cw_server s, cw_link link, bool cut);

/* One frame of control, if there is any to send now. */
struct note ls_bench_pull(struct ls_bench *b, cw_server s, cw_link link);
/* Gives a frame to whom the cable leads to; the gate's answer after its control. */
enum ls_gate ls_bench_give(struct ls_bench *b, cw_server from, cw_link link, const struct note *note);
/* Gives one control packet to a server: refused ones leave no trace. */
enum wire_reason ls_bench_control(struct ls_bench *b, cw_server to, cw_link link, const void *bytes, size_t size);
/* Carries frames until nobody has anything to say at this instant. */
void ls_bench_flow(struct ls_bench *b);
/* Flows, and ticks everybody whenever they want it, up to and including the instant. */
void ls_bench_run(struct ls_bench *b, cw_time until);
void ls_bench_run_for(struct ls_bench *b, cw_span span);

/* Servers 0 and 1 of a 2x1x1 torus, joined by link 0 of server 0, committed and at rest at 100 ms. */
void ls_bench_pair(struct ls_bench *b);

/* The hello, and the first stream packet, of a note; fails the test when there is none. */
struct hello ls_bench_hello(const struct note *note);
struct stream ls_bench_stream(const struct note *note);

static inline enum adjacency_state ls_bench_state(const struct ls_bench *b, cw_server s, cw_link link)
{
    return b->ls[s]->links[link].adj.state;
}

static inline cw_time ls_bench_ms(int64_t ms)
{
    return (cw_time){ms * 1000000};
}

#endif
