/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.h - the invariants of semantics 8.1 that concern keys, delivery, link state and queues: always on.
 *
 *   at every delivery     4 9 10 20, and 5 for the packet's own key
 *   at every hold        12
 *   at every change of a server's view
 *                        3 6 13 14, and 7 (at most once per CHECK_SPACING of simulated time when there are many servers)
 *   sampled              2 5, by a stream of its own, every CHECK_SAMPLE
 *   every CHECK_SWEEP    8 (conservation: every packet in exactly one place, or ended by exactly one cause)
 *   when quiet           17 (equal databases, routes equal to Floyd and Warshall's on up to CHECK_WARSHALL servers), 10 in full
 *   at open               1 18
 *
 * Rules 15, 16, 19, 22 to 24 are kept inside the node (its own CHECKs) or are shown by experiments.
 *
 * The engine calls these; nothing here changes the world, but to stop it.
 */
#ifndef SIMULATOR_CHECK_H
#define SIMULATOR_CHECK_H

#include "simulator/world.h"

enum {
    CHECK_ALL_SERVERS = 64, /* up to so many, what is quadratic is looked at every time */
    CHECK_ORIGINS = 64,     /* beyond, records of so many origins, drawn by the seed, are followed */
    CHECK_SPACING_US = 1000,
    CHECK_SAMPLE_US = 1000,
    CHECK_SWEEP_US = 100000,
    CHECK_WARSHALL = 64,
};

struct check;

CW_MUST_CHECK int check_open(struct check **out, struct world *w);
void check_close(struct check *c);
size_t check_bytes(const struct check *c);

/* Events of the run. p is borrowed. */
void check_delivered(struct check *c, cw_server s, const struct cw_packet *p, cw_time local);
void check_held(struct check *c, cw_server s, const struct cw_packet *p, cw_time local);
/* The view of s, or its links, changed in the entry that has just ended. */
void check_view(struct check *c, cw_server s);
/* s has just started, or died. */
void check_server(struct check *c, cw_server s);
/* Anything that makes the world less than perfect from now on: calm begins anew. */
void check_disturbed(struct check *c);
/* Time for what is sampled and swept; gives when it wants to be called again. */
cw_time check_due(struct check *c, cw_time now);

/*
 * The world is claimed to be quiet: no fault since long enough, every packet arrived. Checks what must hold then. 0, or 1 and a
 * violation.
 */
CW_MUST_CHECK int check_quiet(struct world *w);

/* Reports a broken invariant and stops the world; the first one counts. servers: who is involved. */
__attribute__((format(printf, 5, 6))) void check_violated(struct world *w, unsigned invariant, unsigned count,
                                                          const cw_server servers[], const char *format, ...);

#endif
