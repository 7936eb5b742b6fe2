/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path.h - over arc-disjoint trees, or over trees of shortest ways (dense/ways.h): by which way are the records of a
 * run sooner at their roots?
 *
 * Let each of N contributors have M bytes of records, for R roots of one part each. On a tree the edge above a server
 * that has s servers below it, itself included, carries what these have together: 1 + (s - 1)c of what one has, where c
 * is 0 if all have the same keys and 1 if no two have. The mean of s over all servers is the mean depth d of the trees,
 * so a server's links carry (1 + (d - 1)c) M. Those of a root bring M / R from each of its n children in a tree, and
 * c M / R from each server behind them: (n + (N - 1 - n)c) M / R. Whichever is more bounds the run. Arc-disjoint trees
 * have one child below a root, and those of shortest ways one at each link; but these are less deep: their mean depth
 * is the mean distance.
 *
 * So with few roots the first are faster, and with many the second, unless keys are all the same. Straight to the roots
 * records go as far as over shortest ways, and are never combined: that is never chosen. c follows from the number S of
 * different keys of all, over the sum of how many each has: S = (1 + (N - 1)c) / N. Keys that overlap with those of
 * neighbours only are judged wrong. Pure.
 */
#ifndef SERVICES_AGGREGATE_STREAM_PATH_H
#define SERVICES_AGGREGATE_STREAM_PATH_H

#include "keyspace/trees.h"
#include "services/aggregate/stream/letter.h"

struct path_question {
    const struct torus *torus;
    struct trees_extent depths; /* of its trees */
    unsigned members, roots;
    uint64_t keys, keys_of_each; /* different keys of all; how many each has, added up */
};

/* The fastest way. With equal times: over trees. */
enum letter_way path_choose(const struct path_question *q);

#endif
