/* SPDX-License-Identifier: Apache-2.0 */
#include "node_bench.h"
#include "suite.h"

#include <errno.h>

static struct bench *alone(void)
{
    struct bench *b = bench_open((cw_dims){1, 1, 1});
    b->config.alone = true;
    bench_start(b, 0);
    bench_settle(b);
    bench_forget_notes(b);
    return b;
}

START_TEST(timers_run_when_due)
{
    struct bench *b = alone();
    cw_svc *s = bench_svc(b, 0);
    cw_time begun = b->now;
    ck_assert_int_eq(cw_now(s).ns, begun.ns);
    ck_assert_ptr_nonnull(cw_timer_start(s, CW_MS(7), probe_timer, NULL));
    cw_timer *stopped = cw_timer_start(s, CW_MS(5), probe_timer, NULL);
    ck_assert_ptr_nonnull(cw_timer_start(s, CW_MS(3), probe_timer, NULL));
    ck_assert_ptr_null(cw_timer_start(s, CW_MS(3), NULL, NULL));
    cw_timer_stop(s, stopped);
    cw_timer_stop(s, stopped);
    cw_timer_stop(s, NULL);
    bench_run(b, CW_MS(10));
    const struct probe *probe = bench_probe(b, 0);
    ck_assert_uint_eq(probe->count, 2);
    ck_assert_int_eq(probe->note[0].at.ns, cw_time_add(begun, CW_MS(3)).ns);
    ck_assert_int_eq(probe->note[1].at.ns, cw_time_add(begun, CW_MS(7)).ns);
    bench_close(b);
}
END_TEST

static unsigned rounds;
static void again(cw_svc *s, void *state, void *arg)
{
    (void)state;
    (void)arg;
    ck_assert_ptr_nonnull(cw_timer_start(s, ++rounds < 100 ? CW_NS(-5) : CW_SEC(100), again, NULL));
}

/* No time and negative time: later, in another tick, and the node goes on. */
START_TEST(a_timer_of_no_time_waits_for_the_next_tick)
{
    struct bench *b = alone();
    ck_assert_ptr_nonnull(cw_timer_start(bench_svc(b, 0), CW_NS(0), again, NULL));
    ck_assert_uint_eq(rounds, 0);
    node_tick(b->node[0], b->now);
    ck_assert_uint_eq(rounds, 1);
    bench_run(b, CW_NS(1));
    ck_assert_uint_eq(rounds, 100);
    bench_close(b);
}
END_TEST

/* Streams differ by server and by nothing else; a server's next life does not change them. */
START_TEST(chance_repeats)
{
    struct bench *b = bench_open((cw_dims){1, 1, 2});
    bench_start_all(b);
    uint64_t first[2];
    for (cw_server s = 0; s < 2; s++) {
        first[s] = cw_random(bench_svc(b, s));
    }
    ck_assert_uint_ne(first[0], first[1]);
    bench_kill(b, 1, true);
    bench_start(b, 1);
    ck_assert_uint_eq(cw_random(bench_svc(b, 1)), first[1]);
    for (unsigned i = 0; i < 1000; i++) {
        ck_assert_uint_lt(cw_random_below(bench_svc(b, 0), 10), 10);
    }
    ck_assert_uint_eq(cw_random_below(bench_svc(b, 0), 0), 0);
    bench_close(b);
}
END_TEST

static struct {
    unsigned worked, done;
    cw_time at;
    uint64_t ticket;
    struct node *node;
} work;

static void do_work(void *arg)
{
    ck_assert_ptr_eq(arg, &work);
    work.worked++;
}

static void work_done(cw_svc *s, void *state, void *arg)
{
    ck_assert_ptr_eq(state, cw_state(s));
    ck_assert_ptr_eq(arg, &work);
    work.done++;
    work.at = cw_now(s);
}

START_TEST(work_inline_is_reported_after_its_cost)
{
    struct bench *b = alone();
    cw_svc *s = bench_svc(b, 0);
    cw_time begun = b->now;
    ck_assert_int_eq(cw_offload(s, do_work, work_done, &work, CW_MS(4)), 0);
    ck_assert_uint_eq(work.worked, 1);
    ck_assert_uint_eq(work.done, 0);
    bench_run(b, CW_MS(10));
    ck_assert_uint_eq(work.done, 1);
    ck_assert_int_eq(work.at.ns, cw_time_add(begun, CW_MS(4)).ns);
    ck_assert_int_eq(cw_offload(s, NULL, work_done, &work, CW_MS(4)), -EINVAL);
    ck_assert_int_eq(cw_offload(s, do_work, NULL, &work, CW_MS(4)), -EINVAL);
    ck_assert_int_eq(cw_offload(s, do_work, work_done, &work, CW_NS(-1)), -EINVAL);
    unsigned accepted = 0;
    while (cw_offload(s, do_work, work_done, &work, CW_SEC(1)) == 0) {
        accepted++;
    }
    ck_assert_uint_eq(accepted, NODE_OFFLOADS);
    /* Closing reports what is done already. */
    ck_assert_int_eq(node_service_remove(b->node[0], PROBE_JOB, b->now), 0);
    ck_assert_uint_eq(work.done, 1 + accepted);
    bench_close(b);
}
END_TEST

static void take_away(void *context, struct node *n, void (*fn)(void *), void *arg, uint64_t ticket, cw_span cost)
{
    ck_assert_ptr_eq(context, &work);
    ck_assert(fn == do_work && arg == &work && cost.ns == 9);
    work.ticket = ticket;
    work.node = n;
}

START_TEST(work_away_is_reported_by_its_ticket)
{
    struct bench *b = alone();
    b->node[0]->env.offload = take_away;
    b->node[0]->env.offload_context = &work;
    cw_svc *s = bench_svc(b, 0);
    ck_assert_int_eq(cw_offload(s, do_work, work_done, &work, CW_NS(9)), 0);
    bench_run(b, CW_SEC(1));
    ck_assert_ptr_eq(work.node, b->node[0]);
    ck_assert_uint_eq(work.worked + work.done, 0);
    ck_assert_int_eq(node_service_remove(b->node[0], PROBE_JOB, b->now), -EBUSY);
    node_offload_done(b->node[0], work.ticket + 1, b->now);
    node_offload_done(b->node[0], UINT64_MAX, b->now);
    ck_assert_uint_eq(work.done, 0);
    node_offload_done(b->node[0], work.ticket, b->now);
    node_offload_done(b->node[0], work.ticket, b->now);
    ck_assert_uint_eq(work.done, 1);
    bench_close(b);
}
END_TEST

/* Work of a cost beyond time itself is not work that is away: its service closes like any other. */
START_TEST(work_may_cost_for_ever)
{
    struct bench *b = alone();
    ck_assert_int_eq(cw_offload(bench_svc(b, 0), do_work, work_done, &work, (cw_span){INT64_MAX}), 0);
    bench_run(b, CW_SEC(1));
    ck_assert_uint_eq(work.done, 0);
    ck_assert_int_eq(node_service_remove(b->node[0], PROBE_JOB, b->now), 0);
    ck_assert_uint_eq(work.done, 1);
    bench_close(b);
}
END_TEST

static int offered;
static int open_with_work(cw_svc *s, void *state)
{
    (void)state;
    offered = cw_offload(s, do_work, work_done, &work, CW_NS(9));
    return -EPERM;
}

static cw_verdict drop(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    (void)s;
    (void)state;
    (void)p;
    (void)rx;
    return CW_DROP;
}

/* It may fail, and its state is gone then, whoever still works on it. */
START_TEST(no_work_goes_away_before_a_service_is_open)
{
    struct bench *b = alone();
    const cw_service table = {CW_SERVICE_INIT, .name = "late", .job = 99, .open = open_with_work, .on_packet = drop};
    ck_assert_int_eq(node_service_add(b->node[0], &table, b->now), -EPERM);
    ck_assert_int_eq(offered, -EBUSY);
    ck_assert_uint_eq(work.worked, 0);
    bench_close(b);
}
END_TEST

/* Each piece begins the next: without an end to that no host could ever close the node. */
static void work_goes_on(cw_svc *s, void *state, void *arg)
{
    (void)state;
    work.done++;
    offered = cw_offload(s, do_work, work_goes_on, arg, CW_NS(9));
}

START_TEST(a_node_that_ends_starts_no_work)
{
    struct bench *b = alone();
    b->node[0]->env.offload = take_away;
    b->node[0]->env.offload_context = &work;
    ck_assert_int_eq(cw_offload(bench_svc(b, 0), do_work, work_goes_on, &work, CW_NS(9)), 0);
    node_offload_done(b->node[0], work.ticket, b->now);
    ck_assert_int_eq(offered, 0);
    node_end_offloads(b->node[0]);
    node_offload_done(b->node[0], work.ticket, b->now);
    ck_assert_int_eq(offered, -ESHUTDOWN);
    ck_assert_uint_eq(work.done, 2);
    bench_close(b);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(timers_run_when_due),
    SUITE_TEST(a_timer_of_no_time_waits_for_the_next_tick),
    SUITE_TEST(chance_repeats),
    SUITE_TEST(work_inline_is_reported_after_its_cost),
    SUITE_TEST(work_away_is_reported_by_its_ticket),
    SUITE_TEST(work_may_cost_for_ever),
    SUITE_TEST(no_work_goes_away_before_a_service_is_open),
    SUITE_TEST(a_node_that_ends_starts_no_work),
};
SUITE_MAIN("svc_time", tests)
