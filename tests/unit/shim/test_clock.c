/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/clock.h"

#include "suite.h"

START_TEST(it_is_the_monotonic_clock)
{
    struct timespec before;
    struct timespec after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    cw_time now = clock_now();
    clock_gettime(CLOCK_MONOTONIC, &after);
    ck_assert_int_ge(now.ns, (int64_t)before.tv_sec * 1000000000 + before.tv_nsec);
    ck_assert_int_le(now.ns, (int64_t)after.tv_sec * 1000000000 + after.tv_nsec);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(it_is_the_monotonic_clock),
};

SUITE_MAIN("clock", tests)
