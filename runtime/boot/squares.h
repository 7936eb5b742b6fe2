/* SPDX-License-Identifier: Apache-2.0 */
/*
 * squares.h - directions for ports that nobody labelled, found from the shape of the graph alone.
 *
 * Two neighbours of a server u over different axes have exactly one other neighbour in common: the far corner of a
 * square. Two neighbours on one axis have none. So opposite sides of a square are parallel, and two cables of a server
 * that span no square lie in one row. The transitive closure of these two relations sorts the cables into axes (this is
 * how the factors of a product of rings are found: Feigenbaum, Hershberger, Schaffer 1985). Without the cables of one
 * axis, the graph falls into the layers across that axis; the order of the layers is the coordinate.
 *
 *   ring of 1   There are no cables.
 *   ring of 2   Both cables run between the same two servers, and are parallel for that reason. Which of them is + is a
 *               matter of choice: the one at the lower port of the first server.
 *   ring of 3   A triangle is no square: a ring of 3 is treated as longer rings are.
 *   ring of 4   The ring is itself a square: its cables fall into two classes of two layers each, like two axes without
 *               a ring. Such classes are put together in pairs; any pairing gives the same torus.
 *
 * Suspicious cables may be left out; their directions are then those that are left over at both ends.
 */
#ifndef BOOT_SQUARES_H
#define BOOT_SQUARES_H

#include "boot/graph.h"

/*
 * Fills direction[] of every spot of *s. doubtful[count * CW_LINK_COUNT] marks, at both ends, the cables to leave out;
 * NULL: none. 0, -ENOMEM, or -EDOM: no axes can be made out. Nearly linear in the number of servers.
 */
CW_MUST_CHECK int squares_directions(const struct graph *g, const uint8_t *doubtful, struct solution *s);

/*
 * With how many other ports of the server the cable at this port spans exactly one square: in a torus of three axes 4,
 * on a ring of 4 also 5.
 */
unsigned squares_count(const struct graph *g, uint32_t server, unsigned port);

#endif
