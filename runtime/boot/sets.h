/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sets.h - disjoint sets of numbers (union-find with path halving). The smallest member is the representative of its
 * set, so that the same unions give the same answers in any order.
 */
#ifndef BOOT_SETS_H
#define BOOT_SETS_H

#include <stdint.h>

/* Makes every number below count a set of its own, in parent[count], which the caller owns. */
static inline void sets_init(uint32_t *parent, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        parent[i] = i;
    }
}

static inline uint32_t sets_find(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

static inline void sets_join(uint32_t *parent, uint32_t a, uint32_t b)
{
    a = sets_find(parent, a);
    b = sets_find(parent, b);
    if (a < b) {
        parent[b] = a;
    } else {
        parent[a] = b;
    }
}

#endif
