/* SPDX-License-Identifier: Apache-2.0 */
/*
 * squares.h - directions for ports that nobody labelled, from the shape alone.
 *
 * Two neighbours of u, over different axes, have exactly one more neighbour in common: the far corner of a square. Two on
 * one axis have none. So: opposite sides of a square are parallel; two cables at a server that span no square lie in
 * one row. Both relations, closed under "and so on", sort the cables into axes (the factors of a product of rings are found so:
 * Feigenbaum, Hershberger, Schaffer 1985). Cutting the cables of an axis leaves the layers across it, and the order of the layers
 * is the coordinate.
 *
 *   ring of 2   both cables run between the same two servers: parallel by that; which is + is a choice (the lower port of the first)
 *   ring of 3   its triangle is no square: as longer ones
 *   ring of 4   is itself a square: its cables fall into two classes of two layers each, like two axes without a ring. Such
 *               classes are put together in pairs; which pair is a choice, as all give the same torus
 *   ring of 1   no cables
 *
 * Cables under suspicion may be left out: what they would be is then read from the directions that are left over at both ends.
 */
#ifndef BOOT_SQUARES_H
#define BOOT_SQUARES_H

#include "boot/graph.h"

/*
 * Fills direction[] of every spot. doubtful[count * CW_LINK_COUNT] marks ports whose cables are left out (both ends marked), or
 * NULL. 0, -ENOMEM, or -EDOM: no axes can be made out. Linear in servers, nearly.
 */
CW_MUST_CHECK int squares_directions(const struct graph *g, const uint8_t *doubtful, struct solution *s);

/* Ports beside which the cable at (server, port) spans exactly one square: 4 in a torus of three axes, of a ring of 4 also 5. */
unsigned squares_count(const struct graph *g, uint32_t server, unsigned port);

#endif
