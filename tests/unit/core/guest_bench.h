/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guest_bench.h - attached processes on the nodes of a bench: two jobs of them, whose host is the probe, and their
 * records.
 */
#ifndef UNIT_CORE_GUEST_BENCH_H
#define UNIT_CORE_GUEST_BENCH_H

#include "jobs.h"
#include "node_bench.h"

/* Attached processes of these jobs. */
enum { A = 5000, B, JOBS, PORT = 7, LIMIT = 100 };

/* The records of the probe, A and B. Nodes take them when they start, and from put(). */
extern struct plain_job job[3];
/*
 * Processes 10.. of A and B live on servers 0.., as process s does of the probe; 20 and 21 of A on server 1, too. All
 * may do everything.
 */
void draw_jobs(void);
/* The next version of that record, on all servers. */
void put(struct bench *b, struct plain_job *changed);

/* A guest that notes what it is told. */
struct visitor {
    cw_svc *svc;
    unsigned packets, writable, ends, replies;
    int why, status;
    cw_rx rx;
    struct guest_said said;
    size_t length;
    uint32_t right;
    bool answers, closes, keeps, again;
    struct visitor *takes_along; /* closed by the next packet that comes */
    unsigned stranded;           /* packets of that one that were just being decided anew */
    const struct guests_desk *desk;
};
extern const struct guest_table visiting;

/* Lets it in at that server, as guests_desk.open() does. */
int open_at(struct bench *b, cw_server s, cw_job who, cw_process process, struct visitor *v);
/* A bench whose servers take guests, by the records as they are; and one of three servers that run. */
struct bench *open_town(cw_dims dims);
struct bench *hosting(void);

cw_to to_process(struct bench *b, cw_server s, cw_job who, cw_process process);
/* The result of cw_send(). */
int say(struct bench *b, cw_svc *svc, const cw_to *to, size_t length);
/* The result of cw_call(). */
int64_t ask(struct bench *b, struct visitor *v, const cw_to *to, const cw_call_options *options);
/* Sends until there is no room; gives how many were taken. */
unsigned fill(struct bench *b, cw_svc *svc, const cw_to *to, size_t length);
void pump(struct bench *b);

#endif
