/* SPDX-License-Identifier: Apache-2.0 */
/*
 * routes.h - by which of my links is each server nearest, and how far is it: breadth-first search over the links alive.
 *
 * Guarantee: routes_next(s) is the set of ALL links of the source that start a shortest path to s; no tie is broken
 * here, because always taking one of two equal ways costs 20 % of the throughput of a 512-server torus (facts 7). It is
 * empty for the source itself and for what cannot be reached.
 *
 * A pure function of (links, source): no history, so a table need only be equal to be right. O(servers).
 */
#ifndef CORE_ROUTES_H
#define CORE_ROUTES_H

#include "base/arena.h"
#include "keyspace/torus.h"

enum {
    ROUTES_LINK_BITS = CW_LINK_COUNT,
    ROUTES_UNREACHABLE = UINT32_MAX >> ROUTES_LINK_BITS, /* hops; no torus is that long: 2^26 - 1 */
};

struct routes {
    uint32_t servers;
    uint32_t *way; /* by server, private: hops << ROUTES_LINK_BITS | next */
};

/* Carves servers * 4 bytes and clears the table; over a measuring arena it only counts. */
void routes_init(struct routes *r, uint32_t servers, cw_server from, struct arena *arena);

/* Links of the source that start a shortest path to s. A load. */
static inline cw_links routes_next(const struct routes *r, cw_server s)
{
    return r->way[s] & CW_LINKS_ALL;
}

/* Links from the source to s; ROUTES_UNREACHABLE when there is no path. */
static inline uint32_t routes_hops(const struct routes *r, cw_server s)
{
    return r->way[s] >> ROUTES_LINK_BITS;
}

static inline bool routes_reaches(const struct routes *r, cw_server s)
{
    return routes_hops(r, s) != ROUTES_UNREACHABLE;
}

/* Makes the table that of a source without links. */
void routes_clear(struct routes *r, cw_server from);

/*
 * Fills the table for source `from` over links[] (by server; symmetric, as lsdb.up and lsdb.opt are; neighbours as in
 * lsdb.h). Returns how many servers are reached, the source included. order lends room for servers + 1 ids and is left
 * with the others that are reached, nearest first.
 */
uint32_t routes_search(struct routes *r, const cw_server *neighbours, const cw_links *links, cw_server from,
                       cw_server *order);

/* The same table when every link of the torus is up, without a search: that of torus_minimal_links(). */
void routes_whole(struct routes *r, const struct torus *torus, cw_server from);

#endif
