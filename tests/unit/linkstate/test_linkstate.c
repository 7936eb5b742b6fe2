/* SPDX-License-Identifier: Apache-2.0 */
#include "ls_bench.h"
#include "suite.h"

#include <errno.h>
#include <limits.h>

static bool no_memory;

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

void *__wrap_calloc(size_t count, size_t size)
{
    return no_memory ? NULL : __real_calloc(count, size);
}

START_TEST(opening_refuses_what_cannot_work)
{
    struct ls_bench b;
    ls_bench_open(&b, (cw_dims){2, 2, 2});
    struct linkstate *ls = NULL;
    struct ls_config config = ls_bench_config(&b, 0, 0);
    ck_assert_int_eq(ls_open(&ls, &config), -EINVAL);
    config = ls_bench_config(&b, 8, 1);
    ck_assert_int_eq(ls_open(&ls, &config), -EINVAL);
    config = ls_bench_config(&b, 7, 1);
    config.timers.hold = CW_NS(CW_MS(55).ns - 1); /* dead + flood bound is 55 ms */
    ck_assert_int_eq(ls_open(&ls, &config), -EINVAL);
    ck_assert_ptr_null(ls);
    config.timers.hold = CW_MS(55);
    ck_assert_int_eq(ls_open(&ls, &config), 0);
    ls_close(ls);
}
END_TEST

START_TEST(opening_without_memory_leaves_nothing)
{
    struct ls_bench b;
    ls_bench_open(&b, (cw_dims){2, 2, 2});
    struct linkstate *ls = NULL;
    struct ls_config config = ls_bench_config(&b, 0, 1);
    no_memory = true;
    int rc = ls_open(&ls, &config);
    no_memory = false;
    ck_assert_int_eq(rc, -ENOMEM);
    ck_assert_ptr_null(ls);
}
END_TEST

START_TEST(a_server_without_a_link)
{
    struct ls_bench b;
    ls_bench_open(&b, (cw_dims){2, 1, 1});
    ls_bench_boot(&b, 1, 200);
    struct linkstate *ls = b.ls[1];
    ls_refresh(ls, ls_bench_ms(0));
    ck_assert(!ls_active(ls));
    ck_assert(!ls_serving(ls, ls_bench_ms(0)));
    ck_assert_uint_eq(ls_committed(ls)->members, 1);
    ck_assert(reach_has(ls_committed(ls), 1));
    ck_assert_ptr_eq(ls_optimistic(ls), ls_committed(ls));
    ck_assert_uint_eq(ls_up_links(ls), CW_LINKS_NONE);
    ck_assert_uint_eq(ls_tx_links(ls), CW_LINKS_NONE);
    ck_assert_uint_eq(ls_next_hops(ls, 0), CW_LINKS_NONE);
    ck_assert_uint_eq(ls_hops(ls, 0), UINT_MAX);
    ck_assert_uint_eq(ls_hops(ls, 1), 0);
    ck_assert_uint_eq(ls_incarnation(ls), 200);
    ck_assert_uint_eq(ls_link_peer(ls, CW_LINK_XM), 0);
    ck_assert_ptr_null(ls_record(ls, 0));
    ck_assert_uint_eq(ls_record(ls, 1)->incarnation, 200);
    ck_assert_uint_eq(ls_record(ls, 1)->seq, 1);
    ck_assert_uint_eq(ls_record(ls, 1)->flags, 0);
    ck_assert_uint_ge(ls_bytes(ls), sizeof *ls);
    /* Nothing ever happens to it. */
    ls_bench_run(&b, ls_bench_ms(1));
    ck_assert_uint_eq(b.frames, 0);
    ls_bench_close(&b);
}
END_TEST

START_TEST(a_cluster_of_one_serves_at_once)
{
    struct ls_bench b;
    ls_bench_open(&b, (cw_dims){1, 1, 1});
    struct ls_config config = ls_bench_config(&b, 0, 5);
    config.alone = true;
    ck_assert_int_eq(ls_open(&b.ls[0], &config), 0);
    ck_assert(ls_active(b.ls[0]));
    ck_assert(ls_serving(b.ls[0], ls_bench_ms(0)));
    /* A cable that the torus does not have. */
    ls_carrier(b.ls[0], CW_LINK_XP, true, ls_bench_ms(1));
    ck_assert_int_eq(ls_bench_state(&b, 0, CW_LINK_XP), ADJ_NO_CARRIER);
    ck_assert_uint_eq(ls_tx_links(b.ls[0]), CW_LINKS_NONE);
    ls_bench_close(&b);
}
END_TEST

START_TEST(what_a_pair_knows)
{
    struct ls_bench b;
    ls_bench_pair(&b);
    for (cw_server s = 0; s < 2; s++) {
        struct linkstate *ls = b.ls[s];
        cw_link link = s == 0 ? CW_LINK_XP : CW_LINK_XM;
        ls_refresh(ls, b.now);
        ck_assert(ls_active(ls));
        ck_assert(ls_serving(ls, b.now));
        ck_assert_uint_eq(ls_committed(ls)->members, 2);
        ck_assert_ptr_eq(ls_optimistic(ls), ls_committed(ls));
        ck_assert_uint_eq(ls_next_hops(ls, 1 - s), cw_links_of(link));
        ck_assert_uint_eq(ls_hops(ls, 1 - s), 1);
        ck_assert_uint_eq(ls_link_peer(ls, link), s == 0 ? 200 : 100);
        ck_assert_uint_eq(ls_record(ls, 1)->up, cw_links_of(CW_LINK_XM));
        ck_assert_uint_eq(ls_record(ls, 1)->flags, RECORD_ACTIVE);
        ck_assert_uint_eq(ls_record(ls, 1)->neighbour[CW_LINK_XM], 100);
    }
    ck_assert_uint_eq(ls_digest(b.ls[0]), ls_digest(b.ls[1]));
    ls_bench_close(&b);
}
END_TEST

START_TEST(epochs_stand_still_while_nothing_changes)
{
    struct ls_bench b;
    ls_bench_pair(&b);
    uint64_t epoch = ls_epoch(b.ls[0]), routes = ls_routes_epoch(b.ls[0]);
    ls_bench_run(&b, ls_bench_ms(300));
    ls_refresh(b.ls[0], b.now);
    ck_assert_uint_eq(ls_epoch(b.ls[0]), epoch);
    ck_assert_uint_eq(ls_routes_epoch(b.ls[0]), routes);
    ls_bench_light(&b, 0, CW_LINK_XP, false);
    ls_refresh(b.ls[0], b.now);
    ck_assert_uint_gt(ls_epoch(b.ls[0]), epoch);
    ck_assert_uint_gt(ls_routes_epoch(b.ls[0]), routes);
    ls_bench_close(&b);
}
END_TEST

START_TEST(light_out_ends_the_link_at_once)
{
    struct ls_bench b;
    ls_bench_pair(&b);
    ls_bench_light(&b, 0, CW_LINK_XP, false);
    ls_refresh(b.ls[0], b.now);
    ck_assert_int_eq(ls_bench_state(&b, 0, CW_LINK_XP), ADJ_NO_CARRIER);
    ck_assert_uint_eq(ls_up_links(b.ls[0]), CW_LINKS_NONE);
    ck_assert_uint_eq(ls_tx_links(b.ls[0]), CW_LINKS_NONE);
    ck_assert_uint_eq(ls_link_peer(b.ls[0], CW_LINK_XP), 0);
    ck_assert(!reach_has(ls_committed(b.ls[0]), 1));
    ck_assert(reach_has(ls_optimistic(b.ls[0]), 1)); /* held */
    ck_assert_ptr_ne(ls_optimistic(b.ls[0]), ls_committed(b.ls[0]));
    ck_assert(ls_serving(b.ls[0], b.now)); /* the lease goes on */
    ck_assert_uint_eq(ls_record(b.ls[0], 0)->up, CW_LINKS_NONE);
    ck_assert_uint_eq(ls_count(b.ls[0], LS_TEARDOWNS), 1);
    /* On again: it rests for 100 ms, though hellos are sent. */
    cw_time rest = cw_time_add(b.now, CW_MS(100));
    ls_bench_run_for(&b, CW_MS(2));
    ls_bench_light(&b, 0, CW_LINK_XP, true);
    ls_bench_run(&b, (cw_time){rest.ns - 1});
    ck_assert_int_eq(ls_bench_state(&b, 0, CW_LINK_XP), ADJ_DAMPED);
    ls_bench_run(&b, cw_time_add(rest, CW_MS(20)));
    ck_assert_int_eq(ls_bench_state(&b, 0, CW_LINK_XP), ADJ_UP);
    ls_bench_close(&b);
}
END_TEST

START_TEST(an_orderly_leave_takes_two_flood_times)
{
    struct ls_bench b;
    ls_bench_pair(&b);
    ck_assert(!ls_left(b.ls[1], b.now));
    uint64_t epoch = ls_epoch(b.ls[1]);
    ls_leave(b.ls[1], b.now);
    ck_assert(!ls_serving(b.ls[1], b.now)); /* no longer owner of anything, from this instant */
    ck_assert_uint_gt(ls_epoch(b.ls[1]), epoch);
    ck_assert(!reach_has(ls_committed(b.ls[1]), 1));
    ls_bench_flow(&b);
    ls_refresh(b.ls[0], b.now);
    ck_assert(!reach_has(ls_optimistic(b.ls[0]), 1));                     /* no hold */
    ck_assert_uint_eq(ls_next_hops(b.ls[0], 1), cw_links_of(CW_LINK_XP)); /* what is under way still arrives */
    ck_assert_uint_eq(ls_record(b.ls[0], 1)->flags, RECORD_ACTIVE | RECORD_LEAVING);
    cw_time left = cw_time_add(b.now, CW_MS(10));    /* twice the flood bound */
    ls_leave(b.ls[1], cw_time_add(b.now, CW_MS(1))); /* asking again changes nothing */
    b.now = cw_time_add(b.now, CW_MS(1));
    ls_bench_run(&b, (cw_time){left.ns - 1});
    ck_assert_uint_eq(ls_up_links(b.ls[1]), cw_links_of(CW_LINK_XM));
    ck_assert(!ls_left(b.ls[1], b.now));
    b.now = left;
    ls_tick(b.ls[1], b.now);
    ck_assert(!ls_left(b.ls[1], b.now)); /* the goodbye is still here */
    ls_bench_flow(&b);
    ck_assert(ls_left(b.ls[1], b.now));
    ck_assert_int_ne(ls_bench_state(&b, 0, CW_LINK_XP), ADJ_UP);
    ls_bench_run_for(&b, CW_MS(30));
    ck_assert_uint_eq(ls_tx_links(b.ls[1]), CW_LINKS_NONE); /* not even hellos */
    ls_bench_close(&b);
}
END_TEST

START_TEST(a_lone_server_leaves_too)
{
    struct ls_bench b;
    ls_bench_open(&b, (cw_dims){2, 1, 1});
    ls_bench_boot(&b, 0, 100);
    ls_leave(b.ls[0], ls_bench_ms(1));
    b.now = ls_bench_ms(1);
    ls_bench_run(&b, (cw_time){ls_bench_ms(11).ns - 1});
    ck_assert(!ls_left(b.ls[0], b.now));
    ls_bench_run(&b, ls_bench_ms(11));
    ck_assert(ls_left(b.ls[0], b.now));
    ls_bench_close(&b);
}
END_TEST

START_TEST(a_link_says_who_is_at_its_end)
{
    struct ls_bench b;
    ls_bench_pair(&b);
    struct ls_link_info info;
    ls_link_info(b.ls[0], 0, &info);
    ck_assert(info.exists && info.up && info.committed && !info.miswired);
    ck_assert_str_eq(info.state, "up");
    ck_assert_uint_eq(info.expected.x, 1);
    ck_assert_uint_eq(info.incarnation, ls_incarnation(b.ls[1]));
    ck_assert(info.heard.any);
    ck_assert_uint_eq(info.heard.port, 1);
    ck_assert_uint_eq(info.heard.server.x, 1);
    ck_assert_uint_eq(info.heard.incarnation, ls_incarnation(b.ls[1]));
    ck_assert_int_ge(info.heard.at.ns, b.now.ns - 20 * 1000 * 1000);
    ls_link_info(b.ls[0], 2, &info); /* an axis of 1 */
    ck_assert(!info.exists && !info.up && !info.heard.any);
    /* Its hello comes over another cable than it should: not let in, and named. */
    struct note note = {0};
    for (unsigned i = 0; i < 50 && note.size == 0; i++) {
        ls_bench_run_for(&b, CW_MS(1));
        b.now = cw_time_add(b.now, CW_MS(11));
        ls_tick(b.ls[1], b.now);
        note = ls_bench_pull(&b, 1, 1);
    }
    struct hello hello = ls_bench_hello(&note);
    ls_carrier(b.ls[0], 1, true, b.now);
    hello.port = 1;
    uint8_t bytes[HELLO_BYTES];
    hello_encode(&hello, bytes);
    ck_assert_int_eq(ls_control(b.ls[0], 1, bytes, sizeof bytes, b.now), WIRE_OK);
    ls_link_info(b.ls[0], 1, &info);
    ck_assert(info.miswired && !info.up);
    ck_assert_str_eq(info.state, "miswired");
    ck_assert_uint_eq(info.heard.port, 1);
    ls_bench_close(&b);
}
END_TEST

START_TEST(counters_have_names_of_their_own)
{
    for (int i = 0; i < LS_COUNTERS; i++) {
        for (int j = 0; j < i; j++) {
            ck_assert_str_ne(ls_counter_name((enum ls_counter)i), ls_counter_name((enum ls_counter)j));
        }
    }
    ck_assert_str_eq(ls_counter_name(LS_FENCES), "fences");
    ck_assert_str_eq(ls_counter_name(LS_COUNTERS), "?");
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(opening_refuses_what_cannot_work),
    SUITE_TEST(opening_without_memory_leaves_nothing),
    SUITE_TEST(a_server_without_a_link),
    SUITE_TEST(a_cluster_of_one_serves_at_once),
    SUITE_TEST(what_a_pair_knows),
    SUITE_TEST(epochs_stand_still_while_nothing_changes),
    SUITE_TEST(light_out_ends_the_link_at_once),
    SUITE_TEST(an_orderly_leave_takes_two_flood_times),
    SUITE_TEST(a_lone_server_leaves_too),
    SUITE_TEST(a_link_says_who_is_at_its_end),
    SUITE_TEST(counters_have_names_of_their_own),
};

SUITE_MAIN("linkstate", tests)
