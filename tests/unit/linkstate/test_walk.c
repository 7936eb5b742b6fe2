/* SPDX-License-Identifier: Apache-2.0 */
/* The walker of a link state passes on a sound one, and each of its rules stops one that is broken. */
#include "ls_bench.h"
#include "suite.h"

START_TEST(a_sound_link_state_passes)
{
    struct ls_bench b;
    ls_bench_pair(&b);
    for (unsigned i = 0; i < 2; i++) {
        for (cw_server turn = 0; turn < 2; turn++) {
            b.ls[i]->now.ns += b.ls[i]->now.ns % 2 != (int64_t)turn;
            ck_assert(linkstate_walk(b.ls[i]));
        }
    }
    ls_bench_close(&b);
}
END_TEST

START_TEST(a_member_of_c_that_is_not_in_o_stops)
{
    struct ls_bench b;
    ls_bench_pair(&b);
    reach_remove(&b.ls[0]->views.optimistic, 1);
    linkstate_walk(b.ls[0]);
}
END_TEST

START_TEST(a_member_of_c_that_is_held_stops)
{
    struct ls_bench b;
    ls_bench_pair(&b);
    reach_add(&b.ls[0]->views.held, 1);
    linkstate_walk(b.ls[0]);
}
END_TEST

START_TEST(views_that_are_equal_by_word_only_stop)
{
    struct ls_bench b;
    ls_bench_pair(&b);
    reach_remove(&b.ls[0]->views.committed, 1);
    linkstate_walk(b.ls[0]);
}
END_TEST

START_TEST(a_stream_that_runs_alone_stops)
{
    struct ls_bench b;
    ls_bench_pair(&b);
    b.ls[0]->links[CW_LINK_XP].adj.state = ADJ_INIT;
    linkstate_walk(b.ls[0]);
}
END_TEST

START_TEST(a_stream_whose_log_is_gone_stops)
{
    struct ls_bench b;
    ls_bench_pair(&b);
    b.ls[0]->links[CW_LINK_XP].feed.base = b.ls[0]->flood.first - 1;
    linkstate_walk(b.ls[0]);
}
END_TEST

START_TEST(a_window_that_is_too_wide_stops)
{
    struct ls_bench b;
    ls_bench_pair(&b);
    b.ls[0]->links[CW_LINK_XP].feed.top += FEED_WINDOW + 1;
    linkstate_walk(b.ls[0]);
}
END_TEST

START_TEST(a_link_that_no_record_lists_stops)
{
    struct ls_bench b;
    ls_bench_pair(&b);
    b.ls[0]->db.records[1].up = CW_LINKS_NONE;
    linkstate_walk(b.ls[0]);
}
END_TEST

/* The next three: as if an entry had forgotten to note the link. */
START_TEST(a_link_that_is_said_to_be_quiet_stops)
{
    struct ls_bench b;
    ls_bench_pair(&b);
    b.ls[0]->tx ^= cw_links_of(CW_LINK_XP);
    linkstate_walk(b.ls[0]);
}
END_TEST

START_TEST(a_gate_that_is_behind_its_stream_stops)
{
    struct ls_bench b;
    ls_bench_pair(&b);
    b.ls[0]->gate[CW_LINK_XP].received--;
    linkstate_walk(b.ls[0]);
}
END_TEST

START_TEST(a_wake_that_comes_too_late_stops)
{
    struct ls_bench b;
    ls_bench_pair(&b);
    b.ls[0]->links[CW_LINK_XP].hello_at = cw_time_add(b.ls[0]->now, CW_NS(1));
    linkstate_walk(b.ls[0]);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_sound_link_state_passes),
    SUITE_ABORTS(a_member_of_c_that_is_not_in_o_stops),
    SUITE_ABORTS(a_member_of_c_that_is_held_stops),
    SUITE_ABORTS(views_that_are_equal_by_word_only_stop),
    SUITE_ABORTS(a_stream_that_runs_alone_stops),
    SUITE_ABORTS(a_stream_whose_log_is_gone_stops),
    SUITE_ABORTS(a_window_that_is_too_wide_stops),
    SUITE_ABORTS(a_link_that_no_record_lists_stops),
    SUITE_ABORTS(a_link_that_is_said_to_be_quiet_stops),
    SUITE_ABORTS(a_gate_that_is_behind_its_stream_stops),
    SUITE_ABORTS(a_wake_that_comes_too_late_stops),
};
SUITE_MAIN("walk", tests)
