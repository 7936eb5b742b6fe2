/* SPDX-License-Identifier: Apache-2.0 */
/* A settled start is quiet at once, and is what a cold start comes to. */
#include "simulator/check_internal.h"

#include "town.h"

#include <stdlib.h>

static const cw_dims shapes[] = {{3, 3, 3}, {1, 2, 4}, {2, 3, 4}, {4, 4, 4}, {5, 4, 3}, {6, 6, 6}, {8, 8, 8}};
/* All of them take a minute; the first ones have every kind: even, odd, a dimension of two, of one. */
static unsigned shape_count(void)
{
    return getenv("CUBEWAY_SOAK") != NULL ? sizeof shapes / sizeof *shapes : 3;
}

static struct world *settled(cw_dims dims, uint64_t seed)
{
    struct world_config config = town_config(dims, seed);
    config.settled = true;
    struct world *w = town_open(&config);
    world_start_all(w, CW_MS(5));
    return w;
}

/* All servers at one instant, until nothing moves any more. */
static struct world *cold(cw_dims dims, uint64_t seed)
{
    struct world_config config = town_config(dims, seed);
    struct world *w = town_open(&config);
    world_start_all(w, CW_NS(0));
    for (int ms = 0; ms < 3000 && (ms < 6 || world_agreeing(w) < w->servers); ms++) {
        town_run(w, CW_MS(1));
    }
    town_run(w, CW_MS(300));
    ck_assert_int_eq(check_quiet(w), 0);
    return w;
}

static void same_record(const struct record *a, const struct record *b)
{
    ck_assert_uint_eq(a->incarnation, b->incarnation);
    ck_assert_uint_eq(a->boot_nonce, b->boot_nonce);
    ck_assert_uint_eq(a->flags, b->flags);
    ck_assert_uint_eq(a->up, b->up);
    ck_assert_uint_eq(a->pending, b->pending);
    ck_assert_mem_eq(a->neighbour, b->neighbour, sizeof a->neighbour);
}

static void same_knowledge(struct linkstate *a, struct linkstate *b, cw_server servers)
{
    ck_assert(reach_equal(ls_committed(a), ls_committed(b)));
    ck_assert(reach_equal(ls_optimistic(a), ls_optimistic(b)));
    ck_assert_uint_eq(ls_live_links(a), ls_live_links(b));
    ck_assert_uint_eq(ls_up_links(a), ls_up_links(b));
    for (cw_server to = 0; to < servers; to++) {
        same_record(ls_record(a, to), ls_record(b, to));
        ck_assert_uint_eq(ls_hops(a, to), ls_hops(b, to));
        ck_assert_uint_eq(ls_next_hops(a, to), ls_next_hops(b, to));
    }
}

START_TEST(it_is_quiet_at_once_and_stays_so)
{
    for (unsigned i = 0; i < shape_count(); i++) {
        struct world *w = settled(shapes[i], 7);
        ck_assert_int_eq(check_quiet(w), 0);
        ck_assert_uint_eq(world_agreeing(w), w->servers);
        ck_assert_uint_eq(world_active(w), w->servers);
        town_run(w, CW_MS(200));
        ck_assert_int_eq(check_quiet(w), 0);
        for (cw_server s = 0; s < w->servers; s++) {
            const struct linkstate *ls = w->server[s].linkstate;
            for (unsigned c = 0; c < LS_COUNTERS; c++) {
                /* Its first version, which every server makes when it is opened, and nothing that ever happened. */
                ck_assert_msg(ls_count(ls, c) == (c == LS_VERSIONS), "server %u: %s", s, ls_counter_name(c));
            }
        }
        world_close(w);
    }
}
END_TEST

START_TEST(a_cold_start_comes_to_the_same)
{
    for (unsigned i = 0; i < shape_count(); i++) {
        struct world *a = cold(shapes[i], 3), *b = settled(shapes[i], 3);
        for (cw_server s = 0; s < a->servers; s++) {
            same_knowledge(a->server[s].linkstate, b->server[s].linkstate, a->servers);
        }
        world_close(a);
        world_close(b);
    }
}
END_TEST

/* Told the very records of a cold start, a server has its digest. */
START_TEST(the_records_of_a_cold_start_make_its_digest)
{
    struct world *w = cold((cw_dims){3, 4, 3}, 5);
    struct linkstate *old = w->server[0].linkstate, *ls;
    struct record *records = malloc(w->servers * sizeof *records);
    struct ls_settled_link links[CW_LINK_COUNT];
    for (cw_server s = 0; s < w->servers; s++) {
        records[s] = *ls_record(old, s);
    }
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        links[link] = (struct ls_settled_link){.session = link + 1u, .clock = {1000}};
    }
    struct ls_config config = {
        .torus = w->torus,
        .neighbours = w->neighbours,
        .self = 0,
        .incarnation = ls_incarnation(old),
        .seed = 1,
        .timers = ls_timers_fast(),
    };
    ck_assert_int_eq(ls_open(&ls, &config), 0);
    ls_start_settled(ls, records, links, (cw_time){1000});
    ck_assert_uint_eq(ls_digest(ls), ls_digest(old));
    ck_assert(ls_serving(ls, (cw_time){1000}));
    ck_assert_uint_eq(ls_live_links(ls), torus_links(&w->torus));
    ls_close(ls);
    free(records);
    world_close(w);
}
END_TEST

/* Packets, a death and a return go as they do after any other start, with every check on. */
START_TEST(life_goes_on_from_there)
{
    struct world *w = settled((cw_dims){3, 3, 3}, 11);
    town_send(w, 0, town_key(w, 13), 1000);
    town_run(w, CW_MS(5));
    ck_assert_uint_eq(town_totals(w).delivered, 1);
    world_kill(w, 13, true);
    town_run(w, CW_MS(100));
    ck_assert_int_eq(check_quiet(w), 0);
    ck_assert_uint_eq(world_agreeing(w), 26);
    town_send(w, 0, town_key(w, 13), 1000);
    town_run(w, CW_MS(5));
    ck_assert_uint_eq(town_totals(w).delivered, 2);
    ck_assert_int_eq(world_start(w, 13), 0);
    town_run(w, CW_MS(300));
    ck_assert_int_eq(check_quiet(w), 0);
    ck_assert_uint_eq(world_agreeing(w), 27);
    world_close(w);
}
END_TEST

/* Clocks that are apart, relays, and light that is seen late: none of it is news at a settled start. */
START_TEST(other_worlds_settle_too)
{
    struct world_config config = town_config((cw_dims){3, 3, 4}, 2);
    config.settled = true;
    config.clock_ppm = 5000;
    config.clock_offset = CW_SEC(5);
    config.relay_ppm = 500000;
    config.carrier = CW_MS(1);
    struct world *w = town_open(&config);
    world_start_all(w, CW_NS(0));
    ck_assert_int_eq(check_quiet(w), 0);
    town_run(w, CW_MS(300));
    ck_assert_int_eq(check_quiet(w), 0);
    ck_assert_uint_eq(world_agreeing(w), 36);
    world_close(w);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(it_is_quiet_at_once_and_stays_so),
    SUITE_TEST(a_cold_start_comes_to_the_same),
    SUITE_TEST(the_records_of_a_cold_start_make_its_digest),
    SUITE_TEST(life_goes_on_from_there),
    SUITE_TEST(other_worlds_settle_too),
};
SUITE_MAIN("simulator/settled", tests)
