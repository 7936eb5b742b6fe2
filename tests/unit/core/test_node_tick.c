/* SPDX-License-Identifier: Apache-2.0 */
#include "node_bench.h"
#include "suite.h"

START_TEST(wakes_for_what_is_first)
{
    struct bench *b = bench_open((cw_dims){1, 1, 2});
    bench_start_all(b);
    bench_settle(b);
    struct node *n = b->node[0];
    node_tick(n, b->now);
    cw_time hello = node_next_wake(n);
    ck_assert(cw_time_before(b->now, hello));
    ck_assert(!cw_time_before(cw_time_add(b->now, CW_MS(11)), hello));
    cw_time soon = cw_time_add(b->now, CW_US(1));
    ck_assert_ptr_nonnull(cw_timer_start(bench_svc(b, 0), CW_US(1), probe_timer, NULL));
    ck_assert_int_eq(node_next_wake(n).ns, cw_time_min(soon, hello).ns);
    /* Something for ourselves, or to tell a writer: at once. */
    cw_to self = to_server(b, 0);
    ck_assert_int_eq(cw_send(bench_svc(b, 0), packet_of(b, 0, "x", 0), &self, NULL), 0);
    ck_assert_int_eq(node_next_wake(n).ns, b->now.ns);
    node_tick(n, b->now);
    ck_assert_int_eq(node_next_wake(n).ns, cw_time_min(soon, hello).ns);
    bench_close(b);
}
END_TEST

START_TEST(a_call_wakes)
{
    struct bench *b = bench_open((cw_dims){1, 1, 1});
    b->config.alone = true;
    bench_start(b, 0);
    bench_settle(b);
    ck_assert_int_eq(node_next_wake(b->node[0]).ns, ls_next_wake(b->node[0]->ls).ns);
    cw_to self = to_server(b, 0);
    cw_call_options options = {CW_CALL_INIT, .timeout = CW_US(3)};
    ck_assert_int_gt(cw_call(bench_svc(b, 0), packet_of(b, 0, "x", 0), &self, &options, probe_reply, NULL), 0);
    node_tick(b->node[0], b->now);
    ck_assert_int_eq(node_next_wake(b->node[0]).ns, cw_time_add(b->now, CW_US(3)).ns);
    bench_run(b, CW_MS(1));
    ck_assert_uint_eq(bench_notes(b, 0, NOTE_REPLY, NULL), 1);
    bench_close(b);
}
END_TEST

START_TEST(time_never_goes_back)
{
    struct bench *b = bench_open((cw_dims){1, 1, 1});
    bench_start(b, 0);
    node_tick(b->node[0], (cw_time){1000});
    node_tick(b->node[0], (cw_time){999});
}
END_TEST

/* An orderly leave: keys move to the heirs before the server goes, and others go on as if nothing had been. */
START_TEST(leaving)
{
    struct bench *b = bench_open((cw_dims){1, 1, 4});
    bench_start_all(b);
    bench_settle(b);
    cw_key key = cw_key_at(bench_svc(b, 0), torus_coord(&b->torus, 2), 5);
    ck_assert(cw_is_root(bench_svc(b, 2), &key));
    ck_assert(!node_left(b->node[2], b->now));
    node_leave(b->node[2], b->now);
    bench_kick(b, 2);
    ck_assert(!cw_is_root(bench_svc(b, 2), &key));
    for (unsigned i = 0; i < 100 && !node_left(b->node[2], b->now); i++) {
        bench_run(b, CW_MS(1));
    }
    ck_assert(node_left(b->node[2], b->now));
    cw_coord heir;
    ck_assert_int_eq(cw_servers_for_key(bench_svc(b, 0), &key, 1, &heir), 1);
    ck_assert_uint_ne(torus_id(&b->torus, heir), 2);
    ck_assert(cw_is_root(bench_svc(b, torus_id(&b->torus, heir)), &key)); /* with no hold to wait for */
    bench_kill(b, 2, true);
    bench_settle(b);
    bench_close(b);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(wakes_for_what_is_first),
    SUITE_TEST(a_call_wakes),
    SUITE_ABORTS(time_never_goes_back),
    SUITE_TEST(leaving),
};
SUITE_MAIN("node_tick", tests)
