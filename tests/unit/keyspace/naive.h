/* SPDX-License-Identifier: Apache-2.0 */
/*
 * naive.h - the keyspace as its definitions read, too simple to be wrong and too slow to use.
 *
 * All searches are breadth-first over neighbours found by arithmetic on coordinates; nothing here calls the product,
 * except for the dims.
 */
#ifndef UNIT_KEYSPACE_NAIVE_H
#define UNIT_KEYSPACE_NAIVE_H

#include "keyspace/torus.h"

enum { NAIVE_SEQUENCES = 48 };

/* The shapes every keyspace test runs over: 1..6 cubed, then some large ones. */
enum { SMALL_SHAPES = 216, LARGE_SHAPES = 9 };
cw_dims small_shape(unsigned n); /* n < SMALL_SHAPES */
cw_dims large_shape(unsigned n); /* n < LARGE_SHAPES */

/* The server reached from s by steps (any sign) along an axis. */
cw_server naive_move(cw_dims d, cw_server s, unsigned axis, int steps);

/* hops[v] = links on a shortest path from source to v, for every server v. */
void naive_distances(cw_dims d, cw_server source, unsigned hops[]);

/* Sigma(home, index) by breadth-first search; out has room for all servers. Returns how many it found. */
uint32_t naive_sequence(cw_dims d, cw_server home, unsigned index, cw_server out[]);

/*
 * All sequences of a torus: the server at place p of sequence i of home is table[(home * 48 + i) * N + p]. The caller
 * frees it.
 */
cw_server *naive_table(cw_dims d);

/*
 * The first server of a sequence of n servers that is up; CW_SERVER_NONE when none is. up[s] is the state of server
 * s.
 */
cw_server naive_first(const cw_server sequence[], uint32_t n, const bool up[]);

#endif
