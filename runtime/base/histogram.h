/* SPDX-License-Identifier: Apache-2.0 */
/*
 * histogram.h - how long things took, in little memory: powers of two from 1 us to 17 s, each in four parts, so that what is read off is at most an eighth
 * off. Noting costs a few instructions. All zero is an empty one. Pure.
 */
#ifndef BASE_HISTOGRAM_H
#define BASE_HISTOGRAM_H

#include <stdint.h>

enum {
    HISTOGRAM_FIRST = 10, /* 2^10 ns: what is not above it is in the first bucket */
    HISTOGRAM_OCTAVES = 24,
    HISTOGRAM_PARTS = 4,
    HISTOGRAM_BUCKETS = 1 + HISTOGRAM_OCTAVES * HISTOGRAM_PARTS + 1, /* the last holds what is above all bounds */
};

struct histogram {
    uint64_t count, sum_ns;
    uint64_t bucket[HISTOGRAM_BUCKETS];
};

/* Below 0 counts as 0. */
void histogram_note(struct histogram *h, int64_t ns);
/* The bucket in which ns is counted. */
unsigned histogram_index(int64_t ns);
/* What bucket i holds is not above that; INT64_MAX: the last. */
int64_t histogram_bound(unsigned i);
/* How many took no longer than the bound of bucket i. */
uint64_t histogram_up_to(const struct histogram *h, unsigned i);
/* The time that so many of a thousand did not exceed, about; 0: nothing was noted. */
int64_t histogram_quantile(const struct histogram *h, unsigned permille);

#endif
