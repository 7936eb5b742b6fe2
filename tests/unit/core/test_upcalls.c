/* SPDX-License-Identifier: Apache-2.0 */
/* test_upcalls.c - the node says in which upcall it is, and how long upcalls took when its pump can tell. */
#include "node_bench.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

/* ---- A node that is watched -------------------------------------------------------------------------------------- */

static struct upcall_mark mark;
static int64_t clock_ns; /* of the pump */
static struct {
    unsigned count;
    char service[32], upcall[32];
    int64_t ns;
} slow;

static int64_t read_clock(void *context)
{
    (void)context;
    return clock_ns;
}

static void on_slow(void *context, const struct node *n, const char *service, const char *upcall, cw_span held)
{
    (void)context, (void)n;
    slow.count++;
    snprintf(slow.service, sizeof slow.service, "%s", service);
    snprintf(slow.upcall, sizeof slow.upcall, "%s", upcall);
    slow.ns = held.ns;
}

static void done(cw_svc *s, void *state, void *arg, int status, cw_packet *reply, const cw_rx *rx)
{
    (void)s, (void)state, (void)arg, (void)reply, (void)rx;
    ck_assert_int_eq(status, -ECANCELED);
    ck_assert_int_eq(mark.upcall, UPCALL_REPLY);
}

/* Stays for 3 ms, of which 1 ms is spent in the call that it cancels. */
static int on_command(cw_svc *s, cw_request *r, int argc, const char *const *argv)
{
    (void)r, (void)argc, (void)argv;
    ck_assert_str_eq(mark.service, "probe");
    ck_assert_int_eq(mark.upcall, UPCALL_COMMAND);
    ck_assert_uint_eq(cw_server_id(s, mark.server), cw_server_id(s, cw_self(s)));
    ck_assert_int_eq(mark.now.ns, cw_now(s).ns);
    cw_to to = {.kind = CW_TO_SERVER, .job = PROBE_JOB, .server = cw_self(s)};
    int64_t call = cw_call(s, cw_packet_new(s, 8), &to, NULL, done, NULL);
    ck_assert_int_gt(call, 0);
    uint64_t moves = mark.moves;
    ck_assert_int_eq(cw_call_cancel(s, call), 0);
    ck_assert_int_eq(mark.upcall, UPCALL_COMMAND); /* again */
    ck_assert_uint_eq(mark.moves, moves + 2);
    clock_ns += CW_MS(3).ns;
    return 0;
}

static void done_request(void *context, int rc)
{
    (void)context;
    ck_assert_int_eq(rc, 0);
}

static unsigned visits;
static void on_times(void *context, const char *service, const char *upcall, const struct histogram *h)
{
    (void)context;
    visits++;
    if (strcmp(service, "probe") == 0 && strcmp(upcall, "on_command") == 0) {
        ck_assert_uint_eq(h->count, 1);
        ck_assert_uint_eq(h->sum_ns, (uint64_t)CW_MS(3).ns);
    }
}

static struct bench *alone(const struct node_meter *meter)
{
    static const struct node_request_sink sink = {.done = done_request};
    struct bench *b = bench_open((cw_dims){1, 1, 1});
    b->config.alone = true;
    b->hooks.on_command = on_command;
    b->mark = &mark;
    b->meter = *meter;
    mark = (struct upcall_mark){.service = NULL};
    slow.count = visits = 0;
    bench_start(b, 0);
    bench_settle(b);
    (void)node_command(b->node[0], "probe", 0, NULL, &sink, b->now);
    ck_assert_ptr_null(mark.service);
    return b;
}

START_TEST(the_node_says_where_it_is)
{
    struct bench *b = alone(&(struct node_meter){.context = NULL});
    node_upcalls(b->node[0], on_times, NULL);
    ck_assert_uint_eq(visits, 0);
    bench_close(b);
}
END_TEST

START_TEST(what_takes_long_is_told)
{
    struct bench *b = alone(&(struct node_meter){NULL, read_clock, on_slow, CW_MS(2)});
    ck_assert_uint_eq(slow.count, 1);
    ck_assert_str_eq(slow.service, "probe");
    ck_assert_str_eq(slow.upcall, "on_command");
    ck_assert_int_eq(slow.ns, CW_MS(3).ns);
    node_upcalls(b->node[0], on_times, NULL);
    ck_assert_uint_ge(visits, 2);
    bench_close(b);
}
END_TEST

START_TEST(what_takes_as_long_as_it_may_is_not)
{
    struct bench *b = alone(&(struct node_meter){NULL, read_clock, on_slow, CW_MS(3)});
    ck_assert_uint_eq(slow.count, 0);
    bench_close(b);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(the_node_says_where_it_is),
    SUITE_TEST(what_takes_long_is_told),
    SUITE_TEST(what_takes_as_long_as_it_may_is_not),
};
SUITE_MAIN("upcalls", tests)
