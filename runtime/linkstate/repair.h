/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repair.h - a route table over links of which a few have come or gone, made out of the table before: only what depends
 * on those links is looked at.
 *
 * Guarantee: a repaired table is, byte for byte, the one that routes_search() makes. Its levels are changed first (who
 * has lost every nearer neighbour, then who has got a nearer one), and then the first links of all whom that concerns,
 * each level after the one before: as in G. Ramalingam, T. Reps, "An incremental algorithm for a generalization of the
 * shortest-path problem", J. of Algorithms 21 (1996), with all links of length 1.
 *
 * Far from a failure that costs some dozens of servers, where a search costs all of them. Near it (one of our own links
 * fails, and half of all routes began with it) a repair gives up, and who called it searches.
 */
#ifndef LINKSTATE_REPAIR_H
#define LINKSTATE_REPAIR_H

#include "linkstate/routes.h"

enum { REPAIR_ENDS = 48 };

/* Both ends of each link that has come or gone since a table was made. */
struct repair_moves {
    uint32_t count; /* above REPAIR_ENDS: too many, or it is not known which */
    cw_server end[REPAIR_ENDS];
};

static inline void repair_forget(struct repair_moves *m)
{
    m->count = 0;
}

/* The table was made of something else: it cannot be repaired before the next search. */
static inline void repair_give_up(struct repair_moves *m)
{
    m->count = REPAIR_ENDS + 1;
}

/* Notes that these links of s have come or gone; neighbours as in lsdb.h. O(1). */
void repair_note(struct repair_moves *m, const cw_server *neighbours, cw_server s, cw_links links);

/*
 * Makes the table that routes_search() would make of the same arguments, out of the one that was made before `moves`.
 * False: too much depends on them, and the table is to be searched; what it holds until then means nothing. order lends
 * room for servers + 1 ids, and is left with none.
 */
CW_MUST_CHECK bool repair_routes(struct routes *r, const cw_server *neighbours, const cw_links *links, cw_server from,
                                 const struct repair_moves *moves, cw_server *order);

#endif
