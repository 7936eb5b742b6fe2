/* SPDX-License-Identifier: Apache-2.0 */
/* test_doctor_view.c - who is away with all neighbours is told of once, and that too few servers are in view. */
#include "daemon/doctor/doctor_view.h"

#include "daemon/host/internal.h"
#include "daemon_town.h"
#include "rows_said.h"
#include "suite.h"

static struct rows_said said;

static void look(struct host *h, unsigned server)
{
    const struct rows_reader reader = rows_said_reader(&said);
    (void)doctor_look(host_server(h, server), &reader);
}

static void turn(struct host *h, unsigned times)
{
    for (unsigned i = 0; i < times; i++) {
        host_turn(h, CW_MS(1));
    }
}

/* A server that is away with all its neighbours is told of once, by the first of those that are left. */
START_TEST(who_is_away_with_its_neighbours)
{
    static const cw_server around[] = {1, 3, 5, 7};
    for (unsigned leaves = 0; leaves < 2; leaves++) {
        struct host *h = town_open("torus { dims = 3x3x1; coordinate = all }");
        town_settle(h, 9);
        if (leaves) {
            ls_leave(node_linkstate(host_server(h, 4)->node), host_now(h));
        } else {
            ck_assert_int_eq(host_fail(host_server(h, 4)), 0);
        }
        for (unsigned i = 0; i < 2000 && town_reach(h, 0) != 8; i++) {
            turn(h, 1);
        }
        for (unsigned i = 0; i < 4; i++) {
            ck_assert_int_eq(host_fail(host_server(h, around[i])), 0);
        }
        for (unsigned i = 0; i < 2000 && (town_reach(h, 0) != 4 || town_reach(h, 2) != 4); i++) {
            turn(h, 1);
        }
        look(h, 0);
        const char *row = rows_said_find(&said, leaves ? "cause=left text=1,1,0 left in order"
                                                       : "cause=unreached text=1,1,0 is not reached: none of its "
                                                         "neighbours is in view, so nobody can say whether it runs");
        ck_assert_ptr_nonnull(row);
        ck_assert_ptr_nonnull(strstr(row, "expected=1,1,0"));
        ck_assert_ptr_nonnull(strstr(row, leaves ? "do=on 1,1,0: systemctl start cubewayd"
                                                 : "do=on 1,1,0: cwctl doctor; or start a neighbour first"));
        look(h, 2);
        ck_assert_ptr_null(rows_said_find(&said, "expected=1,1,0"));
        host_close(h);
    }
}
END_TEST

START_TEST(no_majority)
{
    struct host *h = town_open("torus { dims = 3x3x1; coordinate = all }");
    town_settle(h, 9);
    for (unsigned i = 3; i < 8; i++) {
        ck_assert_int_eq(host_fail(host_server(h, i)), 0);
    }
    for (unsigned i = 0; i < 2000 && town_reach(h, 0) != 4; i++) {
        turn(h, 1);
    }
    look(h, 0);
    ck_assert_ptr_nonnull(rows_said_find(&said, "severity=1 cause=no-majority text=4 of 9 servers are in view"));
    ck_assert_ptr_nonnull(rows_said_find(&said, "; these are away: 1,0,0 1,1,0 1,2,0 2,0,0 2,1,0"));
    ck_assert_ptr_nonnull(rows_said_find(&said, "members=4 torus=9 away=1,0,0 1,1,0 1,2,0 2,0,0 2,1,0 near=1,0,0 "));
    ck_assert_ptr_nonnull(rows_said_find(&said, "start=1,0,0 do=cwctl --server 1,0,0 restore"));
    host_close(h);
}
END_TEST

/* Whom to start: somebody with a neighbour that runs, or that is to be started before; first those that have left. */
START_TEST(advice_can_be_followed)
{
    struct host *h = town_open("torus { dims = 4x4x1; coordinate = all }");
    town_settle(h, 16);
    ls_leave(node_linkstate(host_server(h, 12)->node), host_now(h)); /* 3,0,0, a neighbour of 0,0,0 */
    for (unsigned i = 0; i < 2000 && town_reach(h, 0) != 15; i++) {
        turn(h, 1);
    }
    for (unsigned i = 2; i < 16; i++) {
        if (i != 12) {
            ck_assert_int_eq(host_fail(host_server(h, i)), 0);
        }
    }
    for (unsigned i = 0; i < 2000 && town_reach(h, 0) != 2; i++) {
        turn(h, 1);
    }
    look(h, 0);
    ck_assert_ptr_nonnull(rows_said_find(&said, "; these left in order: 3,0,0; these are away: 0,2,0"));
    const char *row = rows_said_find(
        &said, "do=cwctl --server 3,0,0 restore, then the same for the others, in this order: 3,0,0 0,2,0 ");
    ck_assert_ptr_nonnull(row);
    ck_assert_ptr_null(strstr(row, "more"));
    host_close(h);
}
END_TEST

/* Its neighbours have left in order, all of them: that says more than that it reaches nobody. */
START_TEST(alone_for_all_neighbours_left)
{
    struct host *h = town_open("torus { dims = 2x2x1; coordinate = all }");
    town_settle(h, 4);
    for (unsigned s = 1; s < 3; s++) {
        ls_leave(node_linkstate(host_server(h, s)->node), host_now(h));
    }
    for (unsigned i = 0; i < 2000 && town_reach(h, 0) != 1; i++) {
        turn(h, 1);
    }
    turn(h, 200);
    look(h, 0);
    const char *row = rows_said_find(&said, "cause=no-majority text=1 of 4 servers is in view");
    ck_assert_ptr_nonnull(row);
    ck_assert_ptr_nonnull(strstr(row, "; these left in order: 0,1,0 1,0,0; these are away: 1,1,0"));
    ck_assert_ptr_nonnull(
        strstr(row, "do=cwctl --server 0,1,0 restore, then the same for the others, in this order: 0,1,0 1,0,0"));
    ck_assert_ptr_null(rows_said_find(&said, "cause=alone"));
    ck_assert_ptr_null(rows_said_find(&said, "cause=fenced"));
    host_close(h);
}
END_TEST

/* One behind them has left, too; the three that have not run all the time, and nobody is told to start them. */
START_TEST(alone_beside_some_that_run)
{
    static const unsigned leave[] = {7, 1, 2, 4};
    struct host *h = town_open("torus { dims = 2x2x2; coordinate = all }");
    town_settle(h, 8);
    for (unsigned i = 0; i < 4; i++) {
        ls_leave(node_linkstate(host_server(h, leave[i])->node), host_now(h));
        turn(h, 200);
    }
    for (unsigned i = 0; i < 2000 && town_reach(h, 0) != 1; i++) {
        turn(h, 1);
    }
    turn(h, 200);
    look(h, 0);
    const char *row = rows_said_find(&said, "cause=no-majority text=1 of 8 servers is in view");
    ck_assert_ptr_nonnull(row);
    ck_assert_ptr_nonnull(strstr(row, "left in order: 0,0,1 0,1,0 1,0,0 1,1,1; these are away: 0,1,1 1,0,1 1,1,0"));
    ck_assert_ptr_nonnull(strstr(row, "in this order: 0,0,1 0,1,0 1,0,0"));
    ck_assert_ptr_null(strstr(row, "1,0,0 0,1,1"));
    host_close(h);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(alone_for_all_neighbours_left), SUITE_TEST(alone_beside_some_that_run),
    SUITE_TEST(who_is_away_with_its_neighbours), SUITE_TEST(no_majority), SUITE_TEST(advice_can_be_followed)};
SUITE_MAIN("doctor_view", tests)
