/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bound.h - the most that an all-to-all can reach, exactly.
 *
 * Every server sends alike to every other, over shortest paths; ties are split evenly. Along an axis of length a the
 * mean distance is h(a) = floor(a^2 / 4) / a, the server itself counted. The axis has 2 N directions of links, and of N
 * packets of a server N - 1 are on the network, so that the axis carries at most
 *
 *     theta(a) = 2 L (N - 1) / (N h(a))          received per server, L the rate of a link
 *
 * and the longest axis decides: theta is the least over the axes. For a cube this is 6 L (N - 1) / (3 h N). Both cables
 * of an axis of length 2 are used, so that the formula holds there too (4 L (N - 1) / N).
 */
#ifndef SIMULATOR_CWSIM_BOUND_H
#define SIMULATOR_CWSIM_BOUND_H

#include "keyspace/torus.h"

/* numerator / denominator, lowest terms; denominator at least 1. */
struct bound {
    uint64_t numerator, denominator;
};

/* theta / L. 0 for a torus of one server, which receives nothing. */
struct bound bound_all_to_all(const struct torus *t);
/* Mean distance to the N - 1 others; 0 for a torus of one. */
struct bound bound_mean_hops(const struct torus *t);
/* The value as a floating-point number, for printing only. */
double bound_value(struct bound b);

#endif
