/* SPDX-License-Identifier: Apache-2.0 */
/* test_pace.c - rates and times that are left: of a resumed file, of one that stalls, of numbers that are large. */
#include "services/multicast/file/pace.h"

#include "suite.h"

static cw_time at(int64_t ms)
{
    return (cw_time){CW_MS(1000000 + ms).ns};
}

START_TEST(nothing_is_known_at_first)
{
    struct file_pace p = {.begun = false};
    ck_assert_int_eq(file_pace_rate(&p, at(0)), 0);
    ck_assert_int_lt(file_pace_left(&p, 1000, at(0)).ns, 0);
    file_pace_note(&p, 600, at(0));
    ck_assert_int_eq(file_pace_rate(&p, at(0)), 0);
    ck_assert_int_lt(file_pace_left(&p, 1000, at(0)).ns, 0);
    ck_assert_int_eq(file_pace_left(&p, 600, at(0)).ns, 0);
}
END_TEST

/* Nine tenths were there before: the last tenth takes as long as its own bytes do. */
START_TEST(what_was_there_before_is_no_rate)
{
    struct file_pace p = {.begun = false};
    file_pace_note(&p, 900000, at(0));
    file_pace_note(&p, 920000, at(1000));
    ck_assert_int_eq(file_pace_rate(&p, at(1000)), 160000);
    ck_assert_int_eq(file_pace_left(&p, 1000000, at(1000)).ns, CW_MS(4000).ns);
}
END_TEST

/* It is asked first, and its part is opened: that takes time in which nothing comes, and is no rate either. */
START_TEST(the_pace_begins_when_something_comes)
{
    struct file_pace p = {.begun = false};
    for (int64_t ms = 0; ms <= 3000; ms += 500) {
        file_pace_note(&p, 900000, at(ms));
    }
    file_pace_note(&p, 901000, at(3500)); /* a piece */
    ck_assert_int_lt(file_pace_left(&p, 1000000, at(3500)).ns, 0);
    file_pace_note(&p, 920000, at(4000));
    ck_assert_int_eq(file_pace_left(&p, 1000000, at(4000)).ns, CW_MS(4000).ns);
}
END_TEST

START_TEST(the_last_seconds_count)
{
    struct file_pace p = {.begun = false};
    uint64_t there = 0;
    int64_t ms = 0;
    for (; ms <= 60000; ms += 500, there += 500000) { /* 1 MB a second for a minute, and then a tenth of that */
        file_pace_note(&p, there, at(ms));
    }
    for (; ms <= 75000; ms += 500, there += 50000) {
        file_pace_note(&p, there, at(ms));
    }
    ck_assert_int_eq(file_pace_rate(&p, at(ms - 500)), 800000);
}
END_TEST

START_TEST(one_that_stalls)
{
    struct file_pace p = {.begun = false};
    file_pace_note(&p, 0, at(0));
    file_pace_note(&p, 1000000, at(1000));
    ck_assert_int_eq(file_pace_rate(&p, at(2900)), 8000000); /* the next note may still be under way */
    ck_assert_int_eq(file_pace_rate(&p, at(4000)), 2000000);
    ck_assert_int_eq(file_pace_rate(&p, at(12000)), 0);
    ck_assert_int_lt(file_pace_left(&p, 2000000, at(12000)).ns, 0);
    file_pace_note(&p, 5000, at(13000)); /* it lost what it had */
    ck_assert_int_eq(file_pace_rate(&p, at(13000)), 0);
    file_pace_note(&p, 10000, at(14000));
    ck_assert_int_eq(file_pace_rate(&p, at(14000)), 40000);
}
END_TEST

START_TEST(large_numbers)
{
    struct file_pace p = {.begun = false};
    ck_assert_int_eq(file_pace_mean(UINT64_MAX, CW_NS(1)), INT64_MAX);
    ck_assert_int_eq(file_pace_mean(5, CW_NS(0)), 0);
    ck_assert_int_eq(file_pace_mean(125, CW_SEC(1)), 1000);
    file_pace_note(&p, 0, at(0));
    file_pace_note(&p, 1, at(1000));
    ck_assert_int_eq(file_pace_left(&p, UINT64_MAX, at(1000)).ns, INT64_MAX);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(nothing_is_known_at_first),
                                          SUITE_TEST(what_was_there_before_is_no_rate),
                                          SUITE_TEST(the_pace_begins_when_something_comes),
                                          SUITE_TEST(the_last_seconds_count),
                                          SUITE_TEST(one_that_stalls),
                                          SUITE_TEST(large_numbers)};
SUITE_MAIN("file_pace", tests)
