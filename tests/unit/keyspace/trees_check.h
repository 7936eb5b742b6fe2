/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trees_check.h - what a set of trees must be, checked from the parent links alone.
 *
 * Knows nothing of how the trees were made: it moves by torus_neighbour(), counts every arc and climbs from every
 * vertex.
 */
#ifndef TREES_CHECK_H
#define TREES_CHECK_H

#include "keyspace/trees.h"

/* parent[offset * CW_LINK_COUNT + tree]; trees without a root link are not read. */
struct trees_extent check_trees(const struct torus *torus, const uint8_t *parent);

/* Checks all lookups of *trees against its own parent links, and those by check_trees(); a fault aborts the test. */
void check_lookups(const struct torus *torus, const struct trees *trees);

/* trees_open() that must succeed. */
struct trees *open_trees(struct torus *torus, unsigned x, unsigned y, unsigned z);

#endif
