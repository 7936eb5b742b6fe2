/* SPDX-License-Identifier: Apache-2.0 */
/*
 * torus.h - the shape of the cluster: coordinates, ids, neighbours, distances, minimal links.
 *
 * A struct torus is a plain value: it may be copied and shared between threads, and there is nothing to release.
 * Functions are pure. Unless said otherwise, server ids that are handed in are below torus.servers, coordinates lie
 * inside the dims, and links are below CW_LINK_COUNT; breaking that is the caller's mistake and stops a debug build
 * (assert).
 *
 * An axis of length 1 has no links: torus_links() leaves them out, and torus_neighbour() along them is the server
 * itself. On an axis of length 2 both links lead to the same neighbour over two cables, and both are minimal. Exactly
 * half way round an even axis both directions are minimal, and both are kept: always taking the same one costs 20 % of
 * the throughput at 8x8x8 (docs/simulator.md).
 */
#ifndef KEYSPACE_TORUS_H
#define KEYSPACE_TORUS_H

#include "cubeway/types.h"

struct torus {
    uint32_t dim[CW_AXES]; /* X, Y, Z, each 1..CW_DIM_MAX */
    uint32_t servers;      /* N = X * Y * Z, up to 2^24 */
    /* For dividing without a division instruction, which on many processors costs more than all else here. */
    uint64_t inverse_y; /* ceil(2^32 / Y) */
    uint64_t inverse_z; /* ceil(2^32 / Z) */
    uint64_t inverse_n; /* floor((2^64 - 1) / N) */
};

/* Fills *t. -EINVAL when a dimension is 0 or above CW_DIM_MAX; *t is then untouched. */
CW_MUST_CHECK int torus_init(struct torus *t, cw_dims dims);

cw_dims torus_dims(const struct torus *t);

/* True when c lies inside the dims: the check for coordinates that come from outside. */
bool torus_holds(const struct torus *t, cw_coord c);

/* From coordinates to the dense id (x * Y + y) * Z + z, and back. */
cw_server torus_id(const struct torus *t, cw_coord c);
cw_coord torus_coord(const struct torus *t, cw_server s);

/* The links that have a cable: both of every axis longer than 1. */
cw_links torus_links(const struct torus *t);

/* The server at the far end of a link of s; s itself along an axis of length 1. */
cw_server torus_neighbour(const struct torus *t, cw_server s, cw_link link);

/* Fills out[servers * CW_LINK_COUNT]: out[s * CW_LINK_COUNT + link] is torus_neighbour(t, s, link). */
void torus_neighbours_fill(const struct torus *t, cw_server out[]);

/*
 * Translation: the torus looks the same from every server, so a table that was made for server 0 serves all.
 * torus_offset(from, to) is the id of (to - from) modulo the dims; torus_shift(from, offset) goes back to `to`.
 */
cw_server torus_offset(const struct torus *t, cw_server from, cw_server to);
cw_server torus_shift(const struct torus *t, cw_server from, cw_server offset);

/* How many links a shortest path from a to b has in the whole torus, 0..384. */
unsigned torus_distance(const struct torus *t, cw_server a, cw_server b);

/* The largest distance: the sum of floor(dim / 2). A node must refuse a torus whose diameter is above its hop limit. */
unsigned torus_diameter(const struct torus *t);

/* The links of `from` with which a shortest path to `to` begins in the whole torus; none when from == to. */
cw_links torus_minimal_links(const struct torus *t, cw_server from, cw_server to);

/*
 * The text form is "x,y,z" in decimal. torus_parse() reads exactly that, without signs, spaces or leading zeros.
 * -EINVAL: the text is anything else, or has a number above 255; -ERANGE: the coordinate lies outside the dims. *out is
 * then untouched. The text need not end in a NUL.
 * torus_format() writes at most TORUS_TEXT bytes with the NUL, and gives the length without it.
 */
enum { TORUS_TEXT = sizeof "255,255,255" };
CW_MUST_CHECK int torus_parse(const struct torus *t, const char *text, size_t length, cw_coord *out);
size_t torus_format(cw_coord c, char out[static TORUS_TEXT]);

#endif
