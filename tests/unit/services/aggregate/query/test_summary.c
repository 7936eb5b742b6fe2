/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/query/summary.h"

#include "suite.h"

START_TEST(sums_and_counts_have_an_end)
{
    const summary_value most = (summary_value)(((unsigned __int128)1 << 127) - 1);
    ck_assert(summary_sum(most, 1) < 0);
    ck_assert(summary_sum(SUMMARY_VALUE_MOST, -SUMMARY_VALUE_MOST) == 0);
    ck_assert(SUMMARY_VALUE_MOST < (summary_value)1 << 84);
    ck_assert_uint_eq(summary_count(UINT64_MAX, 1), UINT64_MAX);
    ck_assert_uint_eq(summary_count(UINT64_MAX - 1, 1), UINT64_MAX);
    ck_assert_uint_eq(summary_count(2, 3), 5);
    ck_assert(summary_of_valid(SUMMARY_OF_FEED) && !summary_of_valid(0) && !summary_of_valid(4));
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(sums_and_counts_have_an_end)};
SUITE_MAIN("summary", tests)
