/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk.h - positions from directions: every port has a direction (by its label, or found by squares.h), but the dims
 * are not known.
 *
 * A cable is trusted by the number of squares that it closes: u, u+x, u+x+y, u+y and back to u. In a torus of three
 * axes a right cable closes four squares, one that leads elsewhere hardly any. The walk begins at the first server,
 * takes the most trusted cables first, and counts steps without wrapping. A cable that closes a ring then shows where
 * the torus wraps: most of these cables agree on the length of the axis, and on whether its rows close where they began
 * or shifted (a twisted torus). Wrong cables are outvoted, and stand out afterwards as those that do not fit the
 * positions (inspect.h).
 */
#ifndef BOOT_WALK_H
#define BOOT_WALK_H

#include "boot/graph.h"

/*
 * Reads direction[] of every spot of *s; no server has one direction twice. Fills the dims and shift, and at, placed
 * and torus of every server that can be reached over cables between opposite directions. 0 or -ENOMEM. Linear in the
 * number of servers.
 */
CW_MUST_CHECK int boot_walk(const struct graph *g, struct solution *s);

#endif
