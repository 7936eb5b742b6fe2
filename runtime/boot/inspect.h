/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect.h - what is wrong with the cables, given where the servers stand: every cable that does not fit the positions, by name,
 * every place without a server and every server too many.
 */
#ifndef BOOT_INSPECT_H
#define BOOT_INSPECT_H

#include "boot/graph.h"

/* The first of them are kept, all are counted. Those that speak of the whole come first. */
struct fault_list {
    struct boot_fault *fault; /* max of them, the caller's */
    uint32_t max;
    uint32_t count; /* found; may be above max */
    uint32_t grave; /* of them, those that do not only tell */
};

void fault_add(struct fault_list *list, const struct boot_fault *fault);

/* A server of the graph as it is told of in a fault. */
struct boot_who graph_who(const struct graph *g, const struct solution *s, uint32_t server);

/*
 * Lists the faults of a solution (with dims 0,0,0: that there is no shape). Ports towards a place without a server are not listed
 * beside that place. In a running torus (somebody was placed) what is missing only tells. 0 or -ENOMEM. Linear.
 */
CW_MUST_CHECK int boot_inspect(const struct graph *g, const struct solution *s, struct fault_list *list);

#endif
