/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bound.h - what an all-to-all can reach at most, exactly (facts 7).
 *
 * Every server sends to every other alike, over shortest paths, ties split evenly. The mean distance along an axis of a
 * is h(a) = floor(a^2 / 4) / a, the server itself counted. An axis of a has 2 N directions of links, and N - 1 of N
 * packets of each server's share are on the network, so that an axis carries at most
 *
 *     theta(a) = 2 L (N - 1) / (N h(a))          received per server, L the rate of a link
 *
 * and the longest axis decides: theta = min over the axes. For a cube this is 6 L (N - 1) / (3 h N). Both cables of an
 * axis of 2 are used, so the formula holds there too (4 L (N - 1) / N).
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
/* A value in numbers of people; for printing only. */
double bound_value(struct bound b);

#endif
