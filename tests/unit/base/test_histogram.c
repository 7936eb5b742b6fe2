/* SPDX-License-Identifier: Apache-2.0 */
#include "base/histogram.h"

#include "suite.h"

START_TEST(bounds_grow_and_hold_what_they_say)
{
    ck_assert_int_eq(histogram_bound(0), 1024);
    ck_assert_int_eq(histogram_bound(1), 1280);
    ck_assert_int_eq(histogram_bound(4), 2048);
    for (unsigned i = 0; i + 1 < HISTOGRAM_BUCKETS; i++) {
        int64_t bound = histogram_bound(i);
        ck_assert_int_lt(bound, histogram_bound(i + 1));
        ck_assert_uint_eq(histogram_index(bound), i);
        ck_assert_uint_eq(histogram_index(bound + 1), i + 1);
    }
    ck_assert_int_eq(histogram_bound(HISTOGRAM_BUCKETS - 1), INT64_MAX);
    ck_assert_uint_eq(histogram_index(INT64_MAX), HISTOGRAM_BUCKETS - 1);
    ck_assert_uint_eq(histogram_index(-5), 0);
    ck_assert_uint_eq(histogram_index(0), 0);
}
END_TEST

START_TEST(what_is_noted_is_counted)
{
    struct histogram h = {0};
    ck_assert_int_eq(histogram_quantile(&h, 500), 0);
    for (int64_t us = 1; us <= 1000; us++) {
        histogram_note(&h, us * 1000);
    }
    histogram_note(&h, -1);
    ck_assert_uint_eq(h.count, 1001);
    ck_assert_uint_eq(h.sum_ns, UINT64_C(500500000));
    ck_assert_uint_eq(histogram_up_to(&h, HISTOGRAM_BUCKETS - 1), 1001);
    ck_assert_uint_eq(histogram_up_to(&h, 0), 2);
}
END_TEST

START_TEST(quantiles_are_an_eighth_off_at_most)
{
    struct histogram h = {0};
    for (int64_t us = 1; us <= 10000; us++) {
        histogram_note(&h, us * 1000);
    }
    for (unsigned permille = 10; permille < 1000; permille += 10) {
        int64_t is = histogram_quantile(&h, permille), should = (int64_t)permille * 10 * 1000;
        ck_assert_msg(is > should - should / 7 && is < should + should / 7, "%u: %lld", permille, (long long)is);
    }
    struct histogram one = {0};
    histogram_note(&one, 5000);
    ck_assert_int_eq(histogram_quantile(&one, 0), histogram_quantile(&one, 1000));
    struct histogram slow = {0};
    histogram_note(&slow, INT64_C(60) * 1000 * 1000 * 1000);
    ck_assert_int_eq(histogram_quantile(&slow, 500), INT64_C(1) << 34);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(bounds_grow_and_hold_what_they_say),
                                          SUITE_TEST(what_is_noted_is_counted),
                                          SUITE_TEST(quantiles_are_an_eighth_off_at_most)};
SUITE_MAIN("histogram", tests)
