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
    ck_assert_int_eq(CW_MINUTES(7).ns, 420000000000);
    ck_assert_int_eq(CW_HOURS(7).ns, 25200000000000);
    ck_assert_int_eq(CW_DAYS(7).ns, 604800000000000);
    ck_assert_int_eq(CW_MS(2 + 3).ns, 5000000);
    ck_assert_int_eq(CW_SEC(-1).ns, -1000000000);
}
END_TEST

static const cw_span lone = CW_MS(5);
static const cw_span several[] = {CW_NS(1), CW_US(1), CW_SEC(1), CW_MINUTES(1), CW_HOURS(1), CW_DAYS(1)};
static const struct {
    int number;
    cw_span span;
    cw_time time;
} mixed = {.number = 1, .span = CW_US(2), .time = CW_NEVER};
enum { NUMBER = 20 * CW_NS_PER_MS };

/* That this file compiles is half of the test: all forms may initialise static objects. */
START_TEST(units_initialise_static_objects)
{
    ck_assert_int_eq(lone.ns, 5000000);
    ck_assert_int_eq(several[0].ns, 1);
    ck_assert_int_eq(several[1].ns, CW_NS_PER_US);
    ck_assert_int_eq(several[2].ns, CW_NS_PER_SEC);
    ck_assert_int_eq(several[3].ns, 60 * CW_NS_PER_SEC);
    ck_assert_int_eq(several[4].ns, 3600 * CW_NS_PER_SEC);
    ck_assert_int_eq(several[5].ns, 24 * 3600 * CW_NS_PER_SEC);
    ck_assert_int_eq(mixed.number, 1);
    ck_assert_int_eq(mixed.span.ns, 2000);
    ck_assert_int_eq(mixed.time.ns, INT64_MAX);
    ck_assert_int_eq(NUMBER, 20000000);
}
END_TEST

START_TEST(spans_in_whole_units_round_towards_zero)
{
    ck_assert_int_eq(cw_span_us(CW_NS(1999)), 1);
    ck_assert_int_eq(cw_span_us(CW_NS(-1999)), -1);
    ck_assert_int_eq(cw_span_us(CW_SEC(2)), 2000000);
    ck_assert_int_eq(cw_span_ms(CW_US(1999)), 1);
    ck_assert_int_eq(cw_span_ms(CW_US(-1999)), -1);
    ck_assert_int_eq(cw_span_ms(CW_SEC(2)), 2000);
}
END_TEST

START_TEST(sums_of_spans_saturate)
{
    ck_assert_int_eq(cw_span_add(CW_MS(1), CW_US(-1)).ns, 999000);
    ck_assert_int_eq(cw_span_add((cw_span){INT64_MAX}, CW_NS(1)).ns, INT64_MAX);
    ck_assert_int_eq(cw_span_add((cw_span){INT64_MIN}, CW_NS(-1)).ns, INT64_MIN);
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
    ck_assert(cw_time_before(a, b));
    ck_assert(!cw_time_before(b, a));
    ck_assert(!cw_time_before(a, a));
    ck_assert(cw_time_due(a, b));
    ck_assert(cw_time_due(a, a));
    ck_assert(!cw_time_due(b, a));
    ck_assert_int_eq(cw_time_min(a, b).ns, 5);
    ck_assert_int_eq(cw_time_min(b, a).ns, 5);
    ck_assert_int_eq(cw_time_max(a, b).ns, 6);
    ck_assert_int_eq(cw_time_min(a, CW_NEVER).ns, 5);
    ck_assert(cw_time_before(b, CW_NEVER));
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(units),
    SUITE_TEST(units_initialise_static_objects),
    SUITE_TEST(spans_in_whole_units_round_towards_zero),
    SUITE_TEST(sums_of_spans_saturate),
    SUITE_TEST(addition_saturates_at_both_ends),
    SUITE_TEST(never_stays_never),
    SUITE_TEST(difference_saturates),
    SUITE_TEST(order),
};
SUITE_MAIN("time", tests)
