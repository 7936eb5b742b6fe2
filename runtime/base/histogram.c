/* SPDX-License-Identifier: Apache-2.0 */
#include "base/histogram.h"

unsigned histogram_index(int64_t ns)
{
    if (ns <= (INT64_C(1) << HISTOGRAM_FIRST)) {
        return 0;
    }
    uint64_t below = (uint64_t)ns - 1; /* so that a bucket's bound is counted in that bucket */
    unsigned octave = 63 - (unsigned)__builtin_clzll(below);
    unsigned part = (unsigned)(below >> (octave - 2)) & (HISTOGRAM_PARTS - 1);
    unsigned i = 1 + (octave - HISTOGRAM_FIRST) * HISTOGRAM_PARTS + part;
    return i < HISTOGRAM_BUCKETS ? i : HISTOGRAM_BUCKETS - 1;
}

int64_t histogram_bound(unsigned i)
{
    if (i == 0) {
        return INT64_C(1) << HISTOGRAM_FIRST;
    }
    if (i >= HISTOGRAM_BUCKETS - 1) {
        return INT64_MAX;
    }
    unsigned octave = HISTOGRAM_FIRST + (i - 1) / HISTOGRAM_PARTS;
    return (int64_t)(HISTOGRAM_PARTS + (i - 1) % HISTOGRAM_PARTS + 1) << (octave - 2);
}

void histogram_note(struct histogram *h, int64_t ns)
{
    h->count++;
    h->sum_ns += ns > 0 ? (uint64_t)ns : 0;
    h->bucket[histogram_index(ns)]++;
}

uint64_t histogram_up_to(const struct histogram *h, unsigned i)
{
    uint64_t sum = 0;
    for (unsigned b = 0; b <= i && b < HISTOGRAM_BUCKETS; b++) {
        sum += h->bucket[b];
    }
    return sum;
}

int64_t histogram_quantile(const struct histogram *h, unsigned permille)
{
    uint64_t rank =
        h->count / 1000 * permille + h->count % 1000 * permille / 1000; /* so many lie below the one wanted */
    uint64_t before = 0;
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS && h->count > 0; i++) {
        if (before + h->bucket[i] <= rank && before + h->bucket[i] < h->count) {
            before += h->bucket[i];
            continue;
        }
        int64_t from = i == 0 ? 0 : histogram_bound(i - 1);
        int64_t to = i < HISTOGRAM_BUCKETS - 1 ? histogram_bound(i) : from;
        return from + (to - from) / 2;
    }
    return 0;
}
