/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk.h - positions from directions: every port has one (labelled, or found by squares.h), the dims are not known.
 *
 * A cable is trusted by the squares it closes: u, u+x, u+x+y, u+y and back. A right cable of a torus of three axes closes four of them,
 * one that leads elsewhere hardly any. The walk goes from the first server over the most trusted cables first and
 * counts steps without wrapping. A cable that closes a ring then shows where the torus wraps: most of them agree on the length
 * of the axis, and on whether its rows close where they began or shifted (a twisted torus). Wrong cables are
 * outvoted, and stand out afterwards as those that do not fit the positions (inspect.h).
 */
#ifndef BOOT_WALK_H
#define BOOT_WALK_H

#include "boot/graph.h"

/*
 * In: s->spot[].direction, no direction twice at one server. Out: dims, shift, and at, placed and torus of every server
 * that cables between opposite ends reach. 0, -ENOMEM, or -EDOM: no dims fit (nothing but s->dims = 0,0,0 is then good). Linear in
 * servers, but for a sort of a few counts.
 */
CW_MUST_CHECK int boot_walk(const struct graph *g, struct solution *s);

#endif
