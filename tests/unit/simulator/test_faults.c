/* SPDX-License-Identifier: Apache-2.0 */
/* Each fault does what its name says, no more. */
#include "simulator/faults.h"

#include "base/prng.h"
#include "town.h"

static unsigned dead(struct world *w)
{
    return world_torus(w)->servers - world_running(w);
}

START_TEST(planes_and_rows_die)
{
    struct world *w = town_up((cw_dims){2, 3, 4}, 1);
    fault_apply(w, &(struct fault){.kind = FAULT_KILL_ROW, .server = 5, .axis = 2}); /* 0,1,1 */
    ck_assert_uint_eq(dead(w), 4);
    for (cw_server s = 0; s < 24; s++) {
        cw_coord c = torus_coord(world_torus(w), s);
        ck_assert((world_state(w, s) == WORLD_DEAD) == (c.x == 0 && c.y == 1));
    }
    fault_apply(w, &(struct fault){.kind = FAULT_KILL_SLAB, .axis = 1, .number = 1});
    ck_assert_uint_eq(dead(w), 8);
    for (cw_server s = 0; s < 24; s++) {
        ck_assert((world_state(w, s) == WORLD_DEAD) == (torus_coord(world_torus(w), s).y == 1));
    }
    world_close(w);
}
END_TEST

START_TEST(a_partition_makes_two_components_and_rejoins)
{
    struct world *w = town_up((cw_dims){2, 3, 4}, 2);
    struct fault f = {.kind = FAULT_PARTITION, .axis = 2, .number = 1};
    fault_apply(w, &f);
    cw_server small = oracle_component(world_oracle(w), 0), large = oracle_component(world_oracle(w), 1);
    ck_assert_uint_ne(small, large);
    for (cw_server s = 0; s < 24; s++) {
        bool first = torus_coord(world_torus(w), s).z == 0;
        ck_assert_uint_eq(oracle_component(world_oracle(w), s), first ? small : large);
        ck_assert_uint_eq(oracle_island(world_oracle(w), s), first ? small : large);
    }
    town_run(w, CW_SEC(1));
    ck_assert_uint_eq(world_agreeing(w), 24);
    ck_assert_int_eq(check_quiet(w), 0);
    f.kind = FAULT_REJOIN;
    fault_apply(w, &f);
    town_run(w, CW_SEC(2));
    ck_assert_uint_eq(oracle_component(world_oracle(w), 1), 0);
    ck_assert_uint_eq(world_agreeing(w), 24);
    ck_assert_int_eq(check_quiet(w), 0);
    world_close(w);
}
END_TEST

/* With two planes both cables of a pair lie between the halves. */
START_TEST(a_partition_of_an_axis_of_two)
{
    struct world *w = town_up((cw_dims){2, 2, 2}, 3);
    fault_apply(w, &(struct fault){.kind = FAULT_PARTITION, .axis = 0, .number = 1});
    for (cw_server s = 0; s < 8; s++) {
        ck_assert_uint_eq(oracle_island(world_oracle(w), s), s < 4 ? 0 : 4);
    }
    world_close(w);
}
END_TEST

START_TEST(harm_for_one_or_for_all)
{
    struct world *w = town_up((cw_dims){2, 2, 2}, 4);
    struct fault f = {.kind = FAULT_HARM, .server = 3, .link = CW_LINK_YP, .harm = {.loss = 5}};
    fault_apply(w, &f);
    unsigned harmed = 0;
    for (cw_server s = 0; s < 8; s++) {
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            harmed += world_wire(w, s, link)->state == WIRE_HARMED;
        }
    }
    ck_assert_uint_eq(harmed, 1);
    ck_assert_uint_eq(world_wire(w, 3, CW_LINK_YP)->state, WIRE_HARMED);
    f.server = CW_SERVER_NONE;
    f.link = CW_LINK_SELF;
    fault_apply(w, &f);
    for (cw_server s = 0; s < 8; s++) {
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            ck_assert_uint_eq(world_wire(w, s, link)->state, WIRE_HARMED);
        }
    }
    world_close(w);
}
END_TEST

/* Everything at once, at its time; then all is well again. */
START_TEST(a_plan_happens_and_heals)
{
    static const struct fault faults[] = {
        {.at = {10}, .kind = FAULT_KILL, .server = 1},
        {.at = {20}, .kind = FAULT_POWER, .server = 2},
        {.at = {30}, .kind = FAULT_PAUSE, .server = 3, .span = {50 * 1000 * 1000}},
        {.at = {40}, .kind = FAULT_CUT, .server = 4, .link = CW_LINK_XP},
        {.at = {50}, .kind = FAULT_CUT_OUT, .server = 5, .link = CW_LINK_YM},
        {.at = {60}, .kind = FAULT_HARM, .server = CW_SERVER_NONE, .link = CW_LINK_SELF, .harm = {.loss = 100000}},
        {.at = {70}, .kind = FAULT_CLOCK, .server = 6, .number = 5000},
        {.at = {80}, .kind = FAULT_LEAVE, .server = 7},
        {.at = {90}, .kind = FAULT_START, .server = 1},
        {.at = {INT64_C(400) * 1000 * 1000}, .kind = FAULT_HEAL, .server = CW_SERVER_NONE},
    };
    struct fault_plan plan = {.count = 0};
    struct world *w = town_up((cw_dims){3, 3, 3}, 5);
    cw_time start = world_now(w);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct fault f = faults[i];
        f.at.ns += start.ns;
        ck_assert_int_eq(fault_plan_add(&plan, &f), 0);
    }
    fault_plan_schedule(&plan, w);
    town_run(w, CW_NS(19));
    ck_assert_uint_eq(dead(w), 1);
    town_run(w, CW_US(1));
    ck_assert_int_eq(world_state(w, 1), WORLD_RUNS);
    ck_assert_int_eq(world_state(w, 2), WORLD_DEAD);
    ck_assert_int_eq(world_state(w, 3), WORLD_PAUSED);
    town_run(w, CW_MS(399));
    ck_assert_int_eq(world_state(w, 7), WORLD_DEAD);
    ck_assert_uint_eq(dead(w), 2);
    town_run(w, CW_SEC(3));
    ck_assert_uint_eq(dead(w), 0);
    ck_assert_uint_eq(world_agreeing(w), 27);
    ck_assert_int_eq(check_quiet(w), 0);
    world_close(w);
    fault_plan_free(&plan);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(planes_and_rows_die),           SUITE_TEST(a_partition_makes_two_components_and_rejoins),
    SUITE_TEST(a_partition_of_an_axis_of_two), SUITE_TEST(harm_for_one_or_for_all),
    SUITE_TEST(a_plan_happens_and_heals),
};
SUITE_MAIN("simulator/faults", tests)
