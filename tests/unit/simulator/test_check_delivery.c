/* SPDX-License-Identifier: Apache-2.0 */
/* Deliveries that are wrong are planted, one for each invariant, and found. */
#include "simulator/check_internal.h"

#include "town.h"
#include "wire/packet.h"

#include <limits.h>

/* A key packet as a node would hand it over. */
static struct cw_packet key_packet(uint64_t route, cw_coord source, unsigned hops)
{
    struct cw_packet p = {.in = CW_LINK_XP};
    p.head.kind = PACKET_KEY;
    p.head.to.key = route;
    p.head.source = source;
    p.head.hops = (uint8_t)hops;
    p.head.hop_limit = 60;
    return p;
}

static struct world *up(void)
{
    struct world *w = town_up((cw_dims){3, 3, 3}, 1);
    town_run(w, CW_MS(100));
    return w;
}

static void deliver(struct world *w, cw_server s, const struct cw_packet *p, uint64_t id)
{
    check_delivered(w->check, s, p, id, pump_local(w, &w->server[s]));
}

START_TEST(a_right_delivery_is_fine)
{
    struct world *w = up();
    struct cw_packet p = key_packet(town_key(w, 13), (cw_coord){0, 0, 0}, 3);
    deliver(w, 13, &p, 5);
    ck_assert_ptr_null(world_violation(w));
    world_close(w);
}
END_TEST

START_TEST(a_misdelivery_is_found)
{
    struct world *w = up();
    struct cw_packet p = key_packet(town_key(w, 13), (cw_coord){0, 0, 0}, 3);
    deliver(w, 14, &p, 5);
    town_broken(w, 4);
    ck_assert_uint_eq(town_totals(w).misdelivered, 1);
    ck_assert_uint_eq(world_violation(w)->server[0], 14);
    ck_assert_uint_eq(world_violation(w)->server[1], 13);
    world_close(w);
}
END_TEST

/* It was given up by all and another has its keys; its own lease is made not to matter by a clock that stands. */
START_TEST(a_zombie_is_found)
{
    struct world *w = up();
    cw_time then = pump_local(w, &w->server[13]);
    world_pause(w, 13, CW_SEC(2));
    town_run(w, CW_SEC(1));
    struct cw_packet p = key_packet(town_key(w, 13), (cw_coord){0, 0, 0}, 3);
    ck_assert(oracle_given_up(world_oracle(w), 13));
    check_delivered(w->check, 13, &p, 0, then);
    town_broken(w, 4);
    ck_assert_uint_eq(world_violation(w)->server[0], 13);
    world_close(w);
}
END_TEST

START_TEST(a_fenced_delivery_is_found)
{
    struct world *w = up();
    world_pause(w, 13, CW_SEC(2));
    town_run(w, CW_SEC(1));
    struct cw_packet p = key_packet(town_key(w, 13), (cw_coord){0, 0, 0}, 3);
    deliver(w, 13, &p, 0);
    town_broken(w, 20);
    world_close(w);
}
END_TEST

START_TEST(a_second_delivery_is_found_unless_a_fault_made_it)
{
    struct world *w = up();
    struct cw_packet p = key_packet(town_key(w, 13), (cw_coord){0, 0, 0}, 3);
    deliver(w, 13, &p, 77);
    deliver(w, 13, &p, 78);
    deliver(w, 13, &p, 0);
    deliver(w, 13, &p, 0); /* cannot be told apart */
    ck_assert_ptr_null(world_violation(w));
    w->totals.duplicated = 1;
    deliver(w, 13, &p, 77);
    ck_assert_ptr_null(world_violation(w));
    w->totals.duplicated = 0;
    deliver(w, 13, &p, 77);
    town_broken(w, 9);
    ck_assert_uint_eq(town_totals(w).delivered_twice, 1);
    world_close(w);
}
END_TEST

START_TEST(too_many_hops_are_found)
{
    struct world *w = up();
    struct cw_packet p = key_packet(town_key(w, 13), (cw_coord){0, 0, 0}, 65);
    deliver(w, 13, &p, 5);
    town_broken(w, 10);
    world_close(w);
}
END_TEST

START_TEST(a_detour_in_a_perfect_world_is_found)
{
    struct world *w = up();
    town_run(w, CW_SEC(2));
    ck_assert(w->check->perfect);
    struct cw_packet p = key_packet(town_key(w, 13), (cw_coord){1, 1, 2}, 1);
    ck_assert_uint_eq(torus_distance(world_torus(w), 14, 13), 1);
    deliver(w, 13, &p, 5);
    ck_assert_ptr_null(world_violation(w));
    p.head.hops = 3;
    check_disturbed(w->check);
    deliver(w, 13, &p, 6);
    ck_assert_ptr_null(world_violation(w)); /* a world that is not perfect has detours */
    town_run(w, CW_SEC(2));
    deliver(w, 13, &p, 7);
    town_broken(w, 10);
    world_close(w);
}
END_TEST

START_TEST(a_packet_held_too_long_is_found)
{
    struct world *w = up();
    struct cw_packet p = key_packet(town_key(w, 13), (cw_coord){0, 0, 0}, 1);
    cw_time now = pump_local(w, &w->server[13]);
    int64_t most = w->config.node.timers.hold.ns + CW_MS(200).ns;
    p.queued = (cw_time){now.ns - most};
    check_held(w->check, 13, &p, now);
    ck_assert_ptr_null(world_violation(w));
    p.queued.ns--;
    check_held(w->check, 13, &p, now);
    town_broken(w, 12);
    world_close(w);
}
END_TEST

/* As many ids as fit one table are remembered at least. */
START_TEST(lately_is_as_long_as_a_table)
{
    struct recent r;
    struct prng p = prng_stream(1, 0, 1), again = prng_stream(1, 0, 1);
    ck_assert_int_eq(recent_open(&r, 27), 0);
    for (uint32_t i = 0; i < 100000; i++) {
        if (recent_add(&r, prng_next(&p) | 1)) {
            ck_abort_msg("id %u is new", i);
        }
    }
    uint32_t known = 0;
    for (uint32_t i = 0; i < 100000; i++) {
        uint64_t id = prng_next(&again) | 1;
        known += i >= 100000 - r.mask / 2 && recent_add(&r, id);
    }
    ck_assert_uint_eq(known, r.mask / 2);
    recent_close(&r);
}
END_TEST

START_TEST(large_worlds_follow_a_share)
{
    struct recent r;
    ck_assert_int_eq(recent_open(&r, 512), 0);
    ck_assert_uint_eq(r.share, 3);
    ck_assert(!recent_add(&r, 4) && !recent_add(&r, 4));
    ck_assert(!recent_add(&r, 8) && recent_add(&r, 8));
    recent_close(&r);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_right_delivery_is_fine),
    SUITE_TEST(a_misdelivery_is_found),
    SUITE_TEST(a_zombie_is_found),
    SUITE_TEST(a_fenced_delivery_is_found),
    SUITE_TEST(a_second_delivery_is_found_unless_a_fault_made_it),
    SUITE_TEST(too_many_hops_are_found),
    SUITE_TEST(a_detour_in_a_perfect_world_is_found),
    SUITE_TEST(a_packet_held_too_long_is_found),
    SUITE_TEST(lately_is_as_long_as_a_table),
    SUITE_TEST(large_worlds_follow_a_share),
};
SUITE_MAIN("simulator/check_delivery", tests)
