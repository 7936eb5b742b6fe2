/* SPDX-License-Identifier: Apache-2.0 */
/*
 * facet.h - the 48 orders in which the servers of a torus inherit the keys of a home (CamCubeOS 3.2).
 *
 * Sequence i = 6 * f + o of a home: breadth-first search from it by the three steps of facet f (bit a of f set: axis
 * a is walked downwards), tried in the axis order number o (xyz xzy yxz yzx zxy zyx), a server entering at its first
 * visit. It is a permutation of all servers for any dims. Nothing is searched and no table kept. With r = (ra, rb,
 * rc) the number of steps from the home along the three axes in order o, each 0..D-1, the sequence is
 *
 *     rising level ra + rb + rc;  inside a level, falling (ra, rb, rc) in lexicographic order
 *
 * which struct facet_walk follows with a few additions a server. Proof: docs/keyspace.md.
 */
#ifndef KEYSPACE_FACET_H
#define KEYSPACE_FACET_H

#include "keyspace/torus.h"

enum { FACET_COUNT = 8, FACET_ORDERS = 6, FACET_SEQUENCES = FACET_COUNT * FACET_ORDERS };

/*
 * A place in one sequence: a plain value, copied freely; nothing to release. The axes are in the sequence's order.
 * Walking adds step to the id until the torus closes, at turn steps from the home, where wrap is added once (both
 * modulo 2^32).
 */
struct facet_walk {
    struct facet_axis {
        uint32_t at;   /* steps taken, 0..last */
        uint32_t last; /* dim - 1 */
        uint32_t turn;
        uint32_t step;
        uint32_t wrap;
    } axis[CW_AXES];
    cw_server home;
    uint8_t index;
};

/* Puts the walk on the first server of sequence index (0..47) of home: the home itself. */
void facet_walk_init(struct facet_walk *w, const struct torus *t, cw_server home, unsigned index);

/* Moves on to the next server of the sequence; false, and *w unchanged, when it was on the last. */
bool facet_walk_next(struct facet_walk *w);

static inline uint32_t facet_axis_id(const struct facet_axis *a)
{
    return a->at * a->step + (a->at >= a->turn ? a->wrap : 0);
}

/* The server the walk is on. */
static inline cw_server facet_walk_server(const struct facet_walk *w)
{
    return w->home + facet_axis_id(&w->axis[0]) + facet_axis_id(&w->axis[1]) + facet_axis_id(&w->axis[2]);
}

/* Steps of the facet from the home to where the walk is; they never fall along a sequence. */
static inline unsigned facet_walk_level(const struct facet_walk *w)
{
    return w->axis[0].at + w->axis[1].at + w->axis[2].at;
}

/*
 * Compares places without walking: s comes before u in the walk's sequence exactly when facet_order(s) <
 * facet_order(u). The value is level << 16 plus the place inside the level; it depends on the sequence, not on where
 * the walk is.
 */
enum { FACET_ORDER_LEVEL_SHIFT = 16 };
uint32_t facet_order(const struct facet_walk *w, const struct torus *t, cw_server s);

#endif
