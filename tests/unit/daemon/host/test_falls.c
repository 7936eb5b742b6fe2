/* SPDX-License-Identifier: Apache-2.0 */
/* test_falls.c - a link's falls are kept with the lives around them, newest first, and each is counted once. */
#include "daemon/host/falls.h"

#include "suite.h"

static cw_time at(int64_t ms)
{
    return (cw_time){CW_MS(ms).ns};
}

START_TEST(each_is_counted_once)
{
    struct falls f = {.count = 0};
    ck_assert(falls_at(&f, 0) == NULL);
    falls_note(&f, at(5), 7, FALLS_OWN);
    falls_note(&f, at(5), 7, FALLS_SILENT);
    ck_assert_uint_eq(f.count, 1);
    ck_assert_int_eq(falls_at(&f, 0)->why, FALLS_OWN);
    ck_assert(falls_at(&f, 1) == NULL);
    for (unsigned i = 1; i <= FALLS_KEPT; i++) {
        falls_note(&f, at(5 + (int64_t)i), i, FALLS_CARRIER);
    }
    ck_assert_uint_eq(falls_at(&f, 0)->life, FALLS_KEPT);
    ck_assert_uint_eq(falls_at(&f, FALLS_KEPT - 1)->life, 1);
    ck_assert(falls_at(&f, FALLS_KEPT) == NULL);
}
END_TEST

START_TEST(what_came_after)
{
    struct falls f = {.count = 0};
    falls_up(&f, 3);
    falls_left(&f);
    ck_assert_uint_eq(f.count, 0);
    falls_note(&f, at(5), 7, FALLS_SILENT);
    falls_left(&f);
    falls_up(&f, 9);
    falls_up(&f, 11);
    ck_assert(falls_at(&f, 0)->left);
    ck_assert_uint_eq(falls_at(&f, 0)->after, 9);
    falls_note(&f, at(6), 9, FALLS_SILENT);
    falls_up(&f, 9);
    falls_left(&f); /* a leave after the link was up again has nothing to do with that fall */
    ck_assert(!falls_at(&f, 0)->left);
}
END_TEST

/* Devices tell of a lost carrier after the silence. What is no longer down, or fell long ago, stays as it was noted. */
START_TEST(a_carrier_that_is_told_late)
{
    struct falls f = {.count = 0};
    falls_note(&f, at(5), 7, FALLS_SILENT);
    falls_carrier(&f, at(3000), FALLS_CARRIER);
    ck_assert_int_eq(falls_at(&f, 0)->why, FALLS_SILENT);
    falls_carrier(&f, at(1000), FALLS_CARRIER);
    ck_assert_int_eq(falls_at(&f, 0)->why, FALLS_CARRIER);
    falls_carrier(&f, at(1001), FALLS_OWN);
    ck_assert_int_eq(falls_at(&f, 0)->why, FALLS_CARRIER);
    falls_note(&f, at(4000), 7, FALLS_SILENT);
    falls_up(&f, 7);
    falls_carrier(&f, at(4001), FALLS_CARRIER);
    ck_assert_int_eq(falls_at(&f, 0)->why, FALLS_SILENT);
}
END_TEST

/* An interface was away, and is back: what the neighbour missed meanwhile, and says a moment later, no cable lost. */
START_TEST(a_carrier_that_is_back)
{
    struct falls f = {.count = 0};
    falls_back(&f, at(1));
    falls_note(&f, at(5), 7, FALLS_SILENT);
    ck_assert_int_eq(falls_at(&f, 0)->why, FALLS_SILENT);
    falls_up(&f, 7);
    falls_carrier(&f, at(10000), FALLS_OWN);
    ck_assert_int_eq(falls_at(&f, 0)->why, FALLS_SILENT);
    falls_note(&f, at(10100), 7, FALLS_SILENT);
    ck_assert_int_eq(falls_at(&f, 0)->why, FALLS_OWN);
    falls_up(&f, 7);
    falls_back(&f, at(20000));
    falls_note(&f, at(21900), 7, FALLS_SILENT);
    ck_assert_int_eq(falls_at(&f, 0)->why, FALLS_OWN);
    falls_up(&f, 7);
    falls_note(&f, at(22100), 7, FALLS_SILENT);
    ck_assert_int_eq(falls_at(&f, 0)->why, FALLS_SILENT);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(each_is_counted_once), SUITE_TEST(what_came_after),
                                          SUITE_TEST(a_carrier_that_is_told_late), SUITE_TEST(a_carrier_that_is_back)};
SUITE_MAIN("falls", tests)
