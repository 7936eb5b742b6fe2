/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ways.h - trees of shortest ways to a root, six of them: in each a server's parent is a neighbour that lives and is
 * nearer to the root. They differ in the order in which axes are gone along, each order once, and in the side of the
 * root on which they pass where both are as near.
 *
 * They are not arc-disjoint: a root has six children in each tree. But where every server is a root, and each tree
 * carries a sixth, all links carry the same, by symmetry. Where nothing is combined that is the sum of the distances of
 * all pairs, which nothing can undercut; where all keys are equal it is N - 1 streams for each root, as over any tree.
 * The mean depth is 2.08 at 3x3x3, where arc-disjoint trees have 3.04, and 6.01 at 8x8x8, where those have 7.55.
 *
 * Pure. Servers are offsets from the root.
 */
#ifndef SERVICES_AGGREGATE_DENSE_WAYS_H
#define SERVICES_AGGREGATE_DENSE_WAYS_H

#include "keyspace/torus.h"

enum { WAYS_CUT_OFF = UINT16_MAX };

/*
 * Gives how far each server is from offset 0 by servers that live (a byte each, which is not 0); WAYS_CUT_OFF: it is
 * dead, or no way leads there. The caller frees it. -ENOMEM.
 */
CW_MUST_CHECK int ways_make(const struct torus *torus, const uint8_t *live, uint16_t **out);
/* The link to the parent in that tree; CW_LINK_SELF: it is the root, or is cut off. */
cw_link ways_parent(const struct torus *torus, const uint16_t *far, cw_link tree, cw_server offset);

#endif
