/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/stream/path.h"

/* Fractions are in millionths. */
#define ONE UINT64_C(1000000)

/*
 * What bench_streams measures: straight to the roots 0.62 of the links carries records, over trees 0.89. Packets of 26
 * contributors stand in one another's way, and acknowledgements go as far as they do.
 */
enum { SLOWER = 14, SLOWER_OF = 10 };

/* How many links it is from a server to another one, in the mean. */
static uint64_t mean_distance(const struct torus *torus)
{
    uint64_t sum = 0;
    for (cw_server s = 1; s < torus->servers; s++) {
        sum += torus_distance(torus, 0, s);
    }
    return torus->servers > 1 ? sum * ONE / (torus->servers - 1) : 0;
}

static uint64_t mean_depth(const struct path_question *q)
{
    uint64_t vertices = (uint64_t)__builtin_popcount(torus_links(q->torus)) * (q->torus->servers - 1);
    return vertices > 0 ? q->depths.total * ONE / vertices : 0;
}

/* How much of the records of two servers does not fall together: 0 with equal keys, ONE with no two equal. */
static uint64_t unlike(const struct path_question *q)
{
    uint64_t all = q->keys < q->keys_of_each ? q->keys : q->keys_of_each;
    uint64_t share = (uint64_t)((unsigned __int128)all * ONE * q->members / q->keys_of_each); /* N times S */
    return share <= ONE ? 0 : (share - ONE) / (q->members - 1);
}

bool path_is_direct(const struct path_question *q)
{
    if (q->members < 2 || q->roots < 2 || q->keys_of_each == 0) {
        return false;
    }
    uint64_t c = unlike(q), depth = mean_depth(q), distance = mean_distance(q->torus);
    uint64_t trees = ONE + (depth - ONE) * c / ONE, trees_in = (ONE + (q->members - 2) * c) / q->roots;
    uint64_t direct_in = (q->members - 1) * ONE / q->roots;
    trees = trees > trees_in ? trees : trees_in;
    uint64_t direct = distance > direct_in ? distance : direct_in;
    return direct * SLOWER < trees * SLOWER_OF;
}
