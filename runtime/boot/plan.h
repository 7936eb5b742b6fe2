/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.h - the list of cables of a torus, for whoever plugs them in. Functions are pure.
 *
 * Cable i goes from port +d of server i / axes to port -d of its neighbour, where axes is the number of axes longer
 * than 1, and servers are in the order of their ids. On an axis of length 2 there are two cables between the same two
 * servers, as each of them has a + and a - port.
 */
#ifndef BOOT_PLAN_H
#define BOOT_PLAN_H

#include "keyspace/torus.h"

struct boot_end {
    cw_coord server;
    cw_link link;
};

struct boot_cable {
    struct boot_end from; /* a + port */
    struct boot_end to;   /* the - port of the next server on that axis */
};

/* How many cables the torus has: servers times axes longer than 1. */
uint32_t boot_plan_count(const struct torus *t);

/* Cable i, which is below boot_plan_count(). */
struct boot_cable boot_plan_cable(const struct torus *t, uint32_t i);

#endif
