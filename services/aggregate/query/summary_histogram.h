/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary_histogram.h - how many numbers lie where, from -2^64 to 2^64 in millionths. The buckets are powers of two,
 * each cut into four parts, so that a number that is read off is wrong by an eighth at most; up to 8 units, by nothing.
 * They are those of base/histogram.h, drawn out on both sides. Pure.
 *
 * A number x > 0 lies in the bucket (low, high] with high - low <= low / 4, and is read off as the middle of that: so
 * the error is at most low / 8, which is less than x / 8.
 */
#ifndef SERVICES_AGGREGATE_QUERY_SUMMARY_HISTOGRAM_H
#define SERVICES_AGGREGATE_QUERY_SUMMARY_HISTOGRAM_H

#include "services/aggregate/query/summary.h"

enum {
    SUMMARY_SIDE = 332, /* buckets above 0, and as many below */
    SUMMARY_BUCKETS = 2 * SUMMARY_SIDE + 1,
    SUMMARY_HISTOGRAM_HEAD = 4,
    SUMMARY_HISTOGRAM_BYTES = SUMMARY_HISTOGRAM_HEAD + 10 * SUMMARY_BUCKETS, /* at most */
};

/* Zeroed but for `of` it is empty. */
struct summary_histogram {
    uint8_t of; /* enum summary_of */
    uint64_t count;
    uint64_t bucket[SUMMARY_BUCKETS]; /* from the least numbers up; that of 0 is number SUMMARY_SIDE */
};

/* The bucket of a number; and what is in it: above 0 what is in (*low, *high], below 0 what is in [*low, *high). */
unsigned summary_histogram_index(summary_value v);
void summary_histogram_bounds(unsigned i, summary_value *low, summary_value *high);

void summary_histogram_add(struct summary_histogram *h, summary_value v, uint64_t times);
/* Adds b to a. -EINVAL: they are of different sources; a has not changed. */
CW_MUST_CHECK int summary_histogram_merge(struct summary_histogram *a, const struct summary_histogram *b);
/* About the least number that ppm millionths of all do not exceed (0: the least, 1,000,000: the greatest). None: 0. */
summary_value summary_histogram_quantile(const struct summary_histogram *h, uint32_t ppm);

/* Gives the bytes written, at most SUMMARY_HISTOGRAM_BYTES. */
size_t summary_histogram_encode(const struct summary_histogram *h, uint8_t *out);
/* -EPROTO: it is none. */
CW_MUST_CHECK int summary_histogram_decode(const uint8_t *bytes, size_t size, struct summary_histogram *out);

#endif
