/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/query/summary_distinct.h"

#include "base/prng.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

enum { DRAWS = 1000 };

static uint8_t bytes[SUMMARY_DISTINCT_BYTES];

/* Hashes number from..to of a seed, some of them twice. */
static void fill(struct summary_distinct *d, uint64_t seed, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++) {
        summary_distinct_add(d, prng_mix(seed, i));
        if (i % 3 == 0) {
            summary_distinct_add(d, prng_mix(seed, i));
        }
    }
}

/* The standard error is 1.63 %: of a thousand answers ten at most are wrong by three of them. */
START_TEST(counts_are_within_their_bounds)
{
    static const uint64_t sizes[] = {1, 10, 100, 1000, 4096, 10000, 30000};
    static struct summary_distinct d;
    unsigned far = 0;
    for (unsigned turn = 0; turn < DRAWS; turn++) {
        uint64_t n = sizes[turn % (sizeof sizes / sizeof *sizes)];
        memset(&d, 0, sizeof d);
        fill(&d, turn, 0, n);
        double off = (double)summary_distinct_count(&d) / (double)n - 1;
        far += off > 3 * 0.01625 + 0.5 / (double)n || off < -3 * 0.01625 - 0.5 / (double)n;
    }
    ck_assert_uint_le(far, DRAWS / 100);
    memset(&d, 0, sizeof d);
    ck_assert_uint_eq(summary_distinct_count(&d), 0);
    fill(&d, 5, 0, 3000000);
    ck_assert_uint_gt(summary_distinct_count(&d), 2800000);
    ck_assert_uint_lt(summary_distinct_count(&d), 3200000);
}
END_TEST

START_TEST(merged_they_are_those_of_all)
{
    static struct summary_distinct a, b, all, back;
    for (unsigned n = 10; n <= 100000; n *= 10) {
        memset(&a, 0, sizeof a);
        memset(&b, 0, sizeof b);
        memset(&all, 0, sizeof all);
        fill(&a, 1, 0, n);
        fill(&b, 1, n / 2, 2 * n);
        fill(&all, 1, 0, 2 * n);
        ck_assert_int_eq(summary_distinct_decode(bytes, summary_distinct_encode(&b, bytes), &back), 0);
        ck_assert_mem_eq(&back, &b, sizeof b);
        summary_distinct_merge(&a, &back);
        ck_assert_mem_eq(&a, &all, sizeof all);
    }
}
END_TEST

START_TEST(bytes_that_are_none)
{
    static struct summary_distinct d, out;
    summary_distinct_add(&d, 0); /* the rest of the hash is 0: the highest rank */
    ck_assert_uint_eq(d.rank[0], SUMMARY_RANK_MOST);
    size_t size = summary_distinct_encode(&d, bytes);
    ck_assert_uint_eq(size, 7);
    ck_assert_int_eq(summary_distinct_decode(bytes, size, &out), 0);
    ck_assert_int_eq(summary_distinct_decode(bytes, size - 1, &out), -EPROTO);
    bytes[6] = SUMMARY_RANK_MOST + 1;
    ck_assert_int_eq(summary_distinct_decode(bytes, size, &out), -EPROTO);
    bytes[0] = 3;
    ck_assert_int_eq(summary_distinct_decode(bytes, size, &out), -EPROTO);
    fill(&d, 3, 0, 50000);
    size = summary_distinct_encode(&d, bytes);
    ck_assert_uint_eq(size, SUMMARY_DISTINCT_BYTES);
    bytes[3]++; /* another number of registers */
    ck_assert_int_eq(summary_distinct_decode(bytes, size, &out), -EPROTO);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(counts_are_within_their_bounds),
                                          SUITE_TEST(merged_they_are_those_of_all), SUITE_TEST(bytes_that_are_none)};
SUITE_MAIN("summary_distinct", tests)
