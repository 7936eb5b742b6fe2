/* SPDX-License-Identifier: Apache-2.0 */
#include "ls_bench.h"
#include "suite.h"

#include <string.h>

/* Servers 0, 1 and 2 of a ring of three, all awake; nobody sees light yet. */
static void three(struct ls_bench *b)
{
    ls_bench_open(b, (cw_dims){3, 1, 1});
    for (cw_server s = 0; s < 3; s++) {
        ls_bench_boot(b, s, 100 * (s + 1));
    }
}

/* 0 - 1 - 2, committed and at rest; the cable from 2 to 0 is dark. */
static void line(struct ls_bench *b)
{
    three(b);
    ls_bench_light(b, 0, CW_LINK_XP, true);
    ls_bench_light(b, 1, CW_LINK_XP, true);
    ls_bench_run(b, ls_bench_ms(100));
    for (cw_server s = 0; s < 3; s++) {
        ls_refresh(b->ls[s], b->now);
        ck_assert_uint_eq(ls_committed(b->ls[s])->members, 3);
        ck_assert_ptr_eq(ls_optimistic(b->ls[s]), ls_committed(b->ls[s]));
        ck_assert(ls_serving(b->ls[s], b->now));
    }
}

START_TEST(two_servers_boot_in_four_ms)
{
    static const struct {
        int64_t ms;
        enum adjacency_state state[2];
        uint32_t seq;
        bool active;
    } story[] = {
        {0, {ADJ_EXCHANGE, ADJ_INIT}, 1, false}, /* 0 was the first to be answered, and must not answer before 1 ms */
        {1, {ADJ_EXCHANGE, ADJ_EXCHANGE}, 1, false}, /* 0 repeats after 2 ms what came too early for 1 */
        {2, {ADJ_PENDING, ADJ_PENDING}, 2, false},
        {3, {ADJ_PENDING, ADJ_PENDING}, 3, false}, /* a round: the other's pending link was news; paced */
        {4, {ADJ_UP, ADJ_UP}, 4, true},
        {5, {ADJ_UP, ADJ_UP}, 5, true}, /* the version that says ACTIVE */
        {100, {ADJ_UP, ADJ_UP}, 5, true},
    };
    struct ls_bench b;
    ls_bench_open(&b, (cw_dims){2, 1, 1});
    ls_bench_boot(&b, 0, 100);
    ls_bench_boot(&b, 1, 200);
    ls_bench_light(&b, 0, CW_LINK_XP, true);
    for (size_t i = 0; i < sizeof story / sizeof *story; i++) {
        ls_bench_run(&b, ls_bench_ms(story[i].ms));
        for (cw_server s = 0; s < 2; s++) {
            ck_assert_int_eq(ls_bench_state(&b, s, s == 0 ? CW_LINK_XP : CW_LINK_XM), story[i].state[s]);
            ck_assert_uint_eq(ls_record(b.ls[s], s)->seq, story[i].seq);
            ck_assert(ls_active(b.ls[s]) == story[i].active);
            ck_assert(ls_serving(b.ls[s], b.now) == story[i].active);
        }
    }
    for (cw_server s = 0; s < 2; s++) {
        ck_assert_uint_eq(ls_count(b.ls[s], LS_ADMISSIONS), 1);
        ck_assert_uint_eq(ls_count(b.ls[s], LS_SHORTCUTS), 0);
        ck_assert_uint_eq(ls_count(b.ls[s], LS_VERSIONS), 5);
    }
    ls_bench_close(&b);
}
END_TEST

START_TEST(a_pending_neighbour_is_in_o_and_not_in_c)
{
    struct ls_bench b;
    ls_bench_open(&b, (cw_dims){2, 1, 1});
    ls_bench_boot(&b, 0, 100);
    ls_bench_boot(&b, 1, 200);
    ls_bench_light(&b, 0, CW_LINK_XP, true);
    ls_bench_run(&b, ls_bench_ms(3));
    for (cw_server s = 0; s < 2; s++) {
        ls_refresh(b.ls[s], b.now);
        ck_assert(!reach_has(ls_committed(b.ls[s]), 1 - s));
        ck_assert(reach_has(ls_optimistic(b.ls[s]), 1 - s));
        ck_assert_uint_eq(ls_up_links(b.ls[s]), CW_LINKS_NONE);
        ck_assert_uint_eq(ls_next_hops(b.ls[s], 1 - s), CW_LINKS_NONE);
    }
    ls_bench_close(&b);
}
END_TEST

START_TEST(a_newcomer_waits_until_the_farthest_knows_it)
{
    struct ls_bench b;
    three(&b);
    ls_bench_light(&b, 0, CW_LINK_XP, true);
    ls_bench_run(&b, ls_bench_ms(100));
    ls_bench_cut(&b, 0, CW_LINK_XP, true); /* 0 hears of nothing, for less than anybody would notice */
    ls_bench_light(&b, 1, CW_LINK_XP, true);
    ls_bench_run(&b, ls_bench_ms(120));
    ck_assert_int_eq(ls_bench_state(&b, 1, CW_LINK_XP), ADJ_PENDING);
    ck_assert_int_eq(ls_bench_state(&b, 2, CW_LINK_XM), ADJ_PENDING);
    ck_assert(!ls_active(b.ls[2]));
    ck_assert_uint_eq(ls_count(b.ls[1], LS_ADMISSIONS), 1);
    ls_bench_cut(&b, 0, CW_LINK_XP, false);
    ls_bench_run(&b, ls_bench_ms(140));
    ck_assert_int_eq(ls_bench_state(&b, 1, CW_LINK_XP), ADJ_UP);
    ck_assert_int_eq(ls_bench_state(&b, 2, CW_LINK_XM), ADJ_UP);
    ck_assert_uint_eq(ls_count(b.ls[1], LS_ADMISSIONS), 2);
    ck_assert_uint_eq(ls_count(b.ls[2], LS_ADMISSIONS), 1);
    for (cw_server s = 0; s < 3; s++) {
        ls_refresh(b.ls[s], b.now);
        ck_assert_uint_eq(ls_committed(b.ls[s])->members, 3);
    }
    ck_assert_uint_eq(ls_hops(b.ls[0], 2), 2);
    ls_bench_close(&b);
}
END_TEST

START_TEST(a_second_way_to_a_known_server_needs_no_round)
{
    struct ls_bench b;
    line(&b);
    ls_bench_light(&b, 2, CW_LINK_XP, true);
    ls_bench_run_for(&b, CW_MS(10));
    ck_assert_int_eq(ls_bench_state(&b, 2, CW_LINK_XP), ADJ_UP);
    ck_assert_int_eq(ls_bench_state(&b, 0, CW_LINK_XM), ADJ_UP);
    ck_assert_uint_eq(ls_count(b.ls[2], LS_SHORTCUTS), 1);
    ck_assert_uint_eq(ls_count(b.ls[0], LS_SHORTCUTS), 1);
    ck_assert_uint_eq(ls_count(b.ls[0], LS_ADMISSIONS), 1);
    ck_assert_uint_eq(ls_count(b.ls[0], LS_DOUBTS), 0);
    ls_refresh(b.ls[0], b.now);
    ck_assert_uint_eq(ls_hops(b.ls[0], 2), 1);
    ls_bench_close(&b);
}
END_TEST

START_TEST(whoever_is_lost_is_held_for_sixty_ms)
{
    struct ls_bench b;
    line(&b);
    ls_bench_light(&b, 1, CW_LINK_XP, false);
    ls_bench_flow(&b);
    ls_refresh(b.ls[0], b.now);
    ck_assert(!reach_has(ls_committed(b.ls[0]), 2));
    ck_assert(reach_has(ls_optimistic(b.ls[0]), 2));
    cw_time release = cw_time_add(b.now, CW_MS(60));
    ls_bench_run(&b, (cw_time){release.ns - 1});
    ls_refresh(b.ls[0], b.now);
    ck_assert(reach_has(ls_optimistic(b.ls[0]), 2));
    ck_assert_int_eq(ls_next_wake(b.ls[0]).ns, release.ns);
    ls_bench_run(&b, release);
    ls_refresh(b.ls[0], b.now);
    ck_assert(!reach_has(ls_optimistic(b.ls[0]), 2));
    ck_assert_ptr_eq(ls_optimistic(b.ls[0]), ls_committed(b.ls[0]));
    ck_assert(ls_serving(b.ls[0], b.now));
    ck_assert(!ls_active(b.ls[2])); /* its lease ran out before that */
    ls_bench_close(&b);
}
END_TEST

START_TEST(whoever_leaves_is_not_held_and_still_passes_on)
{
    struct ls_bench b;
    line(&b);
    ls_leave(b.ls[1], b.now);
    ls_bench_flow(&b);
    ls_refresh(b.ls[0], b.now);
    ck_assert(!reach_has(ls_optimistic(b.ls[0]), 1));
    ck_assert(reach_has(ls_committed(b.ls[0]), 2)); /* through it */
    ck_assert_uint_eq(ls_hops(b.ls[0], 2), 2);
    ls_bench_close(&b);
}
END_TEST

START_TEST(what_takes_away_is_said_at_once_and_what_adds_is_paced)
{
    struct ls_bench b;
    line(&b);
    uint32_t seq = ls_record(b.ls[1], 1)->seq;
    b.ls[1]->version_at = cw_time_add(b.now, CW_MS(1)); /* as after a version of this instant */
    ls_bench_light(&b, 1, CW_LINK_XP, false);
    ck_assert_uint_eq(ls_record(b.ls[1], 1)->seq, seq + 1);
    ck_assert_uint_eq(ls_record(b.ls[1], 1)->up, cw_links_of(CW_LINK_XM));
    ck_assert_int_eq(b.ls[1]->version_at.ns, b.now.ns + CW_MS(1).ns);
    /* Nothing is said twice. */
    ls_refresh(b.ls[1], b.now);
    ck_assert_uint_eq(ls_record(b.ls[1], 1)->seq, seq + 1);
    ls_bench_close(&b);
}
END_TEST

START_TEST(a_leaving_server_admits_nobody)
{
    struct ls_bench b;
    three(&b);
    ls_bench_light(&b, 0, CW_LINK_XP, true);
    ls_bench_run(&b, ls_bench_ms(100));
    ls_leave(b.ls[1], b.now);
    ls_bench_light(&b, 1, CW_LINK_XP, true);
    ls_bench_run_for(&b, CW_NS(CW_MS(10).ns - 1));
    ck_assert_int_eq(ls_bench_state(&b, 1, CW_LINK_XP), ADJ_EXCHANGE);
    ck_assert(!ls_active(b.ls[2]));
    ls_bench_close(&b);
}
END_TEST

START_TEST(databases_that_differ_at_rest_are_repaired)
{
    struct ls_bench b;
    ls_bench_open(&b, (cw_dims){3, 1, 1});
    ls_bench_boot(&b, 0, 100);
    ls_bench_boot(&b, 1, 200);
    ls_bench_light(&b, 0, CW_LINK_XP, true);
    ls_bench_run(&b, ls_bench_ms(100));
    ck_assert_uint_eq(ls_digest(b.ls[0]), ls_digest(b.ls[1]));
    struct record lost = {.origin = {2, 0, 0}, .incarnation = 9, .seq = 3};
    struct lsdb_change change;
    ck_assert_int_eq(lsdb_apply(&b.ls[0]->db, &lost, &change), LSDB_NEWER); /* behind everybody's back */
    ls_bench_run_for(&b, CW_MS(19));                                        /* at most two hellos each way */
    ck_assert_uint_eq(ls_count(b.ls[0], LS_REPAIRS) + ls_count(b.ls[1], LS_REPAIRS), 0);
    /* The one that knows less repairs at the third, in vain; that must not keep the other from it. */
    ls_bench_run_for(&b, CW_MS(21));
    ck_assert_uint_ge(ls_count(b.ls[0], LS_REPAIRS), 1);
    ck_assert_uint_eq(ls_digest(b.ls[0]), ls_digest(b.ls[1]));
    ck_assert_uint_eq(ls_record(b.ls[1], 2)->seq, 3);
    uint64_t repairs = ls_count(b.ls[0], LS_REPAIRS);
    ls_bench_run_for(&b, CW_MS(200));
    ck_assert_uint_eq(ls_count(b.ls[0], LS_REPAIRS), repairs);
    ck_assert_int_eq(ls_bench_state(&b, 0, CW_LINK_XP), ADJ_UP);
    ls_bench_close(&b);
}
END_TEST

START_TEST(what_was_learned_is_passed_on_to_all_but_its_bringer)
{
    struct ls_bench b;
    line(&b);
    ls_bench_cut(&b, 0, CW_LINK_XP, true);
    ls_bench_cut(&b, 1, CW_LINK_XP, true);
    struct record record = *ls_record(b.ls[1], 0);
    record.seq++;
    linkstate_apply(b.ls[1], &record, 1, CW_LINK_XM);
    ck_assert_uint_eq(b.ls[1]->links[CW_LINK_XM].feed.unsent, 0);
    ck_assert_uint_eq(b.ls[1]->links[CW_LINK_XP].feed.unsent, 1);
    /* The other neighbour shows that it knows it too: nothing is owed any more. */
    linkstate_apply(b.ls[1], &record, 1, CW_LINK_XP);
    ck_assert_uint_eq(b.ls[1]->links[CW_LINK_XP].feed.unsent, 0);
    /* Several that belong together stay together: two records and the word that they are whole. */
    struct record both[2] = {*ls_record(b.ls[1], 0), *ls_record(b.ls[1], 2)};
    both[0].seq++;
    both[1].seq++;
    linkstate_apply(b.ls[1], both, 2, CW_LINK_XM);
    ck_assert_uint_eq(b.ls[1]->links[CW_LINK_XP].feed.unsent, 3);
    ck_assert_uint_eq(b.ls[1]->links[CW_LINK_XM].feed.unsent, 0);
    const struct flood *f = &b.ls[1]->flood;
    ck_assert(flood_at(f, f->end - 3)->more && flood_at(f, f->end - 2)->more);
    ck_assert_uint_eq(flood_at(f, f->end - 1)->kind, FLOOD_SYNCED);
    ls_bench_close(&b);
}
END_TEST

/* What is asked between entries, but for what a data frame changes. */
struct answers {
    cw_time wake, due, lease;
    cw_links tx, owed, live, up;
    bool whole, linked;
};

static struct answers answers_of(const struct linkstate *ls)
{
    struct answers a;
    memset(&a, 0, sizeof a); /* compared with what lies between */
    a.wake = ls->wake;
    a.due = ls->due;
    a.lease = ls->lease;
    a.tx = ls->tx;
    a.owed = ls->owed;
    a.live = ls->live;
    a.up = ls->up;
    a.whole = ls->whole;
    a.linked = ls->linked;
    return a;
}

START_TEST(a_hello_at_rest_settles_its_link_and_leaves_nothing_to_settle)
{
    struct ls_bench b;
    line(&b);
    unsigned frames = b.frames, settled = 0;
    for (unsigned i = 0; i < 400; i++) {
        uint64_t notes = ls_notes(b.ls[1]), version = ls_record(b.ls[1], 1)->seq;
        ls_bench_run_for(&b, CW_US(330));
        ck_assert_uint_eq(ls_record(b.ls[1], 1)->seq, version);
        settled += ls_notes(b.ls[1]) != notes;
        for (cw_server s = 0; s < 3; s++) {
            struct answers links = answers_of(b.ls[s]);
            linkstate_settle(b.ls[s], true);
            struct answers all = answers_of(b.ls[s]);
            ck_assert_mem_eq(&links, &all, sizeof all);
        }
    }
    ck_assert_uint_ge(b.frames - frames, 4 * 13); /* hellos */
    ck_assert_uint_le(settled, 2);                /* repeat_at, every 100 ms */
    ls_bench_close(&b);
}
END_TEST

/* Three servers boot, a cable is cut and mended, and one of them leaves. */
START_TEST(links_that_nothing_happened_to_are_noted_already)
{
    struct ls_bench b;
    three(&b);
    ls_bench_light(&b, 0, CW_LINK_XP, true);
    ls_bench_light(&b, 1, CW_LINK_XP, true);
    for (unsigned i = 0; i < 900; i++) {
        if (i == 300) {
            ls_bench_cut(&b, 0, CW_LINK_XP, true);
        } else if (i == 600) {
            ls_bench_cut(&b, 0, CW_LINK_XP, false);
        } else if (i == 800) {
            ls_leave(b.ls[2], b.now);
        }
        ls_bench_run_for(&b, CW_US(330));
        for (cw_server s = 0; s < 3; s++) {
            linkstate_settle(b.ls[s], true);
            ck_assert(linkstate_noted(b.ls[s]));
        }
    }
    ck_assert(b.ls[2]->parted);
    ls_bench_close(&b);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(links_that_nothing_happened_to_are_noted_already),
    SUITE_TEST(two_servers_boot_in_four_ms),
    SUITE_TEST(a_pending_neighbour_is_in_o_and_not_in_c),
    SUITE_TEST(a_newcomer_waits_until_the_farthest_knows_it),
    SUITE_TEST(a_second_way_to_a_known_server_needs_no_round),
    SUITE_TEST(whoever_is_lost_is_held_for_sixty_ms),
    SUITE_TEST(whoever_leaves_is_not_held_and_still_passes_on),
    SUITE_TEST(what_takes_away_is_said_at_once_and_what_adds_is_paced),
    SUITE_TEST(a_leaving_server_admits_nobody),
    SUITE_TEST(databases_that_differ_at_rest_are_repaired),
    SUITE_TEST(what_was_learned_is_passed_on_to_all_but_its_bringer),
    SUITE_TEST(a_hello_at_rest_settles_its_link_and_leaves_nothing_to_settle),
};

SUITE_MAIN("linkstate_settle", tests)
