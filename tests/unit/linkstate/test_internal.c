/* SPDX-License-Identifier: Apache-2.0 */
#include "linkstate/internal.h"

#include "ls_bench.h"
#include "suite.h"

START_TEST(who_is_at_the_other_end)
{
    struct ls_bench b;
    ls_bench_open(&b, (cw_dims){2, 2, 2});
    for (cw_server s = 0; s < 8; s++) {
        ls_bench_boot(&b, s, 100 + s);
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            ck_assert_uint_eq(linkstate_peer(b.ls[s], link), b.neighbours[s * CW_LINK_COUNT + link]);
        }
    }
    ls_bench_close(&b);
}
END_TEST

START_TEST(the_own_record_is_the_newest_version_of_ours)
{
    struct ls_bench b;
    ls_bench_pair(&b);
    const struct record *own = linkstate_own(b.ls[1]);
    ck_assert_ptr_eq(own, ls_record(b.ls[1], 1));
    ck_assert_uint_eq(own->seq, 5);
    linkstate_publish(b.ls[1]);
    ck_assert_uint_eq(linkstate_own(b.ls[1])->seq, 6);
    ls_bench_close(&b);
}
END_TEST

START_TEST(a_link_is_committed_when_both_records_list_it_up)
{
    struct ls_bench b;
    ls_bench_open(&b, (cw_dims){2, 1, 1});
    ls_bench_boot(&b, 0, 100);
    ls_bench_boot(&b, 1, 200);
    ls_bench_light(&b, 0, CW_LINK_XP, true);
    ls_bench_run(&b, (cw_time){ls_bench_ms(4).ns - 1});
    ck_assert(!linkstate_is_committed(b.ls[0], CW_LINK_XP)); /* pending at both ends */
    ls_bench_run(&b, ls_bench_ms(4));
    ck_assert(linkstate_is_committed(b.ls[0], CW_LINK_XP));
    ck_assert(linkstate_is_committed(b.ls[1], CW_LINK_XM));
    ck_assert(!linkstate_is_committed(b.ls[0], CW_LINK_XM)); /* the other cable of the two */
    ls_bench_light(&b, 0, CW_LINK_XP, false);
    ck_assert(!linkstate_is_committed(b.ls[0], CW_LINK_XP));
    ls_bench_close(&b);
}
END_TEST

/* Whoever makes his timers longer repeats less: acks of an admission are N squared each time, */
START_TEST(smaller_spans_follow_from_the_timers)
{
    struct ls_timers both[] = {ls_timers_default(), ls_timers_fast()};
    for (size_t i = 0; i < 2; i++) {
        struct ls_spans s = ls_spans_of(&both[i]);
        ck_assert(s.drain.ns == CW_MS(1).ns && s.hello_least.ns == CW_MS(1).ns && s.gather.ns == CW_US(50).ns);
        ck_assert(s.ack_delay.ns == CW_US(200).ns && s.repeat.ns == CW_MS(100).ns);
    }
    struct ls_timers slow = ls_timers_default();
    slow.retry = CW_MS(200);
    slow.flood_bound = CW_MS(500);
    struct ls_spans s = ls_spans_of(&slow);
    ck_assert(s.drain.ns == CW_MS(100).ns && s.hello_least.ns == CW_MS(100).ns && s.gather.ns == CW_MS(5).ns);
    ck_assert(s.ack_delay.ns == CW_MS(20).ns && s.repeat.ns == CW_SEC(10).ns);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(who_is_at_the_other_end),
    SUITE_TEST(the_own_record_is_the_newest_version_of_ours),
    SUITE_TEST(a_link_is_committed_when_both_records_list_it_up),
    SUITE_TEST(smaller_spans_follow_from_the_timers),
};

SUITE_MAIN("linkstate_internal", tests)
