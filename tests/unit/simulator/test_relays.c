/* SPDX-License-Identifier: Apache-2.0 */
/* Frames that go on past the node: of servers that run, stand still, or are dead. */
#include "relay_town.h"

#include "wire/relay.h"

START_TEST(transit_passes_the_nodes_by)
{
    struct world *w = relay_town_up(9, 1);
    town_send(w, 0, town_key(w, 4), 100);
    town_run(w, CW_MS(1));
    ck_assert_uint_eq(town_totals(w).delivered, 1);
    ck_assert_uint_eq(town_totals(w).relayed, 3);
    ck_assert_uint_eq(town_totals(w).hops, 4);
    ck_assert_uint_eq(town_totals(w).judged[RELAY_HERE], 1);
    world_close(w);
}
END_TEST

START_TEST(a_service_that_looks_at_its_transit_sees_it)
{
    struct world_config config = town_config((cw_dims){1, 1, 9}, 2);
    config.relay_ppm = RELAY_ALL;
    struct world *w = town_open(&config);
    town_boot(w);
    town_run(w, CW_MS(200));
    town_send(w, 0, town_key(w, 4), 100);
    town_run(w, CW_MS(1));
    ck_assert_uint_eq(town_totals(w).delivered, 1);
    ck_assert_uint_eq(town_totals(w).relayed, 0);
    ck_assert_uint_eq(town_totals(w).judged[RELAY_JOB], 4);
    world_close(w);
}
END_TEST

/* Packets cross a server that stands still, and no longer than its lease runs. */
START_TEST(a_server_that_stands_still_relays_until_its_lease_ends)
{
    struct world *w = relay_town_up(9, 3);
    world_pause(w, 2, CW_SEC(1));
    town_run(w, CW_MS(2));
    town_send(w, 0, town_key(w, 4), 100);
    town_run(w, CW_MS(1));
    ck_assert_uint_eq(town_totals(w).delivered, 1);
    ck_assert_uint_eq(town_totals(w).relayed, 3);
    town_run(w, CW_NS(w->config.node.timers.dead.ns));
    struct sim_server *h = &w->server[2];
    ck_assert(!cw_time_before(pump_local(w, h), relays_lease(h)));
    ck_assert_uint_eq(ls_link_peer(w->server[1].linkstate, CW_LINK_ZP), 0);
    world_close(w);
}
END_TEST

/* However the relay of a killed daemon ends, nothing is delivered wrongly, and the next daemon has its own. */
START_TEST(a_server_that_is_killed_comes_back)
{
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct world *w = relay_town_up(7, seed);
        town_send(w, 0, town_key(w, 3), 100);
        world_kill(w, 2, seed % 4 == 0);
        for (int i = 0; i < 20; i++) {
            town_send(w, 0, town_key(w, 3), 100);
            town_run(w, CW_MS(1));
        }
        ck_assert_int_eq(world_start(w, 2), 0);
        town_run(w, CW_SEC(1));
        ck_assert_uint_eq(world_agreeing(w), 7);
        uint64_t before = town_totals(w).relayed;
        town_send(w, 0, town_key(w, 3), 100);
        town_run(w, CW_MS(1));
        ck_assert_uint_gt(town_totals(w).relayed, before);
        ck_assert_int_eq(check_quiet(w), 0);
        world_close(w);
    }
}
END_TEST

/* A link that is full is shared by the node: what is in transit for it goes up. */
START_TEST(what_waits_is_not_passed)
{
    struct world *w = relay_town_up(5, 5);
    for (int i = 0; i < 200; i++) {
        town_send(w, 1, town_key(w, 2), 8000);
        town_send(w, 0, town_key(w, 2), 8000);
    }
    for (int ms = 0; ms < 100; ms++) {
        town_run(w, CW_MS(1));
    }
    ck_assert_uint_eq(town_totals(w).delivered, 400);
    ck_assert_uint_gt(town_totals(w).judged[RELAY_FULL], 0);
    world_close(w);
}
END_TEST

/* A frame waits in its socket where the processor was idle. Where it has frames to take, each costs its work alone. */
START_TEST(a_wait_in_a_socket_is_no_work)
{
    enum { PACKETS = 200, WORK_US = 5 };
    struct world_config config = relay_town_config(3, 6);
    config.wire.bits_per_second = UINT64_C(100000000000);
    config.cpu_per_frame = CW_US(WORK_US);
    struct world *w = town_open(&config);
    town_boot(w);
    town_run(w, CW_MS(200));
    for (int i = 0; i < PACKETS; i++) {
        town_send(w, 0, town_key(w, 1), 8000);
    }
    town_run(w, CW_US(PACKETS * WORK_US * 5 / 4));
    ck_assert_uint_eq(town_totals(w).delivered, PACKETS);
    world_close(w);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(transit_passes_the_nodes_by),
    SUITE_TEST(a_service_that_looks_at_its_transit_sees_it),
    SUITE_TEST(a_server_that_stands_still_relays_until_its_lease_ends),
    SUITE_TEST(a_server_that_is_killed_comes_back),
    SUITE_TEST(what_waits_is_not_passed),
    SUITE_TEST(a_wait_in_a_socket_is_no_work),
};
SUITE_MAIN("simulator/relays", tests)
