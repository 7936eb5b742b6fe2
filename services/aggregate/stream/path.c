/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/stream/path.h"

/* Fractions are in millionths. */
#define ONE UINT64_C(1000000)

/* Less than a part in so many is no gain: trees that share no arc keep more of their rate when a server dies. */
enum { GAIN = 50 };

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

/* What links carry at the most, of trees of that mean depth where so many streams end at a root. */
static uint64_t cost(const struct path_question *q, uint64_t depth, unsigned streams)
{
    uint64_t c = unlike(q), others = q->members - 1;
    uint64_t ends = streams < others ? streams : others;
    uint64_t load = ONE + (depth - ONE) * c / ONE, in = (ends * ONE + (others - ends) * c) / q->roots;
    return load > in ? load : in;
}

enum letter_way path_choose(const struct path_question *q)
{
    if (q->members < 2 || q->roots < 2 || q->keys_of_each == 0) {
        return LETTER_TREES;
    }
    uint64_t trees = cost(q, mean_depth(q), 1);
    uint64_t shortest = cost(q, mean_distance(q->torus), (unsigned)__builtin_popcount(torus_links(q->torus)));
    return shortest + trees / GAIN < trees ? LETTER_SHORT : LETTER_TREES;
}
