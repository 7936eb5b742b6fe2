/* SPDX-License-Identifier: Apache-2.0 */
/* Servers start, die, pause and leave; nothing of them is lost without being counted. */
#include "simulator/world_internal.h"

#include "town.h"

static struct world *up(uint64_t seed)
{
    struct world *w = town_up((cw_dims){3, 3, 3}, seed);
    town_run(w, CW_MS(100));
    return w;
}

START_TEST(incarnations_only_grow)
{
    struct world *w = up(1);
    uint64_t last = 0;
    ck_assert_int_eq(world_start(w, 4), -EALREADY);
    for (int i = 0; i < 20; i++) {
        uint64_t now = ls_incarnation(node_linkstate(world_node(w, 4)));
        ck_assert_uint_gt(now, last);
        last = now;
        world_kill(w, 4, i & 1);
        ck_assert_int_eq(world_state(w, 4), WORLD_DEAD);
        ck_assert_ptr_null(world_node(w, 4));
        ck_assert_uint_eq(world_running(w), 26);
        ck_assert_int_eq(world_start(w, 4), 0); /* at the same instant */
    }
    ck_assert_uint_eq(world_running(w), 27);
    ck_assert_uint_eq(town_totals(w).kills, 20);
    ck_assert_uint_eq(town_totals(w).starts, 47);
    town_run(w, CW_SEC(2));
    ck_assert_uint_eq(world_agreeing(w), 27);
    ck_assert_int_eq(check_quiet(w), 0);
    world_close(w);
}
END_TEST

/* A frame that left wholly arrives; one that was cut off by the death of its sender does not. */
START_TEST(a_frame_not_wholly_sent_dies_with_its_server)
{
    struct world *w = up(2);
    cw_server far = world_neighbours(w)[CW_LINK_XP];
    town_send(w, 0, town_key(w, far), 1000);
    int64_t wire = (int64_t)world_wire(w, 0, CW_LINK_XP)->done_ps[0] / 1000 - world_now(w).ns;
    town_run(w, CW_NS(wire - 1));
    world_kill(w, 0, false);
    ck_assert_uint_eq(town_totals(w).lost[WORLD_LOSS_KILLED], 1);
    ck_assert_uint_eq(town_totals(w).flying, 0);
    ck_assert_int_eq(world_start(w, 0), 0);
    town_run(w, CW_SEC(1));
    town_send(w, 0, town_key(w, far), 1000);
    wire = (int64_t)world_wire(w, 0, CW_LINK_XP)->done_ps[0] / 1000 - world_now(w).ns;
    town_run(w, CW_NS(wire + 1));
    world_kill(w, 0, false);
    ck_assert_uint_eq(town_totals(w).flying, 1);
    town_run(w, CW_MS(1));
    ck_assert_uint_eq(town_totals(w).delivered, 1);
    ck_assert_int_eq(check_conservation(w), 0);
    world_close(w);
}
END_TEST

START_TEST(what_is_sent_to_the_dead_or_waits_inside_is_counted)
{
    struct world *w = up(3);
    cw_server far = world_neighbours(w)[CW_LINK_XP];
    for (int i = 0; i < 10; i++) {
        town_send(w, 0, town_key(w, far), 1000);
    }
    ck_assert_uint_eq(town_totals(w).inside, 9);
    world_kill(w, far, false);
    town_run(w, CW_US(30));
    ck_assert_uint_ge(town_totals(w).lost[WORLD_LOSS_DEAD], 2);
    uint64_t inside = town_totals(w).inside, killed = town_totals(w).lost[WORLD_LOSS_KILLED];
    uint64_t whole = town_totals(w).flying;
    ck_assert_uint_gt(inside, 0);
    world_kill(w, 0, false);
    uint64_t cut_off = whole - town_totals(w).flying;
    ck_assert_uint_eq(town_totals(w).lost[WORLD_LOSS_KILLED], killed + inside + cut_off);
    ck_assert_uint_eq(town_totals(w).inside, 0);
    ck_assert_int_eq(check_conservation(w), 0);
    world_close(w);
}
END_TEST

/* The count of what services took on the way stays when the server is gone. */
START_TEST(what_ended_in_a_server_outlives_it)
{
    struct world *w = town_up((cw_dims){1, 1, 5}, 4);
    town_run(w, CW_MS(100));
    town_tell(w, 1, 1, (const char *[]){"take"});
    town_send(w, 0, town_key(w, 2), 0);
    town_run(w, CW_MS(1));
    ck_assert_uint_eq(town_totals(w).delivered, 0);
    ck_assert_uint_eq(town_totals(w).ended, 1);
    ck_assert_int_eq(check_conservation(w), 0);
    world_kill(w, 1, false);
    ck_assert_uint_eq(town_totals(w).ended, 1);
    ck_assert_int_eq(check_conservation(w), 0);
    world_close(w);
}
END_TEST

/* A short pause delays; what came meanwhile is handled first and in order. */
START_TEST(a_short_pause_loses_nothing)
{
    struct world *w = up(5);
    cw_server far = world_neighbours(w)[CW_LINK_XP];
    world_pause(w, far, CW_MS(5));
    ck_assert_int_eq(world_state(w, far), WORLD_PAUSED);
    for (int i = 0; i < 10; i++) {
        town_send(w, 0, town_key(w, far), 100);
    }
    town_run(w, CW_MS(4));
    ck_assert_uint_eq(town_totals(w).delivered, 0);
    ck_assert_uint_eq(town_totals(w).flying, 10);
    town_run(w, CW_MS(2));
    ck_assert_int_eq(world_state(w, far), WORLD_RUNS);
    ck_assert_uint_eq(town_totals(w).delivered, 10);
    ck_assert_uint_eq(world_agreeing(w), 27);
    ck_assert_uint_eq(town_totals(w).pauses, 1);
    world_close(w);
}
END_TEST

/* A command to a server that stands still: nothing leaves, and the server does not learn how long it stood. */
START_TEST(a_command_does_not_wake_who_is_paused)
{
    struct world *w = up(5);
    cw_server far = world_neighbours(w)[CW_LINK_XP];
    uint64_t incarnation = ls_incarnation(node_linkstate(world_node(w, 0)));
    uint64_t frames[CW_LINK_COUNT];
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        frames[link] = world_wire(w, 0, link)->frames;
    }
    world_pause(w, 0, CW_MS(200));
    for (int ms = 0; ms < 199; ms++) { /* hellos are due meanwhile, and the packets want a link */
        town_run(w, CW_MS(1));
        town_send(w, 0, town_key(w, far), 100);
    }
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        ck_assert_uint_eq(world_wire(w, 0, link)->frames, frames[link]);
    }
    town_run(w, CW_SEC(1));
    /* It slept for longer than `dead`, and so it fenced itself (semantics 4.2). */
    ck_assert_uint_gt(ls_incarnation(node_linkstate(world_node(w, 0))), incarnation);
    ck_assert_uint_gt(world_wire(w, 0, CW_LINK_XP)->frames, frames[CW_LINK_XP]);
    ck_assert_uint_eq(world_agreeing(w), 27);
    ck_assert_int_eq(check_quiet(w), 0);
    world_close(w);
}
END_TEST

START_TEST(a_full_card_drops_and_says_so)
{
    struct world_config config = town_config((cw_dims){3, 3, 3}, 6);
    config.cpu_queue = 4;
    struct world *w = town_open(&config);
    town_boot(w);
    town_run(w, CW_MS(100));
    cw_server far = world_neighbours(w)[CW_LINK_XP];
    world_pause(w, far, CW_MS(3));
    for (int i = 0; i < 10; i++) {
        town_send(w, 0, town_key(w, far), 100);
        town_run(w, CW_US(20));
    }
    ck_assert_uint_ge(town_totals(w).lost[WORLD_LOSS_CARD], 6);
    town_run(w, CW_MS(5));
    struct world_totals t = town_totals(w);
    ck_assert_uint_eq(t.delivered + t.lost[WORLD_LOSS_CARD], 10);
    ck_assert_uint_eq(t.flying, 0);
    ck_assert_int_eq(check_conservation(w), 0);
    world_close(w);
}
END_TEST

START_TEST(who_dies_while_paused_stays_dead)
{
    struct world *w = up(7);
    world_pause(w, 3, CW_MS(5));
    world_kill(w, 3, false);
    town_run(w, CW_MS(1));
    ck_assert_int_eq(world_start(w, 3), 0);
    world_pause(w, 3, CW_MS(50)); /* the end of the first pause is not the end of this one */
    town_run(w, CW_MS(10));
    ck_assert_int_eq(world_state(w, 3), WORLD_PAUSED);
    town_run(w, CW_MS(50));
    ck_assert_int_eq(world_state(w, 3), WORLD_RUNS);
    world_close(w);
}
END_TEST

START_TEST(who_leaves_is_gone_without_loss)
{
    struct world *w = up(8);
    world_leave(w, 13);
    world_leave(w, 13);
    for (int ms = 0; ms < 1000 && world_state(w, 13) != WORLD_DEAD; ms++) {
        town_run(w, CW_MS(1));
    }
    ck_assert_int_eq(world_state(w, 13), WORLD_DEAD);
    town_run(w, CW_SEC(1));
    ck_assert_uint_eq(world_agreeing(w), 26);
    town_send(w, 0, town_key(w, 13), 0); /* another has its keys */
    town_run(w, CW_MS(1));
    ck_assert_uint_eq(town_totals(w).delivered_keys, 1);
    ck_assert_int_eq(check_quiet(w), 0);
    world_close(w);
}
END_TEST

/* ---- Clocks ------------------------------------------------------------------------------------------------------ */

START_TEST(a_clock_goes_on_from_where_it_is)
{
    struct world *w = up(9);
    struct sim_server *h = &w->server[5];
    cw_time start = pump_local(w, h);
    ck_assert_int_eq(start.ns, world_now(w).ns);
    world_clock(w, 5, 10000);
    ck_assert_int_eq(pump_local(w, h).ns, start.ns);
    town_run(w, CW_MS(100));
    ck_assert_int_eq(pump_local(w, h).ns, start.ns + 101000000);
    ck_assert_int_eq(pump_local(w, &w->server[6]).ns, world_now(w).ns);
    world_clock(w, 5, -10000);
    ck_assert_int_eq(pump_local(w, h).ns, start.ns + 101000000);
    town_run(w, CW_MS(100));
    ck_assert_int_eq(pump_local(w, h).ns, start.ns + 200000000);
    ck_assert_uint_eq(world_agreeing(w), 27);
    world_close(w);
}
END_TEST

START_TEST(clocks_are_drawn_within_what_was_asked_for)
{
    struct world_config config = town_config((cw_dims){3, 3, 3}, 10);
    config.clock_ppm = 10000;
    config.clock_offset = CW_SEC(1000);
    struct world *w = town_open(&config);
    int fast = 0;
    for (cw_server s = 0; s < 27; s++) {
        const struct sim_server *h = &w->server[s];
        ck_assert_int_le(abs(h->ppm), 10000);
        ck_assert_int_ge(h->clock_local, 0);
        ck_assert_int_le(h->clock_local, CW_SEC(1000).ns);
        fast += h->ppm > 0;
    }
    ck_assert_int_gt(fast, 4);
    ck_assert_int_lt(fast, 23);
    town_boot(w);
    town_run(w, CW_SEC(1));
    ck_assert_uint_eq(world_agreeing(w), 27);
    world_close(w);
}
END_TEST

static unsigned begun, ended, refused;

static void labour(void *arg)
{
    (void)arg;
    begun++;
}

static void labour_done(cw_svc *s, void *state, void *arg)
{
    (void)state;
    ended++;
    if (cw_offload(s, labour, labour_done, arg, CW_MS(5)) < 0) {
        refused++;
    }
}

static int labour_begins(cw_svc *s, void *state, cw_request *r, int argc, const char *const *argv)
{
    (void)state;
    (void)r;
    (void)argc;
    (void)argv;
    return cw_offload(s, labour, labour_done, NULL, CW_MS(5));
}

/* A service that always has work away dies as others do; what it began is ended once. */
START_TEST(who_works_may_die)
{
    static const cw_service service = {
        CW_SERVICE_INIT,
        .name = "town",
        .version = "1",
        .job = TOWN_JOB,
        .on_packet = town_packet,
        .state_size = sizeof(struct townsman),
        .on_command = labour_begins,
    };
    static const struct world_service list[] = {{.table = &service}};
    struct world_config config = world_config_default();
    config.dims = (cw_dims){1, 1, 2};
    config.services = list;
    config.service_count = 1;
    struct world *w;
    ck_assert_int_eq(world_open(&w, &config), 0);
    world_start_all(w, CW_NS(0));
    town_run(w, CW_MS(1));
    for (cw_server s = 0; s < 2; s++) {
        town_tell(w, s, 0, NULL);
        town_tell(w, s, 0, NULL);
    }
    town_run(w, CW_MS(12));
    ck_assert_uint_eq(begun, 12);
    ck_assert_uint_eq(ended, 8);
    world_kill(w, 0, false);
    ck_assert_uint_eq(begun, 12);
    ck_assert_uint_eq(ended, 10);
    world_close(w);
    ck_assert_uint_eq(ended, 12);
    ck_assert_uint_eq(refused, 4);
}
END_TEST

/* The answer of a service that closes, to who is not told any more. */
static void last_words(cw_svc *s, void *state)
{
    (void)state;
    const cw_to to = {.kind = CW_TO_SERVER, .job = TOWN_JOB};
    cw_send_or_drop(s, cw_packet_new(s, 4), &to, NULL);
}

START_TEST(what_is_made_while_it_dies_is_counted)
{
    static const cw_service service = {CW_SERVICE_INIT,          .name = "town",
                                       .version = "1",           .job = TOWN_JOB,
                                       .on_packet = town_packet, .state_size = sizeof(struct townsman),
                                       .close = last_words};
    static const struct world_service list[] = {{.table = &service}};
    struct world_config config = world_config_default();
    config.dims = (cw_dims){1, 1, 2};
    config.services = list;
    config.service_count = 1;
    struct world *w;
    ck_assert_int_eq(world_open(&w, &config), 0);
    world_start_all(w, CW_NS(0));
    town_run(w, CW_MS(1));
    uint64_t killed = town_totals(w).lost[WORLD_LOSS_KILLED];
    world_kill(w, 0, false);
    ck_assert_uint_eq(town_totals(w).lost[WORLD_LOSS_KILLED], killed + 1);
    ck_assert_int_eq(check_conservation(w), 0);
    world_close(w);
}
END_TEST

START_TEST(commands_to_the_dead_are_refused)
{
    struct world *w = up(11);
    struct node_request_sink sink = {NULL, town_row, town_integer, town_text, town_done};
    world_kill(w, 2, false);
    ck_assert_int_eq(world_command(w, 2, "town", 0, NULL, &sink), -ENOENT);
    world_close(w);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(incarnations_only_grow),
    SUITE_TEST(a_frame_not_wholly_sent_dies_with_its_server),
    SUITE_TEST(what_is_sent_to_the_dead_or_waits_inside_is_counted),
    SUITE_TEST(what_ended_in_a_server_outlives_it),
    SUITE_TEST(a_short_pause_loses_nothing),
    SUITE_TEST(a_command_does_not_wake_who_is_paused),
    SUITE_TEST(a_full_card_drops_and_says_so),
    SUITE_TEST(who_dies_while_paused_stays_dead),
    SUITE_TEST(who_leaves_is_gone_without_loss),
    SUITE_TEST(a_clock_goes_on_from_where_it_is),
    SUITE_TEST(clocks_are_drawn_within_what_was_asked_for),
    SUITE_TEST(who_works_may_die),
    SUITE_TEST(what_is_made_while_it_dies_is_counted),
    SUITE_TEST(commands_to_the_dead_are_refused),
};
SUITE_MAIN("simulator/servers", tests)
