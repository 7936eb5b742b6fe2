/* SPDX-License-Identifier: Apache-2.0 */
/* Cables break one way or both, frames on them are lost and counted, and light is seen when it should be. */
#include "simulator/world_internal.h"

#include "town.h"

/* A key at distance 1 by that link only: 3 servers on each axis make the shortest way the only one. */
static cw_server beyond(struct world *w, cw_server s, cw_link link)
{
    return world_neighbours(w)[s * CW_LINK_COUNT + link];
}

START_TEST(a_cable_breaks_both_ways_or_one)
{
    struct world *w = town_up((cw_dims){3, 3, 3}, 1);
    town_run(w, CW_MS(100));
    cw_server far = beyond(w, 0, CW_LINK_XP);
    world_cable(w, 0, CW_LINK_XP, true, false);
    ck_assert_uint_eq(oracle_links(world_oracle(w), 0), CW_LINKS_ALL & ~cw_links_of(CW_LINK_XP));
    ck_assert_uint_eq(oracle_links(world_oracle(w), far), CW_LINKS_ALL & ~cw_links_of(CW_LINK_XM));
    world_cable(w, 0, CW_LINK_XP, true, false); /* again: nothing */
    ck_assert_uint_eq(town_totals(w).cuts, 2);
    world_cable(w, 5, CW_LINK_ZM, false, false);
    ck_assert_uint_eq(town_totals(w).cuts, 3);
    ck_assert_uint_eq(world_wire(w, beyond(w, 5, CW_LINK_ZM), CW_LINK_ZP)->state, 0);
    town_run(w, CW_MS(200));
    for (cw_link link = CW_LINK_XP; link < CW_LINK_COUNT; link++) {
        bool broken = link == CW_LINK_XP;
        ck_assert(((ls_up_links(node_linkstate(world_node(w, 0))) & cw_links_of(link)) == 0) == broken);
    }
    ck_assert_int_eq(check_quiet(w), 0);
    world_cable(w, 0, CW_LINK_XP, true, true);
    world_cable(w, 5, CW_LINK_ZM, true, true);
    town_run(w, CW_SEC(2));
    ck_assert_uint_eq(oracle_links(world_oracle(w), 0), CW_LINKS_ALL);
    ck_assert_uint_eq(oracle_links(world_oracle(w), 5), CW_LINKS_ALL);
    ck_assert_int_eq(check_quiet(w), 0);
    world_close(w);
}
END_TEST

START_TEST(an_axis_of_one_has_no_cable)
{
    struct world *w = town_up((cw_dims){1, 1, 3}, 1);
    world_cable(w, 0, CW_LINK_XP, true, false);
    world_harm(w, 0, CW_LINK_YP, &(struct wire_harm){.loss = 1000});
    ck_assert_uint_eq(town_totals(w).cuts, 0);
    ck_assert_uint_eq(world_wire(w, 0, CW_LINK_YP)->state, 0);
    world_close(w);
}
END_TEST

/* A frame under way when the cable breaks is lost, a frame sent afterwards too; one that came the other way is not. */
START_TEST(frames_on_a_broken_cable_are_lost)
{
    struct world *w = town_up((cw_dims){3, 3, 3}, 2);
    town_run(w, CW_MS(100));
    cw_server far = beyond(w, 0, CW_LINK_XP);
    town_send(w, 0, town_key(w, far), 1000);
    town_send(w, far, town_key(w, 0), 1000);
    town_run(w, CW_US(2));
    ck_assert_uint_eq(town_totals(w).flying, 2);
    world_cable(w, 0, CW_LINK_XP, false, false);
    ck_assert_uint_eq(town_totals(w).flying, 1);
    ck_assert_uint_eq(town_totals(w).lost[WORLD_LOSS_CUT], 1);
    town_send(w, 0, town_key(w, far), 1000);
    town_run(w, CW_US(100));
    struct world_totals t = town_totals(w);
    ck_assert_uint_eq(t.lost[WORLD_LOSS_CUT], 2);
    ck_assert_uint_eq(t.delivered, 1);
    ck_assert_uint_eq(t.flying + t.inside, 0);
    ck_assert_int_eq(check_conservation(w), 0);
    world_close(w);
}
END_TEST

START_TEST(harm_is_done_to_one_direction_and_ends)
{
    struct world *w = town_up((cw_dims){3, 3, 3}, 3);
    town_run(w, CW_MS(100));
    cw_server far = beyond(w, 0, CW_LINK_XP);
    world_harm(w, 0, CW_LINK_XP, &(struct wire_harm){.loss = WIRE_MILLION});
    town_send(w, 0, town_key(w, far), 0);
    town_send(w, far, town_key(w, 0), 0);
    town_run(w, CW_MS(1));
    ck_assert_uint_eq(town_totals(w).lost[WORLD_LOSS_INJECTED], 1);
    ck_assert_uint_eq(town_totals(w).delivered, 1);
    world_harm(w, 0, CW_LINK_XP, &(struct wire_harm){.loss = 0});
    town_send(w, 0, town_key(w, far), 0);
    town_run(w, CW_MS(1));
    ck_assert_uint_eq(town_totals(w).delivered, 2);
    world_close(w);
}
END_TEST

/* Both ends of a cut cable see it after just the time that was asked for, long before the dead interval. */
START_TEST(light_goes_out_after_its_time)
{
    struct world_config config = town_config((cw_dims){3, 3, 3}, 4);
    config.carrier = CW_US(300);
    struct world *w = town_open(&config);
    town_boot(w);
    cw_server far = beyond(w, 0, CW_LINK_XP);
    world_cable(w, 0, CW_LINK_XP, true, false);
    town_run(w, CW_US(299));
    ck_assert(ls_up_links(node_linkstate(world_node(w, 0))) & cw_links_of(CW_LINK_XP));
    town_run(w, CW_US(2));
    ck_assert(!(ls_up_links(node_linkstate(world_node(w, 0))) & cw_links_of(CW_LINK_XP)));
    ck_assert(!(ls_up_links(node_linkstate(world_node(w, far))) & cw_links_of(CW_LINK_XM)));
    world_close(w);
}
END_TEST

START_TEST(a_host_without_power_has_no_light_a_dead_process_has)
{
    struct world_config config = town_config((cw_dims){3, 3, 3}, 5);
    config.carrier = CW_US(300);
    struct world *w = town_open(&config);
    town_boot(w);
    cw_server far = beyond(w, 0, CW_LINK_XP);
    world_kill(w, far, false);
    ck_assert(cables_light(w, 0, CW_LINK_XP));
    world_kill(w, far, true);
    ck_assert(!cables_light(w, 0, CW_LINK_XP));
    ck_assert(cables_light(w, 0, CW_LINK_YP));
    town_run(w, CW_US(301));
    ck_assert(!(w->server[0].light & cw_links_of(CW_LINK_XP)));
    ck_assert_int_eq(world_start(w, far), 0);
    town_run(w, CW_US(301));
    ck_assert(w->server[0].light & cw_links_of(CW_LINK_XP));
    world_close(w);
}
END_TEST

/* What was to be seen when the world ends is given back (the leak checker looks). */
START_TEST(a_world_may_close_before_the_light_goes_out)
{
    struct world_config config = town_config((cw_dims){2, 2, 2}, 6);
    config.carrier = CW_MS(500);
    struct world *w = town_open(&config);
    town_boot(w);
    world_cable(w, 0, CW_LINK_XP, true, false);
    world_pause(w, 1, CW_SEC(30));
    town_run(w, CW_MS(1));
    world_close(w);
}
END_TEST

/* What hellos tell of a cable is near what the world was told to lose on it, each way, at both ends. */
START_TEST(servers_know_what_their_cables_lose)
{
    static const uint32_t rates[][2] = {{20000, 0}, {0, 80000}, {50000, 20000}, {0, 0}};
    for (unsigned i = 0; i < sizeof rates / sizeof *rates; i++) {
        struct world *w = town_up((cw_dims){3, 1, 1}, 20 + i);
        cw_server far = beyond(w, 0, CW_LINK_XP);
        world_harm(w, 0, CW_LINK_XP, &(struct wire_harm){.loss = rates[i][0]});
        world_harm(w, far, CW_LINK_XM, &(struct wire_harm){.loss = rates[i][1]});
        town_run(w, CW_SEC(100));
        for (unsigned end = 0; end < 2; end++) {
            struct ls_link_info info;
            ls_link_info(node_linkstate(world_node(w, end == 0 ? 0 : far)), end == 0 ? CW_LINK_XP : CW_LINK_XM, &info);
            const struct ls_loss *way[2] = {end == 0 ? &info.loss_out : &info.loss_in,
                                            end == 0 ? &info.loss_in : &info.loss_out};
            for (unsigned k = 0; k < 2; k++) {
                double truth = rates[i][k] / 1e6, lost = (double)way[k]->lost / (double)way[k]->hellos;
                ck_assert_uint_ge(way[k]->hellos, 8000);
                ck_assert_msg(lost >= 0.7 * truth && lost <= 1.3 * truth, "%g in the place of %g", lost, truth);
                ck_assert(rates[i][k] != 0 || way[k]->ppm == 0);
                ck_assert(way[k]->bad == (rates[i][k] > 0));
            }
            ck_assert_str_eq(info.about.version, "simulated");
        }
        world_close(w);
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(servers_know_what_their_cables_lose),
    SUITE_TEST(a_cable_breaks_both_ways_or_one),
    SUITE_TEST(an_axis_of_one_has_no_cable),
    SUITE_TEST(frames_on_a_broken_cable_are_lost),
    SUITE_TEST(harm_is_done_to_one_direction_and_ends),
    SUITE_TEST(light_goes_out_after_its_time),
    SUITE_TEST(a_host_without_power_has_no_light_a_dead_process_has),
    SUITE_TEST(a_world_may_close_before_the_light_goes_out),
};
SUITE_MAIN("simulator/cables", tests)
