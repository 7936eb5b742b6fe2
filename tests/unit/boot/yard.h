/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yard.h - a torus as somebody cabled it: servers in a random order of their ids, ports plugged at random, and the
 * truth about it.
 */
#ifndef YARD_H
#define YARD_H

#include "boot/graph.h"
#include "rng.h"

#include <stdlib.h>

struct yard {
    struct graph g;
    cw_dims dims;
    uint32_t *at_cell;              /* server by cell (dense id) */
    uint32_t *cell_of;              /* and back */
    uint8_t (*port)[CW_LINK_COUNT]; /* port of a server by direction */
    bool labelled;
};

/* A good torus. Labelled: port d is direction d. Otherwise ports are shuffled, and absent on an axis of length 1. */
struct yard yard_make(cw_dims dims, bool labelled, struct rng *r);
/* In order: server i stands in cell i, port d is direction d whether labelled or not. */
struct yard yard_make_plain(cw_dims dims, bool labelled);
void yard_free(struct yard *y);

/* A random end that has a cable. */
struct graph_end yard_end(const struct yard *y, struct rng *r);
/* The two cables at a and b exchange their ends: a is joined to what b was joined to, and the other way round. */
void yard_swap(struct yard *y, struct graph_end a, struct graph_end b);

/* True when the solution is the yard's torus but for its symmetries: every cable is right. Too simple to be wrong. */
bool yard_is_torus(const struct yard *y, const struct solution *s);

#endif
