/* SPDX-License-Identifier: Apache-2.0 */
#include "cubeway/time.h"
#include "suite.h"

static const cw_time FIRST = {INT64_MIN};

START_TEST(units)
{
    ck_assert_int_eq(CW_NS(7).ns, 7);
    ck_assert_int_eq(CW_US(7).ns, 7000);
    ck_assert_int_eq(CW_MS(7).ns, 7000000);
    ck_assert_int_eq(CW_SEC(7).ns, 7000000000);
}
END_TEST

START_TEST(addition_saturates_at_both_ends)
{
    ck_assert_int_eq(cw_time_add((cw_time){5}, CW_NS(7)).ns, 12);
    ck_assert_int_eq(cw_time_add((cw_time){5}, CW_NS(-7)).ns, -2);
    ck_assert_int_eq(cw_time_add((cw_time){INT64_MAX - 1}, CW_NS(1)).ns, CW_NEVER.ns);
    ck_assert_int_eq(cw_time_add((cw_time){INT64_MAX - 1}, CW_NS(2)).ns, CW_NEVER.ns);
    ck_assert_int_eq(cw_time_add((cw_time){1}, (cw_span){INT64_MAX}).ns, CW_NEVER.ns);
    ck_assert_int_eq(cw_time_add((cw_time){-2}, (cw_span){INT64_MIN}).ns, FIRST.ns);
    ck_assert_int_eq(cw_time_add(FIRST, CW_NS(-1)).ns, FIRST.ns);
}
END_TEST

START_TEST(never_stays_never)
{
    ck_assert_int_eq(cw_time_add(CW_NEVER, CW_MS(10)).ns, CW_NEVER.ns);
    ck_assert_int_eq(cw_time_add(CW_NEVER, CW_MS(-10)).ns, CW_NEVER.ns);
    ck_assert(!cw_time_due(CW_NEVER, CW_NEVER));
    ck_assert(!cw_time_due(CW_NEVER, (cw_time){0}));
}
END_TEST

START_TEST(difference_saturates)
{
    ck_assert_int_eq(cw_time_since((cw_time){12}, (cw_time){5}).ns, 7);
    ck_assert_int_eq(cw_time_since((cw_time){5}, (cw_time){12}).ns, -7);
    ck_assert_int_eq(cw_time_since((cw_time){5}, FIRST).ns, INT64_MAX);
    ck_assert_int_eq(cw_time_since(FIRST, (cw_time){5}).ns, INT64_MIN);
}
END_TEST

START_TEST(order)
{
    cw_time a = {5}, b = {6};
    ck_assert(cw_time_before(a, b) && !cw_time_before(b, a) && !cw_time_before(a, a));
    ck_assert(cw_time_due(a, b) && cw_time_due(a, a) && !cw_time_due(b, a));
    ck_assert_int_eq(cw_time_min(a, b).ns, 5);
    ck_assert_int_eq(cw_time_min(b, a).ns, 5);
    ck_assert_int_eq(cw_time_max(a, b).ns, 6);
    ck_assert_int_eq(cw_time_min(a, CW_NEVER).ns, 5);
    ck_assert(cw_time_before(b, CW_NEVER));
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(units),
    SUITE_TEST(addition_saturates_at_both_ends),
    SUITE_TEST(never_stays_never),
    SUITE_TEST(difference_saturates),
    SUITE_TEST(order),
};
SUITE_MAIN("time", tests)
