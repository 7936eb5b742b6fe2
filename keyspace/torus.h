/* SPDX-License-Identifier: Apache-2.0 */
/*
 * torus.h - the shape of the cluster: coordinates, ids, neighbours, distances, minimal links.
 *
 * A struct torus is a plain value: copy it freely, share it between threads, nothing to release. Functions are pure.
 * Unless said otherwise a caller's server ids are below torus.servers, coordinates inside the dims and links below
 * CW_LINK_COUNT; breaking that is the caller's mistake and stops a debug build (assert).
 *
 * Axes of 1 have no link (torus_links() leaves them out; torus_neighbour() along them is the server itself). On an axis
 * of 2 both links lead to the same neighbour over two cables and both are minimal. At exactly half way round an even
 * axis both directions are minimal and both are kept (facts 7: always taking one costs 20 % at 512 servers).
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

/* Coordinate <-> dense id, (x * Y + y) * Z + z. */
cw_server torus_id(const struct torus *t, cw_coord c);
cw_coord torus_coord(const struct torus *t, cw_server s);

/* The links that have a cable: both of every axis longer than 1. */
cw_links torus_links(const struct torus *t);

/* The server at the far end of a link of s; s itself along an axis of 1. */
cw_server torus_neighbour(const struct torus *t, cw_server s, cw_link link);

/* Fills out[servers * CW_LINK_COUNT]: out[s * CW_LINK_COUNT + link] is torus_neighbour(t, s, link). */
void torus_neighbours_fill(const struct torus *t, cw_server out[]);

/*
 * Translation: every server sees the same torus, so a table made for server 0 serves all.
 * torus_offset(from, to) is the id of (to - from) modulo the dims; torus_shift(from, offset) goes back.
 */
cw_server torus_offset(const struct torus *t, cw_server from, cw_server to);
cw_server torus_shift(const struct torus *t, cw_server from, cw_server offset);

/* Links on a shortest path from a to b, 0..384. */
unsigned torus_distance(const struct torus *t, cw_server a, cw_server b);

/*
 * The largest distance, sum of floor(dim / 2); a node whose torus exceeds its hop budget (255 at most) must refuse
 * it.
 */
unsigned torus_diameter(const struct torus *t);

/* Every link of from that starts a shortest path to to in the whole torus; none when from is to. */
cw_links torus_minimal_links(const struct torus *t, cw_server from, cw_server to);

/*
 * Text form "x,y,z". torus_parse() reads exactly that, decimal, no signs, spaces or leading zeros; -EINVAL on anything else (too
 * long or above 255 included), -ERANGE when the coordinate lies outside the dims; *out is then untouched. The text
 * need not end in NUL.
 * torus_format() writes at most TORUS_TEXT bytes with the NUL and returns the length without it.
 */
enum { TORUS_TEXT = sizeof "255,255,255" };
CW_MUST_CHECK int torus_parse(const struct torus *t, const char *text, size_t length, cw_coord *out);
size_t torus_format(cw_coord c, char out[static TORUS_TEXT]);

#endif
