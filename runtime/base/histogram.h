/* SPDX-License-Identifier: Apache-2.0 */
/*
 * histogram.h - how long things took, in little memory. The buckets are powers of two from 1 us to 17 s, each cut into
 * four parts, so that a time that is read off is wrong by an eighth at most. Noting a time costs a few instructions. A
 * histogram that is all zero is empty. Functions are pure.
 */
#ifndef BASE_HISTOGRAM_H
#define BASE_HISTOGRAM_H

#include <stdint.h>

enum {
    HISTOGRAM_FIRST = 10,                                            /* the first bucket holds times up to 2^10 ns */
    HISTOGRAM_OCTAVES = 24,                                          /* powers of two above that */
    HISTOGRAM_PARTS = 4,                                             /* of each power of two */
    HISTOGRAM_BUCKETS = 1 + HISTOGRAM_OCTAVES * HISTOGRAM_PARTS + 1, /* the last holds times above all bounds */
};

struct histogram {
    uint64_t count, sum_ns;
    uint64_t bucket[HISTOGRAM_BUCKETS];
};

/* Adds one time, in nanoseconds; one below 0 counts as 0. */
void histogram_note(struct histogram *h, int64_t ns);
/* The bucket that counts the time ns. */
unsigned histogram_index(int64_t ns);
/* The longest time that bucket i counts; INT64_MAX for the last bucket. */
int64_t histogram_bound(unsigned i);
/* How many of the times are at most the bound of bucket i. */
uint64_t histogram_up_to(const struct histogram *h, unsigned i);
/* About the time that permille thousandths of all times do not exceed; 0 when the histogram is empty. */
int64_t histogram_quantile(const struct histogram *h, unsigned permille);

#endif
