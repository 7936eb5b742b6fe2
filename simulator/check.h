/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.h - the invariants of semantics 8.1 that concern keys, delivery, link state and queues: always on.
 *
 *   at open                1 (the 48 sequences are permutations), 18 (timers)
 *   at every delivery      4 (misdelivery, zombies), 10 (hop budget; in a perfect world exactly the distance), 20 (a
 *                          fenced server delivers nothing), and 9 for every packet up to CHECK_ALL_SERVERS servers,
 *                          beyond for a share drawn by the packets' own hash
 *   at every hold          12 (nobody is held longer than hold + 200 ms)
 *   at every change of what a server knows
 *                          3 (roots change only by who came or went), 6 (C inside O), 13 and 14 (versions of records),
 *                          15
 *   at every change of who is connected
 *                          7 (everybody active of the component is in O); with more servers than CHECK_ALL_SERVERS at
 *                          most once per CHECK_SAMPLE_US
 *   every CHECK_SAMPLE_US  2 (roots equal a naive reference), 5 (nobody else may deliver), for a random key
 *   every CHECK_SWEEP_US   8 (every packet is in one place, or ended by one cause)
 *   check_quiet()          8, 17 (databases, digests and views equal the truth; routes equal Floyd and Warshall's)
 *
 * 11, 16, 19 and 22 to 24 are kept by CHECKs inside the node or shown by experiments; a breach of 11, 16 or 19 shows
 * here as 4, 7 or 10. The engine calls these functions; none of them changes the world but by stopping it.
 */
#ifndef SIMULATOR_CHECK_H
#define SIMULATOR_CHECK_H

#include "simulator/world.h"

enum {
    CHECK_ALL_SERVERS = 64, /* up to so many, what is quadratic is looked at every time */
    CHECK_ORIGINS = 64,     /* beyond, the records of so many origins, drawn by the seed, are followed */
    CHECK_ORIGINS_EACH = 4, /* of these so many in turn whenever a server has learned something */
    CHECK_SAMPLE_US = 1000,
    CHECK_SWEEP_US = 100 * 1000,
};

struct check;

CW_MUST_CHECK int check_open(struct check **out, struct world *w);
void check_close(struct check *c);
size_t check_bytes(const struct check *c);

/* A packet reaches a service of s as its destination; local is the clock of s, id tells packets apart (0: cannot). */
void check_delivered(struct check *c, cw_server s, const struct cw_packet *p, uint64_t id, cw_time local);
void check_held(struct check *c, cw_server s, const struct cw_packet *p, cw_time local);
/* An entry of s has ended; connected: it changed what the oracle knows. */
void check_view(struct check *c, cw_server s, bool connected);
/* s has just started, or died. */
void check_server(struct check *c, cw_server s);
/* The world is less than perfect from now on: servers, cables, wires. */
void check_disturbed(struct check *c);
/* Begins what is sampled and swept. */
void check_begin(struct check *c);

/*
 * Conservation, now (invariant 8). 0, or 1 and a violation.
 */
int check_conservation(struct world *w);
/*
 * The world is claimed to be quiet: no fault for long enough, no workload, every packet arrived. Checks what must hold
 * then. 0, or 1 and a violation.
 */
CW_MUST_CHECK int check_quiet(struct world *w);

/* Reports a broken invariant and stops the world; the first one counts. servers: who is involved. */
__attribute__((format(printf, 5, 6))) void check_violated(struct world *w, unsigned invariant, unsigned count,
                                                          const cw_server servers[], const char *format, ...);

#endif
