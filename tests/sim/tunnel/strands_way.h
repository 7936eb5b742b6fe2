/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strands_way.h - pieces of several servers go ways of different length, are lost or doubled, their senders begin new
 * lives, and views change: a world for services/tunnel/strands.h. These rules are held:
 *
 *   once    no piece is delivered twice, and none is dropped that came once
 *   order   within a life, pieces leave a strand in the order of their numbers, but for those that came after their
 *           number was given up; and no number is given up that comes within the least time that strands wait, while
 *           nothing but time presses
 *   bounds  no piece waits for longer than the most time, and what waits is within the memory allowed
 *   home    in the end nothing waits, and every piece that came was delivered or dropped
 */
#ifndef STRANDS_WAY_H
#define STRANDS_WAY_H

#include "rng.h"

struct strands_way_sums {
    uint64_t pieces, waited, filled, given_up, late, doubles, lives;
};

/* One world, drawn from r. Notes in wrong[] (seeds_fail()) what was wrong, and adds to *sums. */
void strands_way(struct rng *r, char *wrong, struct strands_way_sums *sums);

#endif
