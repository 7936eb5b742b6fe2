/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plans.h - the last few plans (cast/plan.h) that were needed, for datagrams: most of them go from the same sources to
 * the same members while the view does not change, and a plan costs far more than a datagram.
 */
#ifndef SERVICES_MULTICAST_GROUP_PLANS_H
#define SERVICES_MULTICAST_GROUP_PLANS_H

#include "services/multicast/cast/plan.h"

enum { PLANS_KEPT = 8 };

/* To whom this server sends, for one source and one set of members, in one epoch of the view. */
struct kept_plan {
    bool good;
    cw_server source;
    uint64_t epoch;
    uint8_t *set;
    struct cast_plan plan;
};

struct plans {
    cw_svc *s;
    const struct torus *torus;
    struct trees *trees; /* NULL until the first plan is made */
    struct kept_plan kept[PLANS_KEPT];
    unsigned evict;
};

/* A struct plans with s and torus, both borrowed, and zeroed otherwise, keeps nothing. */
void plans_close(struct plans *p);
/*
 * The plan for a source and a set of members (bit i % 8 of byte i / 8), borrowed until the next call. NULL: there is no
 * memory for it, or the source is no server.
 */
const struct cast_plan *plans_get(struct plans *p, cw_server source, const uint8_t *set);

#endif
