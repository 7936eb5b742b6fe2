/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect.h - what is wrong with the cables, given where the servers stand: it names every cable that does not fit the
 * positions, every place without a server, and every server that is one too many.
 */
#ifndef BOOT_INSPECT_H
#define BOOT_INSPECT_H

#include "boot/graph.h"

/* The first max faults are kept, all are counted. Faults of the whole torus come first. */
struct fault_list {
    struct boot_fault *fault; /* room for max of them, which the caller owns */
    uint32_t max;
    uint32_t count; /* found; may be above max */
    uint32_t grave; /* found, without those that have tells_only */
};

/* Adds a copy of the fault. */
void fault_add(struct fault_list *list, const struct boot_fault *fault);

/* What a fault says of a server of the graph. */
struct boot_who graph_who(const struct graph *g, const struct solution *s, uint32_t server);

/*
 * Adds the faults of a solution to the list; when its dims are 0,0,0, the only fault is BOOT_FAULT_SHAPE. A place
 * without a server is listed, and the ports towards it are not. In a running torus, where some server has a place, what
 * is missing has tells_only. 0 or -ENOMEM. Linear in the number of servers.
 */
CW_MUST_CHECK int boot_inspect(const struct graph *g, const struct solution *s, struct fault_list *list);

#endif
