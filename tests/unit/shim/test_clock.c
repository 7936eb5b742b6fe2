/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/clock.h"

#include "suite.h"

START_TEST(it_is_the_clock_that_counts_suspension)
{
    struct timespec before;
    struct timespec after;
    clock_gettime(CLOCK_BOOTTIME, &before);
    cw_time now = clock_now();
    clock_gettime(CLOCK_BOOTTIME, &after);
    ck_assert_int_ge(now.ns, (int64_t)before.tv_sec * 1000000000 + before.tv_nsec);
    ck_assert_int_le(now.ns, (int64_t)after.tv_sec * 1000000000 + after.tv_nsec);
}
END_TEST

static void rest(int64_t ns)
{
    nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
}

START_TEST(held_time_stands_and_goes_on_from_there)
{
    cw_time start = clock_now();
    cw_time limit = cw_time_add(start, CW_MS(2));
    clock_hold(limit);
    rest(20000000);
    ck_assert_int_eq(clock_now().ns, limit.ns);
    ck_assert_int_eq(clock_now().ns, limit.ns);
    clock_hold(CW_NEVER);
    int64_t system = clock_system_ns();
    cw_time now = clock_now();
    ck_assert_int_ge(now.ns, limit.ns);
    ck_assert_int_ge(clock_system(now).ns, system);
    ck_assert_int_ge(clock_system_ns() - now.ns, 18000000 - 1000); /* what was held stays held */
    rest(5000000);
    ck_assert_int_ge(clock_now().ns, now.ns + 5000000);
}
END_TEST

START_TEST(time_that_reaches_no_limit_is_not_held)
{
    int64_t behind = clock_system((cw_time){0}).ns;
    for (int i = 0; i < 100; i++) {
        clock_hold(cw_time_add(clock_now(), CW_SEC(100)));
    }
    clock_hold(CW_NEVER);
    ck_assert_int_eq(clock_system((cw_time){0}).ns, behind);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(it_is_the_clock_that_counts_suspension),
    SUITE_TEST(held_time_stands_and_goes_on_from_there),
    SUITE_TEST(time_that_reaches_no_limit_is_not_held),
};

SUITE_MAIN("clock", tests)
