/* SPDX-License-Identifier: Apache-2.0 */
/*
 * routes.h - by which of my links is each server nearest, and how far is it: breadth-first search over the links alive.
 *
 * Guarantee: next[s] is the set of ALL links of the source that start a shortest path to s; no tie is broken here, because
 * always taking one of two equal ways costs 20 % of the throughput of a 512-server torus (facts 7). It is empty for the source
 * itself and for what cannot be reached.
 *
 * A pure function of (links, source): no history, so a table need only be equal to be right. O(servers).
 */
#ifndef CORE_ROUTES_H
#define CORE_ROUTES_H

#include "base/arena.h"
#include "keyspace/torus.h"

enum {
    ROUTES_UNREACHABLE = UINT16_MAX,
    /* Stands for itself and all above, where next[] may name ways that are not shortest; the hop budget ends at 255. */
    ROUTES_HOPS_MAX = UINT16_MAX - 1,
};

struct routes {
    uint32_t servers;
    cw_links *next; /* by server */
    uint16_t *hops; /* by server; ROUTES_UNREACHABLE */
};

/* Carves servers * 3 bytes and clears the table; over a measuring arena it only counts. */
void routes_init(struct routes *r, uint32_t servers, cw_server from, struct arena *arena);

/* Makes the table that of a source without links. */
void routes_clear(struct routes *r, cw_server from);

/*
 * Fills the table for source `from` over links[] (by server; symmetric, as lsdb.up and lsdb.opt are; neighbours as in lsdb.h).
 * Returns how many servers are reached, the source included. order lends room for servers + 1 ids and is left with the others
 * that are reached, nearest first.
 */
uint32_t routes_search(struct routes *r, const cw_server *neighbours, const cw_links *links, cw_server from,
                       cw_server *order);

/* The same table when every link of the torus is up, without a search: torus_minimal_links() and torus_distance() of all servers. */
void routes_whole(struct routes *r, const struct torus *torus, cw_server from);

#endif
