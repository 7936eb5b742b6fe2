/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cast_plan.h - whom a server sends to: the trees of one source, pruned to the members, as they lie on the servers that live.
 *
 * A vertex (server, tree) is a key at that server whose w (trees_vertex_index()) makes its parent in the tree its first heir. A server has the
 * vertices whose keys it is the root of, and hears at the one that is nearest to the source, from who has the vertex above that. So in each tree
 * every server has one parent that is nearer to the source than itself: there is no circle, however many are dead. All that live agree once
 * their views do; while every vertex has a server, every member that lives hears by every tree (CamCubeOS 6.1).
 */
#ifndef SERVICES_MULTICAST_CAST_PLAN_H
#define SERVICES_MULTICAST_CAST_PLAN_H

#include "cubeway/service.h"
#include "keyspace/trees.h"

struct cast_plan_edge {
    uint8_t tree;
    uint8_t rank;   /* of the trees that share a link the lower goes first */
    uint8_t height; /* edges below, on the longest way down */
    cw_server to;
    cw_key vertex;
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
/* The key of a vertex. */
cw_key cast_plan_vertex(const cw_svc *s, const struct torus *torus, const struct trees *trees, cw_link tree,
                        cw_server source, cw_server offset);

#endif
