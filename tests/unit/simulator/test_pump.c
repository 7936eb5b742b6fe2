/* SPDX-License-Identifier: Apache-2.0 */
/* Frames between nodes and wires: one event a hop, full links, processors, copies, bits that flip, clocks. */
#include "simulator/world_internal.h"

#include "town.h"

enum { GATE_FRAMES = 64 }; /* NODE_GATE_FRAMES */

static struct world *up_with(const struct world_config *config)
{
    struct world *w = town_open(config);
    town_boot(w);
    town_run(w, CW_MS(100));
    return w;
}

/* What control and checks need in a time of this length. */
static uint64_t idle_events(struct world *w, cw_span span)
{
    uint64_t before = town_totals(w).events;
    town_run(w, span);
    return town_totals(w).events - before;
}

START_TEST(a_hop_is_one_event_while_nobody_waits)
{
    struct world_config config = town_config((cw_dims){1, 1, 9}, 1);
    struct world *w = up_with(&config);
    uint64_t idle = idle_events(w, CW_US(100)), hops = town_totals(w).packet_hops;
    for (int i = 0; i < 50 && idle != 0; i++) { /* a time in which nothing else happens */
        idle = idle_events(w, CW_US(100));
    }
    ck_assert_uint_eq(idle, 0);
    uint64_t before = town_totals(w).events;
    town_send(w, 0, town_key(w, 4), 1000);
    town_run(w, CW_US(50));
    ck_assert_uint_eq(town_totals(w).packet_hops - hops, 4);
    ck_assert_uint_eq(town_totals(w).delivered, 1);
    ck_assert_uint_eq(town_totals(w).events - before, 4);
    world_close(w);
}
END_TEST

/* A queue that never empties keeps its link busy to the byte. */
START_TEST(a_backlogged_link_sends_its_rate)
{
    for (uint8_t ring = 1; ring <= 4; ring *= 2) {
        struct world_config config = town_config((cw_dims){1, 1, 3}, 2);
        config.wire.ring = ring;
        struct world *w = up_with(&config);
        uint64_t before = world_wire(w, 0, CW_LINK_ZP)->bytes;
        cw_time start = world_now(w);
        for (int i = 0; i < 500; i++) {
            town_send(w, 0, town_key(w, 1), 8000);
        }
        for (int ms = 0; ms < 20; ms++) {
            town_run(w, CW_MS(1));
        }
        int64_t could = cw_time_since(world_now(w), start).ns / 8;
        int64_t sent = (int64_t)(world_wire(w, 0, CW_LINK_ZP)->bytes - before);
        ck_assert_uint_gt(town_totals(w).inside, 0);
        ck_assert_int_ge(sent, could);
        ck_assert_int_le(sent, could + ring * 9038);
        world_close(w);
    }
}
END_TEST

START_TEST(a_processor_handles_one_frame_after_the_other)
{
    struct world_config config = town_config((cw_dims){1, 1, 3}, 3);
    config.cpu_per_frame = CW_US(50);
    struct world *w = up_with(&config);
    cw_time start = world_now(w);
    for (int i = 0; i < 20; i++) {
        town_send(w, 0, town_key(w, 1), 600); /* too long to share a frame */
    }
    int64_t delivered = -1;
    while (town_totals(w).delivered < 20) {
        town_run(w, CW_US(1));
        delivered = cw_time_since(world_now(w), start).ns;
        ck_assert_int_lt(delivered, CW_MS(10).ns);
    }
    ck_assert_int_ge(delivered, 20 * 50000);
    ck_assert_int_le(delivered, 30 * 50000);
    world_close(w);
}
END_TEST

START_TEST(the_processor_takes_time_by_the_byte)
{
    struct world_config config = town_config((cw_dims){1, 1, 3}, 4);
    config.cpu_ps_per_byte = 1000 * 100; /* 100 ns a byte: 1,000 bytes take 100 us */
    struct world *w = up_with(&config);
    town_send(w, 0, town_key(w, 1), 1000);
    town_run(w, CW_US(100));
    ck_assert_uint_eq(town_totals(w).delivered, 0);
    town_run(w, CW_MS(2));
    ck_assert_uint_eq(town_totals(w).delivered, 1);
    world_close(w);
}
END_TEST

/* Frames wait for other work, and other work for a frame that has begun. */
START_TEST(the_processor_may_have_other_work)
{
    struct world_config config = town_config((cw_dims){1, 1, 3}, 8);
    config.cpu_per_frame = CW_US(50);
    struct world *w = up_with(&config);
    cw_time start = world_now(w);
    ck_assert_int_eq(cw_time_since(world_occupy(w, 1, CW_MS(1)), start).ns, CW_MS(1).ns);
    ck_assert_int_eq(cw_time_since(world_occupy(w, 1, CW_MS(1)), start).ns, CW_MS(2).ns);
    town_send(w, 0, town_key(w, 1), 600);
    town_run(w, CW_MS(2));
    ck_assert_uint_eq(town_totals(w).delivered, 0);
    town_run(w, CW_US(200)); /* hellos came, too */
    ck_assert_uint_eq(town_totals(w).delivered, 1);
    town_run(w, CW_US(300));
    town_send(w, 0, town_key(w, 1), 600);
    town_run(w, CW_US(30)); /* it is being handled */
    ck_assert_int_gt(cw_time_since(world_occupy(w, 1, CW_US(50)), world_now(w)).ns, CW_US(60).ns);
    world_close(w);
}
END_TEST

START_TEST(injected_copies_arrive_and_are_counted)
{
    struct world_config config = town_config((cw_dims){1, 1, 3}, 5);
    struct world *w = up_with(&config);
    world_harm(w, 0, CW_LINK_ZP, &(struct wire_harm){.duplicate = WIRE_MILLION});
    for (int i = 0; i < 10; i++) {
        town_send(w, 0, town_key(w, 1), 100);
    }
    town_run(w, CW_MS(2));
    struct world_totals t = town_totals(w);
    ck_assert_uint_eq(t.duplicated, 10);
    ck_assert_uint_eq(t.made, 10);
    uint64_t dropped = 0;
    for (unsigned i = 0; i < CW_DROP_COUNT; i++) {
        dropped += t.dropped[i];
    }
    ck_assert_uint_eq(t.delivered + dropped, 20);
    ck_assert_int_eq(check_conservation(w), 0);
    world_close(w);
}
END_TEST

START_TEST(corrupted_frames_are_dropped_by_the_card_or_get_through)
{
    for (int passes = 0; passes < 2; passes++) {
        struct world_config config = town_config((cw_dims){1, 1, 3}, 6);
        config.corrupt_passes = passes != 0;
        struct world *w = up_with(&config);
        world_harm(w, 0, CW_LINK_ZP, &(struct wire_harm){.corrupt = WIRE_MILLION});
        for (int i = 0; i < 200; i++) {
            town_send(w, 0, town_key(w, 1), 100);
            town_run(w, CW_US(10));
        }
        town_run(w, CW_MS(5));
        struct world_totals t = town_totals(w);
        ck_assert_uint_eq(t.flying, 0);
        /* A control position that was changed names control that never comes: what is behind it waits at the gate. */
        ck_assert_uint_le(t.inside, passes ? GATE_FRAMES : 0);
        if (passes) {
            ck_assert_uint_eq(t.lost[WORLD_LOSS_CORRUPTED], 0);
        } else {
            ck_assert_uint_eq(t.lost[WORLD_LOSS_CORRUPTED], 200);
            ck_assert_uint_eq(t.delivered, 0);
            ck_assert_int_eq(check_conservation(w), 0);
        }
        world_close(w);
    }
}
END_TEST

/* Random bits in everything that is sent: nodes survive it. */
START_TEST(nodes_survive_flipped_bits)
{
    struct world_config config = town_config((cw_dims){2, 2, 2}, 7);
    config.corrupt_passes = true;
    config.checks_off = true;
    struct world *w = up_with(&config);
    for (cw_server s = 0; s < 8; s++) {
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            world_harm(w, s, link, &(struct wire_harm){.corrupt = 200000});
        }
    }
    for (int i = 0; i < 2000; i++) {
        town_send(w, (cw_server)i % 8, (uint64_t)i * 0x9e3779b97f4a7c15, 0);
        town_run(w, CW_US(100));
    }
    ck_assert_uint_gt(town_totals(w).delivered, 100);
    world_close(w);
}
END_TEST

/* A server's wakes come when its own clock says so. */
START_TEST(hellos_follow_the_servers_own_clock)
{
    uint64_t frames[2];
    for (int i = 0; i < 2; i++) {
        struct world_config config = town_config((cw_dims){1, 1, 3}, 8);
        struct world *w = up_with(&config);
        if (i == 1) {
            world_clock(w, 0, 10000);
        }
        uint32_t before = world_wire(w, 0, CW_LINK_ZP)->control_frames;
        town_run(w, CW_SEC(20));
        frames[i] = world_wire(w, 0, CW_LINK_ZP)->control_frames - before;
        world_close(w);
    }
    ck_assert_msg(frames[1] * 1000 > frames[0] * 1008 && frames[1] * 1000 < frames[0] * 1012, "%llu against %llu",
                  (unsigned long long)frames[1], (unsigned long long)frames[0]);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_hop_is_one_event_while_nobody_waits),
    SUITE_TEST(a_backlogged_link_sends_its_rate),
    SUITE_TEST(a_processor_handles_one_frame_after_the_other),
    SUITE_TEST(the_processor_takes_time_by_the_byte),
    SUITE_TEST(the_processor_may_have_other_work),
    SUITE_TEST(injected_copies_arrive_and_are_counted),
    SUITE_TEST(corrupted_frames_are_dropped_by_the_card_or_get_through),
    SUITE_TEST(nodes_survive_flipped_bits),
    SUITE_TEST(hellos_follow_the_servers_own_clock),
};
SUITE_MAIN("simulator/pump", tests)
