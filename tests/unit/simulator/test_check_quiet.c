/* SPDX-License-Identifier: Apache-2.0 */
/* At rest all is as it must be; what is planted is found. */
#include "simulator/check_internal.h"

#include "town.h"

static struct world *up(void)
{
    struct world *w = town_up((cw_dims){3, 3, 3}, 1);
    town_run(w, CW_MS(200));
    ck_assert_int_eq(check_quiet(w), 0);
    return w;
}

START_TEST(a_packet_lost_without_a_cause_is_found)
{
    struct world *w = up();
    w->totals.delivered--;
    ck_assert_int_eq(check_conservation(w), 1);
    town_broken(w, 8);
    world_close(w);
}
END_TEST

START_TEST(a_packet_out_of_nowhere_is_found)
{
    struct world *w = up();
    w->totals.lost[WORLD_LOSS_DEAD]++;
    ck_assert_int_eq(check_quiet(w), 1);
    town_broken(w, 8);
    world_close(w);
}
END_TEST

START_TEST(a_packet_under_way_is_not_quiet)
{
    struct world *w = up();
    town_send(w, 0, town_key(w, 13), 1000);
    ck_assert_int_eq(check_conservation(w), 0);
    ck_assert_int_eq(check_quiet(w), 1);
    town_broken(w, 8);
    world_close(w);
}
END_TEST

/* A truth that nobody knows of yet: a link is down in truth, and all count on it. */
START_TEST(routes_that_are_not_the_shortest_are_found)
{
    struct world *w = up();
    oracle_cable(&w->oracle, 0, CW_LINK_XP, false);
    ck_assert_int_eq(check_quiet(w), 1);
    town_broken(w, 17);
    world_close(w);
}
END_TEST

START_TEST(a_view_that_is_not_the_component_is_found)
{
    struct world *w = up();
    oracle_active(&w->oracle, 5, false);
    ck_assert_int_eq(check_quiet(w), 1);
    town_broken(w, 17);
    world_close(w);
}
END_TEST

/* Right after a server died its neighbours still believe in it. */
START_TEST(too_early_is_not_quiet)
{
    struct world *w = up();
    world_kill(w, 5, false);
    ck_assert_int_eq(check_quiet(w), 1);
    town_broken(w, 17);
    world_close(w);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_packet_lost_without_a_cause_is_found),    SUITE_TEST(a_packet_out_of_nowhere_is_found),
    SUITE_TEST(a_packet_under_way_is_not_quiet),           SUITE_TEST(routes_that_are_not_the_shortest_are_found),
    SUITE_TEST(a_view_that_is_not_the_component_is_found), SUITE_TEST(too_early_is_not_quiet),
};
SUITE_MAIN("simulator/check_quiet", tests)
