/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trees_build.h - how the table behind trees.h is made. For trees.c, its tests and its bench only.
 *
 * The descent (docs/trees.md). At each vertex any bijection trees -> links may be chosen whose new parents are outside
 * the vertex's own subtrees: every tree stays a spanning tree, and the trees stay arc-disjoint. So the descent visits
 * vertex after vertex and takes the bijection of least cost; the cost is the sum of price(depth) over everything that
 * moves. The total does not rise and the trees are valid after every single step, so that the descent may be stopped
 * anywhere.
 */
#ifndef KEYSPACE_TREES_BUILD_H
#define KEYSPACE_TREES_BUILD_H

#include "keyspace/trees.h"

struct descent {
    struct torus torus; /* axes of length 1 last, so that the links in use are 0..trees - 1 */
    unsigned trees;
    unsigned tolerance;               /* price(d) = d + 20 * max(0, d - tolerance)^2 */
    uint64_t work;                    /* spent so far, counted in vertices looked at */
    uint32_t sweeps;                  /* begun so far */
    uint64_t budget;                  /* descent_sweep() stops when work reaches it */
    uint16_t *near;                   /* [offset * CW_LINK_COUNT + link]: the neighbour's offset */
    uint16_t *order;                  /* all offsets, the farthest from the root first */
    uint8_t *stale;                   /* [offset]: something that the choice at this vertex depends on has changed */
    uint8_t *parent[CW_LINK_COUNT];   /* [tree][offset]: link to the parent */
    uint8_t *children[CW_LINK_COUNT]; /* [tree][offset]: links to the children */
    uint16_t *depth[CW_LINK_COUNT];   /* [tree][offset] */
    uint16_t *queue;                  /* the vertices of the subtree listed last, level by level */
    uint32_t *width;                  /* how many of these are on each level */
    void *memory;                     /* all arrays above */
};

/*
 * Makes the arrays for a torus of 2..TREES_TABLE_SERVERS servers whose axes of length 1 come last. -ENOMEM: there is
 * nothing to close.
 */
CW_MUST_CHECK int descent_open(struct descent *d, const struct torus *torus);
void descent_close(struct descent *d);

/* Starts over with the trees of the closed form. Keeps tolerance, work and budget. */
void descent_plant(struct descent *d);

/*
 * Visits the vertices. With salt 0 it visits those where something has changed, and changes a vertex only for a lower
 * cost; true when anything was improved, so that `while (descent_sweep(d, 0))` ends in a local minimum. With another
 * salt it visits all vertices, and a hash of the salt decides among bijections of the same cost: a walk along the level
 * that opens new ways down.
 */
bool descent_sweep(struct descent *d, uint32_t salt);

/* Marks every vertex for a visit: needed after a change of tolerance. */
void descent_touch(struct descent *d);

struct trees_extent descent_extent(const struct descent *d);

/* What the table keeps for a vertex in a tree. */
struct trees_cell {
    uint8_t parent;
    uint8_t children;
    uint16_t depth;
};

/*
 * Fills cells[offset * CW_LINK_COUNT + tree] for every tree of *torus, which has 2..TREES_TABLE_SERVERS servers; both
 * are borrowed. Cells of trees that do not exist are not written. -ENOMEM: no cell was written.
 */
CW_MUST_CHECK int trees_build(const struct torus *torus, struct trees_cell *cells);

#endif
