/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.h - to whom a server sends: the trees of one source, pruned to the members, and repaired where servers are dead.
 *
 * While all servers live these are the arc-disjoint trees of keyspace/trees.h (CamCubeOS 6.1). A server whose parent in
 * a tree is dead gets another one (keyspace/mend.h), among its neighbours where it can, and never one that hears from
 * it: there is no circle, and every member that lives and can be reached hears by every tree.
 *
 * A new edge shares its link with another tree, as a dead server takes a link from each of its neighbours. Which tree
 * that is, is chosen so that the loss falls on few of them: trees have ranks, those with most dead parents last, and
 * where two share a link the one of lower rank goes first. So after one death five trees go on at full speed where the
 * torus allows it, and the sixth has what is left.
 *
 * All servers make the same plan from the same view: integers, no chance, no history.
 */
#ifndef SERVICES_MULTICAST_CAST_PLAN_H
#define SERVICES_MULTICAST_CAST_PLAN_H

#include "cubeway/service.h"
#include "keyspace/trees.h"

struct cast_plan_edge {
    uint8_t tree;
    uint8_t rank;   /* of the trees that share a link, the one of lower rank goes first */
    uint8_t height; /* edges below `to`, on the longest way down to a member */
    cw_link link;   /* the cable it is meant for */
    cw_server to;
};

struct cast_plan {
    struct cast_plan_edge *edge; /* by tree */
    unsigned count, room;
};

/*
 * Fills *plan (zeroed, or filled before) for this server. members: bit i % 8 of byte i / 8 is server i; those that
 * cannot be reached are left out. Borrows everything for the call. -EINVAL: source is no server; -ENOMEM: *plan is then
 * empty or short.
 */
CW_MUST_CHECK int cast_plan_make(struct cast_plan *plan, cw_svc *s, const struct torus *torus,
                                 const struct trees *trees, cw_server source, const uint8_t *members);
void cast_plan_free(struct cast_plan *plan);

#endif
