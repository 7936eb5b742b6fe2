/* SPDX-License-Identifier: Apache-2.0 */
/*
 * join.h - places for newcomers in a torus that runs: servers that have a place keep it, those without take what their cables
 * say. A lone server that was replaced is the case of one newcomer among six; a plane of new servers, or the rest of a torus
 * of which some stored their places before all others stopped, are the same.
 *
 * A newcomer stands where most of the cables to placed servers say; those with the most voices are placed first, so that a wrong
 * cable is outvoted where it can be. A port without label is what the other end is not, or what lies between two places, or the
 * one that is left. What is not decided so stays open, and verify.h refuses it.
 */
#ifndef BOOT_JOIN_H
#define BOOT_JOIN_H

#include "boot/graph.h"

/* Fills *s, whose directions are unlabelled so far; at least one server of g is placed. At most 3 * (diameter of the newcomers) rounds, each linear. */
void boot_join(const struct graph *g, struct solution *s);

#endif
