/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mend.h - the arc-disjoint trees of one source when some servers are dead: tree repair. Vertices are offsets from the
 * source, as in keyspace/trees.h.
 *
 *  1. While all servers live, each tree is as the table of keyspace/trees.h has it.
 *  2. In every tree, each offset that lives, and that links between living servers join to the source, has a living
 *     parent. There is no circle.
 *  3. The result is a pure function of the torus and of who lives: all servers that have the same view repair alike.
 *
 * A dead server takes a link from each of its neighbours, so a repaired tree shares some link with another tree. Trees
 * have ranks: those that lost more parents come later. Repairs are placed so that sharing falls on the trees of the
 * last ranks (docs/services/multicast.md, "Trees are repaired").
 *
 * Time: the number of servers times the number of edges to be repaired. Memory while it works: 9 bytes a server.
 */
#ifndef KEYSPACE_MEND_H
#define KEYSPACE_MEND_H

#include "keyspace/trees.h"

enum { MEND_NO_PARENT = 7 };

struct mend {
    /*
     * [tree * servers + offset]: the link from the offset to its parent in the tree. MEND_NO_PARENT: the offset is the
     * source, is dead, or is cut off from the source.
     */
    uint8_t *parent;
    /*
     * By tree; where two trees share a link, the one of lower rank is to go first. A permutation of 0..CW_LINK_COUNT -
     * 1.
     */
    uint8_t rank[CW_LINK_COUNT];
    cw_server servers;
};

/*
 * Repairs all trees. live has a byte for each offset, which is not 0 where the server lives; that of the source (offset
 * 0) must not be 0. Borrows everything for the call; the caller releases *m with mend_free(). -ENOMEM: *m holds
 * nothing.
 */
CW_MUST_CHECK int mend_make(struct mend *m, const struct torus *torus, const struct trees *trees, const uint8_t *live);
void mend_free(struct mend *m);

/* The link from an offset to its parent in a tree, or MEND_NO_PARENT. */
static inline cw_link mend_parent(const struct mend *m, cw_link tree, cw_server offset)
{
    return m->parent[(size_t)tree * m->servers + offset];
}

#endif
