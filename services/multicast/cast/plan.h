/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.h - whom a server sends to: the trees of one source, pruned to the members, mended where servers are dead.
 *
 * With nobody dead these are the arc-disjoint trees of keyspace/trees.h (CamCubeOS 6.1). A server whose parent in a tree is dead gets another one, among its
 * neighbours where it can, and never one that hears from it: there is no circle, and every member that lives and can be reached hears by every tree.
 * The new edge shares its link with another tree, as a dead server takes a link from each of its neighbours. Which, is chosen so that the loss falls on few
 * trees: trees have ranks, those with most dead parents last, and where two share a link the one of lower rank goes first. So after one death five trees go on at
 * full speed where the torus allows it, and the sixth has what is left.
 *
 * All servers make the same plan from the same view: integers, no chance, no history.
 */
#ifndef SERVICES_MULTICAST_CAST_PLAN_H
#define SERVICES_MULTICAST_CAST_PLAN_H

#include "cubeway/service.h"
#include "keyspace/trees.h"

struct cast_plan_edge {
    uint8_t tree;
    uint8_t rank;   /* of the trees that share a link the lower goes first */
    uint8_t height; /* edges below, on the longest way down */
    cw_link link;   /* the cable it is meant for */
    cw_server to;
};

struct cast_plan {
    struct cast_plan_edge *edge; /* by tree */
    unsigned count, room;
};

/*
 * Fills *plan (zeroed or filled before) for this server. members: bit i % 8 of byte i / 8 is server i; those that are not reachable are left out.
 * Borrows all. -ENOMEM; -EINVAL: source is no server.
 */
CW_MUST_CHECK int cast_plan_make(struct cast_plan *plan, cw_svc *s, const struct torus *torus,
                                 const struct trees *trees, cw_server source, const uint8_t *members);
void cast_plan_free(struct cast_plan *plan);

#endif
