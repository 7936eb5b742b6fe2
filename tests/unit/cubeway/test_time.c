/* SPDX-License-Identifier: Apache-2.0 */
#include "cubeway/time.h"

#include "suite.h"

static cw_time at(int64_t ns)
{
    return (cw_time){ns};
}

START_TEST(units)
{
    ck_assert_int_eq(CW_NS(7).ns, 7);
    ck_assert_int_eq(CW_US(7).ns, 7000);
    ck_assert_int_eq(CW_MS(7).ns, 7000000);
    ck_assert_int_eq(CW_SEC(7).ns, 7000000000);
    ck_assert_int_eq(CW_SEC(-1).ns, -1000000000);
}
END_TEST

START_TEST(order)
{
    ck_assert(cw_time_before(at(1), at(2)));
    ck_assert(!cw_time_before(at(2), at(2)));
    ck_assert(cw_time_before(at(INT64_MAX - 1), CW_NEVER));
    ck_assert_int_eq(cw_time_min(at(1), at(2)).ns, 1);
    ck_assert_int_eq(cw_time_min(CW_NEVER, at(2)).ns, 2);
    ck_assert_int_eq(cw_time_max(at(1), at(2)).ns, 2);
    ck_assert_int_eq(cw_time_max(CW_NEVER, at(2)).ns, CW_NEVER.ns);
}
END_TEST

START_TEST(due)
{
    ck_assert(cw_time_due(at(5), at(5)));
    ck_assert(cw_time_due(at(5), at(6)));
    ck_assert(!cw_time_due(at(6), at(5)));
    ck_assert(!cw_time_due(CW_NEVER, at(INT64_MAX - 1)));
    ck_assert(!cw_time_due(CW_NEVER, CW_NEVER));
}
END_TEST

START_TEST(sums_saturate)
{
    ck_assert_int_eq(cw_time_add(at(5), CW_NS(3)).ns, 8);
    ck_assert_int_eq(cw_time_add(at(5), CW_NS(-8)).ns, -3);
    ck_assert_int_eq(cw_time_add(at(INT64_MAX - 3), CW_NS(2)).ns, INT64_MAX - 1);
    ck_assert_int_eq(cw_time_add(at(INT64_MAX - 3), CW_NS(3)).ns, CW_NEVER.ns);
    ck_assert_int_eq(cw_time_add(at(INT64_MAX - 3), CW_NS(4)).ns, CW_NEVER.ns);
    ck_assert_int_eq(cw_time_add(CW_NEVER, CW_NS(-1)).ns, CW_NEVER.ns);
}
END_TEST

START_TEST(since)
{
    ck_assert_int_eq(cw_time_since(at(8), at(5)).ns, 3);
    ck_assert_int_eq(cw_time_since(at(5), at(8)).ns, -3);
    ck_assert_int_eq(cw_time_add(at(5), cw_time_since(at(8), at(5))).ns, 8);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(units), SUITE_TEST(order), SUITE_TEST(due), SUITE_TEST(sums_saturate), SUITE_TEST(since),
};
SUITE_MAIN("time", tests)
