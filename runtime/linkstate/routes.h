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
 * Behind it another byte a server: the whole level, for who makes a table over other links out of this one (repair.h).
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
    ROUTES_FAR = UINT8_MAX,         /* the level of what cannot be reached */
    ROUTES_DEEP = ROUTES_FAR - 1,   /* with a server so many links away, or more, levels are not told */
    ROUTES_STEP = 1 << CW_LINK_COUNT,
    ROUTES_MARKS = 3,
};

struct routes {
    uint32_t servers;
    bool is_deep; /* some server is ROUTES_DEEP links away or more: the levels mean nothing */
    /*
     * By server, private: mark of the level << CW_LINK_COUNT | next; 0 unreachable. The levels stand behind them, from
     * the next whole word on.
     */
    uint8_t *way;
};

static inline size_t routes_table_bytes(uint32_t servers)
{
    return ((size_t)servers + 7) / 8 * 8;
}

/* By server: how many links it is away, ROUTES_FAR where there is no path. Only unless is_deep. */
static inline uint8_t *routes_levels(const struct routes *r)
{
    return r->way + routes_table_bytes(r->servers);
}

/* The way of a server at this level before its links are put in. Marks rise from 1: a way is 0 only where none is. */
static inline uint8_t routes_mark(uint32_t level)
{
    return (uint8_t)((1 + level % ROUTES_MARKS) * ROUTES_STEP);
}

/* Carves two bytes a server, rounded up to words, and clears the table; over a measuring arena it only counts. */
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

/*
 * True when the table is what routes_search() makes of these arguments, or is_deep. For CHECK_SLOW: O(servers). Looks
 * at each server and its neighbours: with the source alone at level 0 and every other one a level behind its nearest
 * neighbour, the levels can only be the distances.
 */
bool routes_are_right(const struct routes *r, const cw_server *neighbours, const cw_links *links, cw_server from);

#endif
