/* SPDX-License-Identifier: Apache-2.0 */
/*
 * join.h - places for newcomers in a running torus: servers that have a place keep it, the others take the places that
 * their cables say. The newcomer may be one server that replaces another, a plane of new servers, or the rest of a
 * torus in which only some servers stored their places before all of them stopped.
 *
 * A newcomer stands where most of its cables to placed servers say. Newcomers for which the most cables speak are
 * placed first, so that a wrong cable is outvoted where that is possible. A port without a label takes the opposite of
 * the direction at the other end, or the direction that lies between two places, or the only one that is left. What
 * cannot be decided so stays open, and verify.h refuses it.
 */
#ifndef BOOT_JOIN_H
#define BOOT_JOIN_H

#include "boot/graph.h"

/*
 * Fills *s, whose directions are unlabelled so far; at least one server of g has a place. At most 3 * (diameter of the
 * newcomers) rounds, each linear in the number of servers.
 */
void boot_join(const struct graph *g, struct solution *s);

#endif
