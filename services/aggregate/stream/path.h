/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path.h - over trees, or straight to the roots: by which way are the records of a run sooner at their roots?
 *
 * Let each of N contributors have M bytes of records, for R roots of one part each. On a tree the edge above a server
 * that has s servers below it, itself included, carries what these have together: 1 + (s - 1)c of what one has, where c
 * is 0 if all have the same keys and 1 if no two have. The mean of s over all servers is the mean depth d of the trees.
 * So a server's links carry (1 + (d - 1)c) M over trees, and M times the mean distance straight to the roots; and those
 * of a root bring (1 + (N - 2)c) M / R, or (N - 1) M / R. Whichever is more bounds the run.
 *
 * c follows from the number S of different keys of all, over the sum of how many each has: S = (1 + (N - 1)c) / N.
 * Keys that overlap with those of neighbours only are judged wrong. Links are used less well past the trees than on
 * them, by a share that was measured (path.c). Pure.
 */
#ifndef SERVICES_AGGREGATE_STREAM_PATH_H
#define SERVICES_AGGREGATE_STREAM_PATH_H

#include "keyspace/trees.h"

struct path_question {
    const struct torus *torus;
    struct trees_extent depths; /* of its trees */
    unsigned members, roots;
    uint64_t keys, keys_of_each; /* different keys of all; how many each has, added up */
};

/* Is it faster past the trees? With equal times: no. */
bool path_is_direct(const struct path_question *q);

#endif
