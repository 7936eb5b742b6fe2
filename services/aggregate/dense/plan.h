/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.h - from whom a server takes and to whom it gives: the arc-disjoint trees of the reducer, mended where servers
 * are dead (keyspace/mend.h), or trees of shortest ways (ways.h), pruned to the members, and turned round: a server's
 * parent is where its sums go.
 *
 *  1. A plan is a pure function of the torus, the root, the members and the dead: all servers that are told these make
 *     the same trees. Nobody's own view goes in.
 *  2. Each member is in each tree once, and so is each server on its way to the root. There is no circle.
 *  3. A parent and its child are neighbours.
 *
 * Sets are those of keyspace/trees.h, but by server, not by offset: bit s % 64 of word s / 64.
 */
#ifndef SERVICES_AGGREGATE_DENSE_PLAN_H
#define SERVICES_AGGREGATE_DENSE_PLAN_H

#include "keyspace/trees.h"

struct plan_tree {
    bool in;           /* this server is in the tree: it is a member, a member is below it, or it is the root */
    cw_server parent;  /* CW_SERVER_NONE at the root */
    cw_links children; /* the links to them */
};

struct plan {
    /*
     * The trees that are used. Where servers are dead, trees share links, and one that shares links with several others
     * costs more than it brings: it is left out. In a torus of one server there are no links, and yet a tree: number 0,
     * of the root alone.
     */
    cw_links trees;
    unsigned depth; /* edges between the root and the member that is furthest away from it, in any tree */
    struct plan_tree tree[CW_LINK_COUNT];
};

/* What a plan is made of. Everything is borrowed. */
struct plan_question {
    const struct torus *torus;
    const struct trees *trees;
    cw_server root;
    const uint64_t *members, *dead; /* sets of trees_set_words(torus); the root is not dead */
    bool shortest;                  /* trees of shortest ways instead (ways.h) */
};

/*
 * Makes the plan of server self. involved (a set, or NULL) becomes all servers that are in a tree, the root too; those
 * are the ones to be told. -ENETUNREACH: a member is dead, or cut off by the dead; *lost becomes the first such member.
 * -ENOMEM.
 */
CW_MUST_CHECK int plan_make(struct plan *p, const struct plan_question *q, cw_server self, uint64_t *involved,
                            cw_server *lost);

/* The link of self to its child `server` in a tree; CW_LINK_SELF: that is no child of it there. */
cw_link plan_child(const struct plan *p, const struct torus *torus, cw_server self, cw_link tree, cw_server server);

#endif
