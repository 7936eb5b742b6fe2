/* SPDX-License-Identifier: Apache-2.0 */
#include "ls_bench.h"
#include "suite.h"

START_TEST(at_rest_there_is_one_hello_in_ten_ms_and_nothing_else)
{
    struct ls_bench b;
    ls_bench_pair(&b);
    unsigned before = b.frames;
    ls_bench_run_for(&b, CW_SEC(1));
    ck_assert_uint_eq(b.frames - before, 200);
    ck_assert_uint_eq(ls_count(b.ls[0], LS_VERSIONS), 5);
    ls_bench_close(&b);
}
END_TEST

START_TEST(the_lease_ends_dead_after_the_last_clock_that_came_back)
{
    struct ls_bench b;
    ls_bench_pair(&b);
    ls_bench_cut(&b, 0, CW_LINK_XP, true);
    cw_time lease = cw_time_add(b.ls[0]->links[CW_LINK_XP].echo, CW_MS(50));
    ck_assert_int_eq(b.ls[0]->lease.ns, lease.ns);
    ck_assert_int_gt(lease.ns, b.now.ns + CW_MS(30).ns);
    ls_bench_run(&b, (cw_time){lease.ns - 1});
    ck_assert(ls_serving(b.ls[0], b.now));
    ck_assert(!ls_serving(b.ls[0], lease)); /* whether or not it was told of the time */
    ck_assert_int_le(ls_next_wake(b.ls[0]).ns, lease.ns);
    b.now = lease;
    ls_refresh(b.ls[0], b.now); /* any entry fences */
    ck_assert_uint_eq(ls_count(b.ls[0], LS_FENCES), 1);
    ck_assert_uint_eq(ls_incarnation(b.ls[0]), 101);
    ck_assert(!ls_active(b.ls[0]));
    ck_assert_uint_eq(ls_committed(b.ls[0])->members, 1);
    ck_assert_ptr_eq(ls_optimistic(b.ls[0]), ls_committed(b.ls[0]));
    ck_assert_uint_eq(ls_record(b.ls[0], 0)->incarnation, 101);
    ck_assert_uint_eq(ls_record(b.ls[0], 0)->seq, 1);
    ck_assert_uint_eq(ls_record(b.ls[0], 0)->up, CW_LINKS_NONE);
    ck_assert_ptr_nonnull(ls_record(b.ls[0], 1)); /* what others said stays */
    ck_assert_int_eq(ls_bench_state(&b, 0, CW_LINK_XP), ADJ_DAMPED);
    ls_bench_close(&b);
}
END_TEST

START_TEST(hearing_others_is_no_lease_when_nobody_hears_us)
{
    struct ls_bench b;
    ls_bench_pair(&b);
    cw_time lease = b.ls[0]->lease;
    b.cut[0] = CW_LINKS_ALL; /* 1 is heard, and hears nothing */
    ls_bench_run(&b, (cw_time){lease.ns - 1});
    ck_assert_int_le(b.ls[0]->lease.ns, cw_time_add(ls_bench_ms(100), CW_MS(50)).ns);
    ls_bench_run(&b, cw_time_add(ls_bench_ms(100), CW_MS(50)));
    ck_assert_uint_eq(ls_count(b.ls[0], LS_FENCES), 1);
    ls_bench_close(&b);
}
END_TEST

START_TEST(a_fenced_pair_finds_together_again)
{
    struct ls_bench b;
    ls_bench_pair(&b);
    ls_bench_cut(&b, 0, CW_LINK_XP, true);
    ls_bench_run_for(&b, CW_MS(60));
    ck_assert(!ls_active(b.ls[0]) && !ls_active(b.ls[1]));
    ls_bench_cut(&b, 0, CW_LINK_XP, false);
    ls_bench_run_for(&b, CW_MS(200));
    ck_assert(ls_serving(b.ls[0], b.now) && ls_serving(b.ls[1], b.now));
    ck_assert_uint_eq(ls_link_peer(b.ls[0], CW_LINK_XP), 201);
    ck_assert_uint_eq(ls_link_peer(b.ls[1], CW_LINK_XM), 101);
    ck_assert_uint_eq(ls_digest(b.ls[0]), ls_digest(b.ls[1]));
    ls_bench_close(&b);
}
END_TEST

START_TEST(a_neighbour_is_silent_after_dead)
{
    struct ls_bench b;
    ls_bench_open(&b, (cw_dims){3, 1, 1});
    for (cw_server s = 0; s < 3; s++) {
        ls_bench_boot(&b, s, 100 + s);
        ls_bench_light(&b, s, CW_LINK_XP, true);
    }
    for (cw_server s = 0; s < 3; s++) {
        ls_bench_light(&b, s, CW_LINK_XP, true);
    }
    ls_bench_run(&b, ls_bench_ms(100));
    ck_assert_int_eq(ls_bench_state(&b, 0, CW_LINK_XP), ADJ_UP);
    ls_close(b.ls[1]); /* dies without a word */
    b.ls[1] = NULL;
    cw_time silent = cw_time_add(b.ls[0]->links[CW_LINK_XP].adj.heard, CW_MS(50));
    ls_bench_run(&b, (cw_time){silent.ns - 1});
    ck_assert_int_eq(ls_bench_state(&b, 0, CW_LINK_XP), ADJ_UP);
    ls_bench_run(&b, silent);
    ck_assert_int_eq(ls_bench_state(&b, 0, CW_LINK_XP), ADJ_DAMPED);
    ck_assert_uint_eq(ls_count(b.ls[0], LS_SILENCES), 1);
    ck_assert_uint_eq(ls_count(b.ls[0], LS_FENCES), 0); /* 2 hears us */
    ck_assert(ls_serving(b.ls[0], b.now));
    ls_bench_close(&b);
}
END_TEST

START_TEST(after_a_stall_nobody_is_called_silent_for_a_ms)
{
    struct ls_bench b;
    ls_bench_open(&b, (cw_dims){2, 1, 1});
    ls_bench_boot(&b, 0, 100);
    ls_bench_boot(&b, 1, 200);
    ls_bench_light(&b, 0, CW_LINK_XP, true);
    ls_bench_flow(&b); /* 0 is in EXCHANGE and has no lease to lose */
    ck_assert_int_eq(ls_bench_state(&b, 0, CW_LINK_XP), ADJ_EXCHANGE);
    ls_tick(b.ls[0], ls_bench_ms(25)); /* dead / 2 is no stall yet */
    ck_assert_int_lt(b.ls[0]->judge_from.ns, ls_bench_ms(25).ns);
    ls_tick(b.ls[0], (cw_time){ls_bench_ms(50).ns + 1});
    ck_assert_int_eq(b.ls[0]->judge_from.ns, ls_bench_ms(51).ns + 1);
    ck_assert_int_eq(ls_bench_state(&b, 0, CW_LINK_XP), ADJ_EXCHANGE);
    ck_assert_int_le(ls_next_wake(b.ls[0]).ns, ls_bench_ms(51).ns + 1);
    ls_tick(b.ls[0], ls_bench_ms(51));
    ck_assert_int_eq(ls_bench_state(&b, 0, CW_LINK_XP), ADJ_EXCHANGE);
    ls_tick(b.ls[0], (cw_time){ls_bench_ms(51).ns + 1});
    ck_assert_int_eq(ls_bench_state(&b, 0, CW_LINK_XP), ADJ_DOWN);
    ls_bench_close(&b);
}
END_TEST

START_TEST(who_slept_for_dead_is_fenced_even_without_a_lease)
{
    struct ls_bench b;
    ls_bench_open(&b, (cw_dims){2, 1, 1});
    ls_bench_boot(&b, 0, 100);
    ls_tick(b.ls[0], ls_bench_ms(1000)); /* the first entry is no awakening */
    ls_tick(b.ls[0], (cw_time){ls_bench_ms(1050).ns - 1});
    ck_assert_uint_eq(ls_count(b.ls[0], LS_FENCES), 0);
    ls_tick(b.ls[0], (cw_time){ls_bench_ms(1100).ns - 1});
    ck_assert_uint_eq(ls_count(b.ls[0], LS_FENCES), 1);
    ck_assert_uint_eq(ls_incarnation(b.ls[0]), 101);
    ls_bench_close(&b);
}
END_TEST

START_TEST(a_torus_of_one_may_rest_for_any_time)
{
    struct ls_bench b;
    ls_bench_open(&b, (cw_dims){1, 1, 1});
    struct ls_config config = ls_bench_config(&b, 0, 5);
    config.alone = true;
    ck_assert_int_eq(ls_open(&b.ls[0], &config), 0);
    ls_tick(b.ls[0], ls_bench_ms(1));
    uint64_t epoch = ls_epoch(b.ls[0]);
    ls_tick(b.ls[0], ls_bench_ms(100000));
    ck_assert_uint_eq(ls_count(b.ls[0], LS_FENCES), 0);
    ck_assert_uint_eq(ls_epoch(b.ls[0]), epoch); /* or its services would drop what they hold */
    ck_assert(ls_serving(b.ls[0], ls_bench_ms(100000)));
    ls_bench_close(&b);
}
END_TEST

START_TEST(a_link_that_stays_pending_is_torn_down_at_the_limit)
{
    struct ls_bench b;
    ls_bench_open(&b, (cw_dims){2, 1, 1});
    ls_bench_boot(&b, 0, 100);
    ls_bench_boot(&b, 1, 200);
    ls_bench_light(&b, 0, CW_LINK_XP, true);
    ls_bench_run(&b, ls_bench_ms(2));
    ck_assert_int_eq(ls_bench_state(&b, 0, CW_LINK_XP), ADJ_PENDING);
    ck_assert_int_eq(ls_bench_state(&b, 1, CW_LINK_XM), ADJ_PENDING);
    b.ls[1]->version_at = (cw_time){INT64_MAX - 1}; /* it will never say more */
    ls_bench_run(&b, (cw_time){ls_bench_ms(502).ns - 1});
    ck_assert_int_ge(ls_bench_state(&b, 0, CW_LINK_XP), ADJ_PENDING);
    ck_assert_int_eq(ls_bench_state(&b, 1, CW_LINK_XM), ADJ_PENDING);
    ls_bench_run(&b, ls_bench_ms(502));
    ck_assert_int_eq(ls_bench_state(&b, 0, CW_LINK_XP), ADJ_DAMPED);
    ck_assert_int_eq(ls_bench_state(&b, 1, CW_LINK_XM), ADJ_DAMPED);
    ck_assert_uint_eq(ls_count(b.ls[0], LS_OVERDUE) + ls_count(b.ls[1], LS_OVERDUE), 2);
    ck_assert_int_eq(b.ls[0]->links[CW_LINK_XP].adj.rest.ns, ls_bench_ms(602).ns);
    ck_assert_uint_eq(ls_record(b.ls[0], 0)->up | ls_record(b.ls[0], 0)->pending, CW_LINKS_NONE);
    ls_bench_close(&b);
}
END_TEST

START_TEST(the_own_record_is_refreshed)
{
    struct ls_bench b;
    ls_bench_open(&b, (cw_dims){2, 1, 1});
    b.timers.refresh = CW_SEC(1);
    ls_bench_boot(&b, 0, 100);
    ls_bench_boot(&b, 1, 200);
    ls_bench_light(&b, 0, CW_LINK_XP, true);
    ls_bench_run(&b, (cw_time){ls_bench_ms(1005).ns - 1}); /* the last version is of 5 ms */
    ck_assert_uint_eq(ls_record(b.ls[1], 0)->seq, 5);
    ls_bench_run(&b, ls_bench_ms(1005));
    ck_assert_uint_eq(ls_record(b.ls[1], 0)->seq, 6);
    ck_assert_uint_eq(ls_record(b.ls[1], 0)->up, cw_links_of(CW_LINK_XP));
    ls_bench_run(&b, ls_bench_ms(2005));
    ck_assert_uint_eq(ls_record(b.ls[1], 0)->seq, 7);
    ls_bench_close(&b);
}
END_TEST

/* Packets between a tick and the next must not settle, each of them, what is settled. */
START_TEST(acks_that_nobody_waits_for_settle_nothing)
{
    struct ls_bench b;
    ls_bench_pair(&b);
    b.ls[0]->repeat_at = cw_time_add(b.now, CW_NS(1));
    b.now = cw_time_add(b.now, CW_NS(2));
    ck_assert(cw_time_before(b.now, ls_next_wake(b.ls[0])));
    ls_refresh(b.ls[0], b.now);
    uint64_t notes = ls_notes(b.ls[0]);
    ck_assert(!ls_refresh(b.ls[0], b.now));
    ck_assert_uint_eq(ls_notes(b.ls[0]), notes);
    ls_tick(b.ls[0], b.now);
    ck_assert_int_gt(b.ls[0]->repeat_at.ns, b.now.ns);
    ls_bench_close(&b);
}
END_TEST

START_TEST(time_does_not_go_back)
{
    struct ls_bench b;
    ls_bench_open(&b, (cw_dims){2, 1, 1});
    ls_bench_boot(&b, 0, 100);
    ls_tick(b.ls[0], ls_bench_ms(2));
    ls_tick(b.ls[0], ls_bench_ms(1));
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(at_rest_there_is_one_hello_in_ten_ms_and_nothing_else),
    SUITE_TEST(the_lease_ends_dead_after_the_last_clock_that_came_back),
    SUITE_TEST(hearing_others_is_no_lease_when_nobody_hears_us),
    SUITE_TEST(a_fenced_pair_finds_together_again),
    SUITE_TEST(a_neighbour_is_silent_after_dead),
    SUITE_TEST(after_a_stall_nobody_is_called_silent_for_a_ms),
    SUITE_TEST(who_slept_for_dead_is_fenced_even_without_a_lease),
    SUITE_TEST(a_torus_of_one_may_rest_for_any_time),
    SUITE_TEST(a_link_that_stays_pending_is_torn_down_at_the_limit),
    SUITE_TEST(the_own_record_is_refreshed),
    SUITE_TEST(acks_that_nobody_waits_for_settle_nothing),
    SUITE_ABORTS(time_does_not_go_back),
};

SUITE_MAIN("linkstate_tick", tests)
