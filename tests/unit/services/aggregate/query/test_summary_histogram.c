/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/query/summary_histogram.h"

#include "base/histogram.h"
#include "base/prng.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static struct prng random_of(uint64_t seed)
{
    return prng_stream(seed, 0, 2);
}

static summary_value draw(struct prng *random)
{
    summary_value v =
        (summary_value)(prng_next(random) >> prng_below(random, 64)) * (prng_below(random, 2) ? 1 : 999983);
    return prng_below(random, 3) == 0 ? -v : v;
}

START_TEST(numbers_lie_in_their_buckets)
{
    struct prng random = random_of(1);
    summary_value low, high, last = 0;
    for (unsigned i = 0; i < 200000; i++) {
        summary_value v = i < 3000 ? (summary_value)i - 1500 : draw(&random);
        unsigned at = summary_histogram_index(v);
        SUITE_HOLDS(at < SUMMARY_BUCKETS);
        summary_histogram_bounds(at, &low, &high);
        SUITE_HOLDS(v > 0 ? low < v && v <= high : v < 0 ? low <= v && v < high : low == 0 && high == 0);
    }
    for (unsigned i = 0; i < SUMMARY_BUCKETS; i++, last = high) {
        summary_histogram_bounds(i, &low, &high);
        SUITE_HOLDS(i == 0 || low == last, "bucket %u", i);
        SUITE_HOLDS(i < SUMMARY_SIDE + 6 || (high - low) * 4 <= low, "bucket %u", i);
    }
    summary_histogram_bounds(SUMMARY_BUCKETS - 1, &low, &high);
    ck_assert(high >= SUMMARY_VALUE_MOST);
}
END_TEST

/* The bounds of a service's times are bounds here. */
START_TEST(times_fit)
{
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS - 1; i++) {
        summary_value low, high;
        summary_histogram_bounds(summary_histogram_index(histogram_bound(i)), &low, &high);
        SUITE_HOLDS(high == histogram_bound(i));
        SUITE_HOLDS(i == 0 || low == histogram_bound(i - 1));
    }
}
END_TEST

static int by_value(const void *a, const void *b)
{
    summary_value x = *(const summary_value *)a, y = *(const summary_value *)b;
    return (x > y) - (x < y);
}

START_TEST(quantiles_are_within_an_eighth)
{
    enum { COUNT = 1001, PARTS = 7 };
    static summary_value v[COUNT];
    static struct summary_histogram part[PARTS], sum;
    static uint8_t bytes[SUMMARY_HISTOGRAM_BYTES];
    for (unsigned seed = 0; seed < 50; seed++) {
        struct prng random = random_of(100 + seed);
        memset(part, 0, sizeof part);
        memset(&sum, 0, sizeof sum);
        sum.of = SUMMARY_OF_FEED;
        for (unsigned i = 0; i < COUNT; i++) {
            v[i] = draw(&random);
            summary_histogram_add(&part[i % PARTS], v[i], 1);
        }
        for (unsigned i = 0; i < PARTS; i++) {
            part[i].of = SUMMARY_OF_FEED;
            size_t size = summary_histogram_encode(&part[i], bytes);
            struct summary_histogram back;
            ck_assert_int_eq(summary_histogram_decode(bytes, size, &back), 0);
            ck_assert_int_eq(summary_histogram_merge(&sum, &back), 0);
        }
        ck_assert_uint_eq(sum.count, COUNT);
        qsort(v, COUNT, sizeof *v, by_value);
        for (uint32_t ppm = 0; ppm <= 1000000; ppm += 12500) {
            uint64_t rank = ((uint64_t)COUNT * ppm + 999999) / 1000000;
            summary_value right = v[rank > 0 ? rank - 1 : 0], said = summary_histogram_quantile(&sum, ppm);
            summary_value off = said > right ? said - right : right - said;
            SUITE_HOLDS(off * 8 <= (right < 0 ? -right : right) + 7, "seed %u, %u ppm", seed, ppm);
        }
    }
}
END_TEST

START_TEST(bytes_that_are_none)
{
    static struct summary_histogram h = {.of = SUMMARY_OF_TIMES}, out;
    static uint8_t bytes[SUMMARY_HISTOGRAM_BYTES];
    ck_assert(summary_histogram_quantile(&h, 500000) == 0);
    summary_histogram_add(&h, 5, 1);
    summary_histogram_add(&h, 500, 2);
    size_t size = summary_histogram_encode(&h, bytes);
    ck_assert_uint_eq(size, 24);
    ck_assert_int_eq(summary_histogram_decode(bytes, size, &out), 0);
    ck_assert_int_eq(summary_histogram_decode(bytes, size - 1, &out), -EPROTO);
    ck_assert_int_eq(summary_histogram_merge(&out, &(struct summary_histogram){.of = SUMMARY_OF_FEED}), -EINVAL);
    memcpy(bytes + 14, bytes + 4, 10); /* twice the same bucket */
    ck_assert_int_eq(summary_histogram_decode(bytes, size, &out), -EPROTO);
    memset(bytes + 6, 0, 8); /* a bucket of none */
    ck_assert_int_eq(summary_histogram_decode(bytes, size, &out), -EPROTO);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(numbers_lie_in_their_buckets), SUITE_TEST(times_fit),
                                          SUITE_TEST(quantiles_are_within_an_eighth), SUITE_TEST(bytes_that_are_none)};
SUITE_MAIN("summary_histogram", tests)
