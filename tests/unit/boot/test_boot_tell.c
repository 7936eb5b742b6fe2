/* SPDX-License-Identifier: Apache-2.0 */
#include "suite.h"
#include "town.h"

struct count {
    unsigned cables, unplaced, crossed;
};

static void visit(void *context, const struct boot_seen_cable *cable)
{
    struct count *count = context;
    count->cables++;
    count->unplaced += !cable->from.placed || !cable->to.placed;
    count->crossed += cable->to_direction != (cable->from_direction ^ 1);
}

START_TEST(cables_and_plugs_before_and_after)
{
    struct rng r = {1};
    struct yard y = yard_make((cw_dims){3, 3, 2}, false, &r);
    struct town t = town_make(&y, 1);
    struct boot_progress progress;
    struct boot_plug plug;
    town_start_all(&t);
    town_run(&t, CW_MS(700));
    struct count count = {0};
    boot_cables(t.server[0].boot, visit, &count);
    ck_assert_uint_eq(count.cables, 54);
    ck_assert_uint_eq(count.unplaced, 54);
    town_run(&t, CW_MS(1000)); /* it has looked, and waits for the others */
    boot_progress(t.server[0].boot, &progress);
    ck_assert_int_eq(progress.state, BOOT_SEARCHING);
    ck_assert_uint_eq(progress.servers, 18);
    ck_assert_uint_eq(progress.agreeing, 18);
    ck_assert_uint_eq(progress.missing, 0);
    ck_assert_uint_ne(progress.solution, 0);
    ck_assert_uint_eq(dims_servers(progress.dims), 18);
    count = (struct count){0};
    boot_cables(t.server[0].boot, visit, &count);
    ck_assert_uint_eq(count.cables, 54);
    ck_assert_uint_eq(count.unplaced + count.crossed, 0);
    ck_assert_uint_eq(town_run_until_agreed(&t, CW_SEC(9)), 18);
    town_run(&t, CW_SEC(2));
    count = (struct count){0};
    boot_cables(t.server[0].boot, visit, &count); /* its own, from now on */
    ck_assert_uint_eq(count.cables, 6);
    ck_assert_uint_eq(count.unplaced + count.crossed, 0);
    for (unsigned port = 0; port < CW_LINK_COUNT; port++) {
        struct graph_end far = graph_far(&y.g, 0, port);
        boot_plug(t.server[0].boot, port, &plug);
        ck_assert(plug.carrier);
        ck_assert(plug.heard);
        ck_assert(plug.both_ways);
        ck_assert_uint_eq(plug.far.id, y.g.server[far.server].id);
        ck_assert_uint_eq(plug.far_port, far.port);
        ck_assert(coord_equal(plug.expected.at, plug.far.at));
    }
    town_free(&t);
    yard_free(&y);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(cables_and_plugs_before_and_after)};
SUITE_MAIN("boot_tell", tests)
