/* SPDX-License-Identifier: Apache-2.0 */
/*
 * routes.h - by which of my links is each server nearest, and how far is it: breadth-first search over the links alive.
 *
 * Guarantee: routes_next(s) is the set of ALL links of the source that start a shortest path to s; no tie is broken
 * here, because always taking one of two equal ways costs 20 % of the throughput of a 512-server torus. (To all of a
 * ring of 8, one direction then carries 1 + 2 + 3 + 4 hops and the other 1 + 2 + 3: 10 where 8 would do.) It is empty
 * for the source itself and for what cannot be reached.
 *
 * A byte a server: the set, and its level modulo 3. Neighbours are at most one level apart, so that is enough to tell
 * nearer, level and farther; how many hops it is, routes_hops() finds by walking. A node in transit reads the table at
 * random: small is fast.
 *
 * A pure function of (links, source): no history, so a table need only be equal to be right. O(servers).
 */
#ifndef LINKSTATE_ROUTES_H
#define LINKSTATE_ROUTES_H

#include "base/arena.h"
#include "keyspace/reach.h"
#include "keyspace/torus.h"

enum {
    ROUTES_UNREACHABLE = INT32_MAX, /* hops; no torus is that long */
};

struct routes {
    uint32_t servers;
    uint8_t *way; /* by server, private: mark of the level << CW_LINK_COUNT | next; 0 unreachable */
};

/* Carves a byte a server, rounded up to words, and clears the table; over a measuring arena it only counts. */
void routes_init(struct routes *r, uint32_t servers, cw_server from, struct arena *arena);

/* Links of the source that start a shortest path to s. A load. */
static inline cw_links routes_next(const struct routes *r, cw_server s)
{
    return r->way[s] & CW_LINKS_ALL;
}

static inline bool routes_reaches(const struct routes *r, cw_server s)
{
    return r->way[s] != 0;
}

/*
 * Links from the source to s; ROUTES_UNREACHABLE when there is no path. O(hops): neighbours and links as the table was
 * made of.
 */
uint32_t routes_hops(const struct routes *r, const cw_server *neighbours, const cw_links *links, cw_server s);

/* Makes *set what the table reaches, the source included. */
void routes_members(const struct routes *r, struct reach *set);

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
