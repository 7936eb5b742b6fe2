/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.h - the invariants of semantics 8.1 that concern keys, delivery, link state and queues: always on.
 *
 *   at open                1 (the 48 sequences are permutations), 18 (timers)
 *   at every delivery      4 (misdelivery, zombies), 10 (hop budget; in a perfect world exactly the distance), 20 (a
 *                          fenced server delivers nothing), and 9 (nothing is delivered twice): up to
 *                          CHECK_ALL_SERVERS servers for every packet, beyond for a share of the packets
 *   at every hold          12 (no packet is held longer than hold + 200 ms)
 *   when a server learns   3 (roots change only by servers that came or went), 6 (C is inside O), 13 and 14 (versions
 *                          of records), 15 (data uses links that both records list)
 *   when links come or go  7 (all active servers of a component are in each other's O); with more servers than
 *                          CHECK_ALL_SERVERS at most once in CHECK_SAMPLE_US
 *   every CHECK_SAMPLE_US  for a random key: 2 (its root equals a naive reference's), 5 (no two may deliver it)
 *   every CHECK_SWEEP_US   8 (every packet is in one place, or was ended by one cause)
 *   check_quiet()          8, 17 (databases, digests and views equal the truth; routes equal Floyd and Warshall's)
 *
 * Invariants 11, 16, 19 and 22 to 24 are held elsewhere (semantics 8.1 says where); a breach of 11, 16 or 19 shows here
 * as 4, 7 or 10. The engine calls these functions; none of them changes the world but by stopping it.
 */
#ifndef SIMULATOR_CHECK_H
#define SIMULATOR_CHECK_H

#include "simulator/world.h"

enum {
    CHECK_ALL_SERVERS = 64, /* up to so many servers, checks of quadratic cost are made every time */
    CHECK_ORIGINS = 64,     /* with more servers, the records of so many origins, drawn by the seed, are followed */
    CHECK_ORIGINS_EACH = 4, /* and so many of them, in turns, are looked at whenever a server has learned something */
    CHECK_SAMPLE_US = 1000,
    CHECK_SWEEP_US = 100 * 1000,
};

struct check;

CW_MUST_CHECK int check_open(struct check **out, struct world *w);
void check_close(struct check *c);
size_t check_bytes(const struct check *c);

/*
 * A packet is handed to a service of s as its destination. local: the time by the clock of s. id: the packet's own, 0
 * when its job's packets cannot be told apart.
 */
void check_delivered(struct check *c, cw_server s, const struct cw_packet *p, uint64_t id, cw_time local);
void check_held(struct check *c, cw_server s, const struct cw_packet *p, cw_time local);
/* An entry of s has ended. connected: it changed what the oracle knows. */
void check_view(struct check *c, cw_server s, bool connected);
/* s has just started, or died. */
void check_server(struct check *c, cw_server s);
/* A server, cable or wire changed: the world is not perfect until it was seen to be so again. */
void check_disturbed(struct check *c);
/* Begins with what is sampled and swept. */
void check_begin(struct check *c);

/*
 * Checks conservation now (invariant 8). 0; 1: it is broken, which was reported.
 */
int check_conservation(struct world *w);
/*
 * The caller claims that the world is quiet: there was no fault for long enough, there is no workload, and every packet
 * has arrived. Checks what must hold then. 0; 1: it does not, which was reported.
 */
CW_MUST_CHECK int check_quiet(struct world *w);

/* Reports that an invariant is broken and stops the world; only the first report counts. servers: those involved. */
__attribute__((format(printf, 5, 6))) void check_violated(struct world *w, unsigned invariant, unsigned count,
                                                          const cw_server servers[], const char *format, ...);

#endif
