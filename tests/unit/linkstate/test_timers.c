/* SPDX-License-Identifier: Apache-2.0 */
#include "linkstate/linkstate.h"
#include "suite.h"

#include <errno.h>

START_TEST(the_profiles_keep_the_guarantee)
{
    struct ls_timers timers = ls_timers_default();
    ck_assert_int_eq(ls_timers_check(&timers), 0);
    ck_assert_int_eq(timers.hello.ns, 10000000);
    ck_assert_int_eq(timers.refresh.ns, 1800000000000);
    timers = ls_timers_fast();
    ck_assert_int_eq(ls_timers_check(&timers), 0);
    ck_assert_int_eq(timers.dead.ns, 15000000);
}
END_TEST

/* Invariant 18: hold >= dead + flood bound; to the nanosecond. */
START_TEST(hold_outlasts_the_lease)
{
    struct ls_timers timers = ls_timers_default();
    timers.hold.ns = timers.dead.ns + timers.flood_bound.ns;
    ck_assert_int_eq(ls_timers_check(&timers), 0);
    timers.hold.ns--;
    ck_assert_int_eq(ls_timers_check(&timers), -EINVAL);
}
END_TEST

START_TEST(each_bound_is_checked)
{
    struct ls_timers good = ls_timers_default(), timers;
    cw_span *const fields[] = {&timers.hello,         &timers.dead, &timers.hold, &timers.flood_bound, &timers.retry,
                               &timers.pending_limit, &timers.pace, &timers.damp, &timers.damp_max,    &timers.refresh};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        timers = good;
        fields[i]->ns = -1;
        ck_assert_msg(ls_timers_check(&timers) == -EINVAL, "field %zu", i);
        fields[i]->ns = INT64_MIN;
        ck_assert_msg(ls_timers_check(&timers) == -EINVAL, "field %zu", i);
    }
    timers = good;
    timers.hello.ns = timers.dead.ns / 2;
    ck_assert_int_eq(ls_timers_check(&timers), 0);
    timers.hello.ns++;
    ck_assert_int_eq(ls_timers_check(&timers), -EINVAL);
    timers = good;
    timers.retry.ns = 0;
    ck_assert_int_eq(ls_timers_check(&timers), -EINVAL);
    timers = good;
    timers.pace.ns = timers.damp.ns = timers.damp_max.ns = timers.flood_bound.ns = 0;
    ck_assert_int_eq(ls_timers_check(&timers), 0);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(the_profiles_keep_the_guarantee),
    SUITE_TEST(hold_outlasts_the_lease),
    SUITE_TEST(each_bound_is_checked),
};
SUITE_MAIN("ls_timers", tests)
