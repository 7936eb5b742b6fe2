/* SPDX-License-Identifier: Apache-2.0 */
/* test_differ.c - what another configuration has in another way is found by its number alone. */
#include "daemon/doctor/differ.h"

#include "suite.h"

enum { MTU = 1500 };
static const cw_dims dims = {2, 2, 2};

static bool find(const struct daemon_config *other, cw_dims other_dims, struct differ *out)
{
    struct daemon_config ours = config_default();
    return differ_find(&ours, dims, MTU, config_hash(other, other_dims, MTU), out);
}

START_TEST(dims_are_named)
{
    struct daemon_config other = config_default();
    struct differ d;
    ck_assert(find(&other, (cw_dims){2, 2, 3}, &d));
    ck_assert_str_eq(d.theirs, "torus.dims = 2x2x3");
    ck_assert_str_eq(d.ours, "2x2x2");
    ck_assert_str_eq(d.set, "torus.dims = 2x2x2");
}
END_TEST

START_TEST(timers_are_named)
{
    struct daemon_config other = config_default();
    struct differ d;
    other.timers.hello = CW_MS(20);
    ck_assert(find(&other, dims, &d));
    ck_assert_str_eq(d.theirs, "timers.hello = 20ms");
    ck_assert_str_eq(d.ours, "10ms");
    other = config_default();
    other.timers.dead = CW_MS(500);
    other.timers.hold = CW_MS(600);
    ck_assert(find(&other, dims, &d));
    ck_assert_str_eq(d.theirs, "timers.dead = 500ms and timers.hold = 600ms");
    ck_assert_str_eq(d.ours, "50ms and 60ms");
    ck_assert_str_eq(d.set, "timers.dead = 50ms and timers.hold = 60ms");
    other.timers.dead = CW_SEC(2);
    other.timers.hold = CW_MS(2200);
    ck_assert(find(&other, dims, &d));
    ck_assert_str_eq(d.theirs, "timers.dead = 2s and timers.hold = 2200ms");
    other.timers.hello = CW_MS(50);
    ck_assert(find(&other, dims, &d));
    ck_assert_str_eq(d.theirs, "timers.hello = 50ms, timers.dead = 2s and timers.hold = 2200ms");
    ck_assert_str_eq(d.ours, "10ms, 50ms and 60ms");
    ck_assert_str_eq(d.set, "timers.hello = 10ms, timers.dead = 50ms and timers.hold = 60ms");
    other = config_default();
    other.timers.hello = CW_MS(17);
    ck_assert(find(&other, dims, &d));
    ck_assert_str_eq(d.theirs, "timers.hello = 17ms");
}
END_TEST

START_TEST(what_differs_in_more_is_not_guessed)
{
    struct daemon_config other = config_default();
    struct differ d;
    other.timers.hello = CW_MS(20);
    ck_assert(!find(&other, (cw_dims){2, 2, 3}, &d));
    other = config_default();
    other.timers.hello = CW_US(12345);
    ck_assert(!find(&other, dims, &d));
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(dims_are_named),
    SUITE_TEST(timers_are_named),
    SUITE_TEST(what_differs_in_more_is_not_guessed),
};
SUITE_MAIN("differ", tests)
