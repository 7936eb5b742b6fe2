/* SPDX-License-Identifier: Apache-2.0 */
/*
 * facet.h - the 48 orders in which the servers of a torus inherit the keys of a home (CamCubeOS 3.2).
 *
 * Sequence i = 6 * f + o of a home is a breadth-first search from the home by three steps, one along each axis. Facet f
 * says in which direction each step goes (bit a of f is set: axis a is walked downwards), and o in which order the axes
 * are tried (xyz xzy yxz yzx zxy zyx). A server enters the sequence at its first visit, so for any dims the sequence is
 * a permutation of all servers.
 *
 * The search is never run, and there is no table. Let r = (ra, rb, rc) be the number of steps from the home along the
 * three axes in order o, each 0..D-1 on an axis of length D. Then the sequence is
 *
 *     by rising level ra + rb + rc;  within a level, by falling (ra, rb, rc) in lexicographic order
 *
 * which struct facet_walk follows with a few additions for each server. Proof: docs/keyspace.md.
 */
#ifndef KEYSPACE_FACET_H
#define KEYSPACE_FACET_H

#include "keyspace/torus.h"

enum { FACET_COUNT = 8, FACET_ORDERS = 6, FACET_SEQUENCES = FACET_COUNT * FACET_ORDERS };

/*
 * A place in one sequence: a plain value, which may be copied; nothing has to be released. The axes stand in the
 * sequence's order o.
 */
struct facet_walk {
    struct facet_axis {
        uint32_t at;   /* steps taken along the axis, 0..last */
        uint32_t last; /* dim - 1 */
        uint32_t turn; /* after so many steps the torus closes, and wrap counts */
        uint32_t step; /* what one step adds to a server's id, modulo 2^32 */
        uint32_t wrap; /* what closing the torus adds to it once, modulo 2^32 */
    } axis[CW_AXES];
    cw_server home;
    uint8_t index;
};

/* Puts the walk on the first server of sequence index (0..47) of home: the home itself. */
void facet_walk_init(struct facet_walk *w, const struct torus *t, cw_server home, unsigned index);

/* Moves on to the next server of the sequence; false, and *w unchanged, when it was on the last. */
bool facet_walk_next(struct facet_walk *w);

/* What the steps along one axis have added to the home's id, modulo 2^32. */
static inline uint32_t facet_axis_id(const struct facet_axis *a)
{
    return a->at * a->step + (a->at >= a->turn ? a->wrap : 0);
}

/* The server that the walk is on. */
static inline cw_server facet_walk_server(const struct facet_walk *w)
{
    return w->home + facet_axis_id(&w->axis[0]) + facet_axis_id(&w->axis[1]) + facet_axis_id(&w->axis[2]);
}

/* The level: how many steps lie between the home and the server that the walk is on. Levels rise along a sequence. */
static inline unsigned facet_walk_level(const struct facet_walk *w)
{
    return w->axis[0].at + w->axis[1].at + w->axis[2].at;
}

/*
 * Compares places without walking: s comes before u in the walk's sequence exactly when facet_order(w, t, s) <
 * facet_order(w, t, u). The value is level << FACET_ORDER_LEVEL_SHIFT plus the place within the level. It depends on
 * the walk's sequence, not on where the walk is.
 */
enum { FACET_ORDER_LEVEL_SHIFT = 16 };
uint32_t facet_order(const struct facet_walk *w, const struct torus *t, cw_server s);

#endif
