/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trees_build.h - how the table behind trees.h is made. For trees.c, its tests and its bench only.
 *
 * The descent (docs/trees.md). At a vertex, any bijection trees -> links whose new parents hang outside the
 * vertex's own subtree leaves every tree a spanning tree and the trees arc-disjoint. So visit vertex after vertex
 * and take the bijection of least cost, the cost being the sum of price(depth) over everything that moves. The
 * total never rises and the trees are valid after every single step, so the descent may be stopped anywhere.
 */
#ifndef KEYSPACE_TREES_BUILD_H
#define KEYSPACE_TREES_BUILD_H

#include "keyspace/trees.h"

struct descent {
    struct torus torus; /* axes of 1 last, so that the links in use are 0..trees - 1 */
    unsigned trees;
    unsigned tolerance;               /* price(d) = d + 20 * max(0, d - tolerance)^2 */
    uint64_t work;                    /* spent so far, in vertices looked at; what bounds a build */
    uint32_t sweeps;                  /* begun so far */
    uint64_t budget;                  /* descent_sweep() stops when work reaches it */
    uint16_t *near;                   /* [offset * CW_LINK_COUNT + link] */
    uint16_t *order;                  /* offsets, farthest first */
    uint8_t *stale;                   /* [offset]: something that the choice here depends on has changed */
    uint8_t *parent[CW_LINK_COUNT];   /* [tree][offset]: link to the parent */
    uint8_t *children[CW_LINK_COUNT]; /* [tree][offset]: links to the children */
    uint16_t *depth[CW_LINK_COUNT];   /* [tree][offset] */
    uint16_t *queue;                  /* a subtree, level by level */
    uint32_t *width;                  /* its vertices per level */
    void *memory;
};

/* Makes the arrays for a torus of 2..TREES_TABLE_SERVERS servers, axes of 1 last; descent_close() frees. -ENOMEM. */
CW_MUST_CHECK int descent_open(struct descent *d, const struct torus *torus);
void descent_close(struct descent *d);

/* Starts over with the closed form. Keeps tolerance, work and budget. */
void descent_plant(struct descent *d);

/*
 * One visit to every vertex. With salt 0 only where something changed and only for a strictly lower cost; true when
 * anything was improved, so that `while (descent_sweep(d, 0))` ends in a local minimum. With another salt
 * everywhere, and among bijections of the same cost a hash of the salt decides: a walk along the level that opens
 * new ways down.
 */
bool descent_sweep(struct descent *d, uint32_t salt);

/* Makes every vertex worth a visit: needed after a change of tolerance. */
void descent_touch(struct descent *d);

struct trees_extent descent_extent(const struct descent *d);

/* What the table keeps for a (vertex, tree). */
struct trees_cell {
    uint8_t parent;
    uint8_t children;
    uint16_t depth;
};

/*
 * Fills cells[offset * CW_LINK_COUNT + tree] for every tree of *torus (2..TREES_TABLE_SERVERS servers; both borrowed).
 * Cells of trees that do not exist are not written. -ENOMEM; then none is.
 */
CW_MUST_CHECK int trees_build(const struct torus *torus, struct trees_cell *cells);

#endif
