/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/aggregate.h"

#include "cubeway/aggregate.h"
#include "fake_net.h"
#include "suite.h"

#include <errno.h>

static cw_svc *s;
static const cw_aggregate_api *api;
static unsigned ends;
static int status;
static float in[3] = {1, 2, 3}, out[3];

static void done(void *arg, const cw_reduce_result *result)
{
    (void)arg;
    ends++;
    status = result->status;
}

static void setup(void)
{
    s = fake_open(&aggregate_service, (cw_dims){1, 1, 1}, (cw_coord){0, 0, 0});
    api = aggregate_service.exports;
    ends = 0;
}

static int64_t reduce(cw_aggregate *u, const char *name)
{
    static const cw_coord here = {0, 0, 0};
    const cw_reduce r = {CW_REDUCE_INIT,
                         .name = name,
                         .name_length = 3,
                         .root = here,
                         .member = &here,
                         .members = 1,
                         .type = CW_NUMBER_FLOAT32,
                         .combine = CW_COMBINE_SUM,
                         .elements = 3,
                         .in = in,
                         .out = out};
    return api->reduce(u, &r, done, NULL);
}

/* One server alone: the result is its own vector, and done() is not called from inside reduce(). */
START_TEST(alone)
{
    cw_aggregate *u;
    setup();
    ck_assert_uint_eq(aggregate_service.exports_version, CW_AGGREGATE_API);
    ck_assert_int_eq(api->open(s, s, &u), 0);
    ck_assert_int_gt(reduce(u, "one"), 0);
    ck_assert_uint_eq(ends, 0);
    fake_run(s, CW_MS(1));
    ck_assert_uint_eq(ends, 1);
    ck_assert_int_eq(status, 0);
    ck_assert(out[0] == 1 && out[1] == 2 && out[2] == 3);
    api->close(u);
    (void)fake_close(s);
}
END_TEST

START_TEST(cancel_and_close)
{
    cw_aggregate *u, *other;
    setup();
    ck_assert_int_eq(api->open(s, s, &u), 0);
    ck_assert_int_eq(api->open(s, s, &other), 0);
    int64_t ticket = reduce(u, "one");
    ck_assert_int_eq(api->cancel(other, ticket), -ENOENT);
    ck_assert_int_eq(api->cancel(u, ticket), 0);
    ck_assert_int_eq(status, -ECANCELED);
    ck_assert_int_eq(api->cancel(u, ticket), -ENOENT);
    ck_assert_int_gt(reduce(u, "two"), 0);
    api->close(u);
    ck_assert_uint_eq(ends, 2);
    api->close(other);
    api->close(NULL);
    (void)fake_close(s);
}
END_TEST

START_TEST(bad_arguments)
{
    cw_aggregate *u;
    setup();
    ck_assert_int_eq(api->open(NULL, s, &u), -EINVAL);
    ck_assert_int_eq(api->reduce(NULL, NULL, done, NULL), -EINVAL);
    ck_assert_int_eq(api->cancel(NULL, 1), -EINVAL);
    (void)fake_close(s);
}
END_TEST

static void take(void *arg, const void *bytes, size_t length)
{
    (void)arg;
    (void)bytes;
    (void)length;
}

static void run_done(void *arg, const cw_run_result *result)
{
    (void)arg;
    ends++;
    status = result->status;
}

static void heard(void *arg, int rc)
{
    *(int *)arg = rc;
}

/* Tickets of runs are not those of reductions. How a run goes on is tried in stream/test_patron.c. */
START_TEST(runs_of_a_service)
{
    static const char *const words[] = {"from=feed:f", "to=-"};
    const cw_run run = {CW_RUN_INIT, .word = words, .words = 2, .take = take};
    cw_aggregate *u, *other;
    int fed = 1;
    setup();
    ck_assert_int_eq(api->open(s, s, &u), 0);
    ck_assert_int_eq(api->open(s, s, &other), 0);
    int64_t ticket = api->run(u, &run, run_done, NULL), reduction = reduce(u, "one");
    ck_assert_int_gt(ticket, 0);
    ck_assert_int_gt(reduction, ticket);
    ck_assert_int_eq(api->cancel(other, ticket), -ENOENT);
    ck_assert_int_eq(api->cancel(u, ticket), 0);
    ck_assert_uint_eq(ends, 1);
    ck_assert_int_eq(status, -ECANCELED);
    ck_assert_int_eq(api->cancel(u, ticket), -ENOENT);
    ck_assert_int_eq(api->cancel(u, reduction), 0);
    ck_assert_int_gt(api->run(u, &run, run_done, NULL), 0);
    ck_assert_int_eq(api->feed(u, "f", "a", 1, false, heard, &fed), 0);
    ck_assert_int_eq(api->feed(other, "f", "a", 1, false, heard, &fed), -EBUSY);
    api->close(u);
    ck_assert_uint_eq(ends, 3);
    ck_assert_int_eq(fed, -ECANCELED);
    ck_assert_int_eq(api->run(NULL, &run, run_done, NULL), -EINVAL);
    ck_assert_int_eq(api->feed(NULL, "f", "a", 1, false, heard, &fed), -EINVAL);
    api->close(other);
    (void)fake_close(s);
}
END_TEST

/*
 * A service that begins again whatever has failed, from within its upcalls. It is closed in the middle: each end is
 * told once, nothing new begins, and nothing of it is left behind.
 */
static cw_aggregate *stubborn;
static unsigned begun_again;
static int64_t refused;
static const char *next_feed;

static void reduce_again(void *arg, const cw_reduce_result *result);
static void scatter_again(void *arg, const cw_reduce_result *result);
static void run_again(void *arg, const cw_run_result *result);
static void feed_again(void *arg, int rc);

static int64_t begin_reduce(bool scatters)
{
    static const cw_coord here = {0, 0, 0};
    static char name[] = "again 0";
    name[6]++; /* a name is good for one reduction */
    const cw_reduce r = {CW_REDUCE_INIT,
                         .name = name,
                         .name_length = 7,
                         .root = here,
                         .member = &here,
                         .members = 1,
                         .type = CW_NUMBER_FLOAT32,
                         .combine = CW_COMBINE_SUM,
                         .elements = 3,
                         .in = in,
                         .out = out};
    return scatters ? api->reduce_scatter(stubborn, &r, scatter_again, NULL)
                    : api->reduce(stubborn, &r, reduce_again, NULL);
}

static int64_t begin_run(void)
{
    static const char *const words[] = {"from=feed:nobody", "to=-"};
    const cw_run run = {CW_RUN_INIT, .word = words, .words = 2, .take = take};
    return api->run(stubborn, &run, run_again, NULL);
}

static void ended(int with, int64_t rc)
{
    ends++;
    status = with;
    refused = rc;
    begun_again += rc >= 0;
    ck_assert_uint_lt(begun_again, 10); /* or for ever */
}

static void reduce_again(void *arg, const cw_reduce_result *result)
{
    (void)arg;
    ended(result->status, begin_reduce(false));
}

static void scatter_again(void *arg, const cw_reduce_result *result)
{
    (void)arg;
    ended(result->status, begin_reduce(true));
}

static void run_again(void *arg, const cw_run_result *result)
{
    (void)arg;
    ended(result->status, begin_run());
}

static void feed_again(void *arg, int rc)
{
    (void)arg;
    ended(rc, next_feed != NULL ? api->feed(stubborn, next_feed, "x", 1, false, feed_again, NULL) : -ESHUTDOWN);
}

static void begin_stubborn(cw_svc *at)
{
    s = at;
    api = aggregate_service.exports;
    ends = begun_again = 0;
    refused = 0;
    next_feed = NULL;
    ck_assert_int_eq(api->open(s, s, &stubborn), 0);
}

static void close_stubborn(unsigned under_way)
{
    api->close(stubborn);
    ck_assert_uint_eq(ends, under_way);
    ck_assert_int_eq(status, -ECANCELED);
    ck_assert_int_eq(refused, -ESHUTDOWN);
    ck_assert_uint_eq(begun_again, 0);
}

static cw_svc *alone_there(void)
{
    return fake_open(&aggregate_service, (cw_dims){1, 1, 1}, (cw_coord){0, 0, 0});
}

START_TEST(closed_while_it_reduces)
{
    begin_stubborn(alone_there());
    ck_assert_int_gt(begin_reduce(false), 0);
    close_stubborn(1);
    fake_run(s, CW_SEC(2));
    ck_assert_uint_eq(ends, 1);
    (void)fake_close(s);
}
END_TEST

START_TEST(closed_while_it_scatters)
{
    begin_stubborn(alone_there());
    ck_assert_int_gt(begin_reduce(true), 0);
    close_stubborn(1);
    fake_run(s, CW_SEC(2));
    ck_assert_uint_eq(ends, 1);
    (void)fake_close(s);
}
END_TEST

START_TEST(closed_while_it_runs)
{
    begin_stubborn(alone_there());
    ck_assert_int_gt(begin_run(), 0);
    ck_assert_int_gt(begin_run(), 0);
    close_stubborn(2);
    fake_run(s, CW_SEC(2));
    ck_assert_uint_eq(ends, 2);
    (void)fake_close(s);
}
END_TEST

/*
 * Feed "a" is told that it has ended, and feeds "b": the run that took that one has ended, which is kept until the next
 * piece comes, and it is the next one that is to be closed.
 */
START_TEST(closed_while_it_feeds)
{
    static const char *const words[] = {"from=feed:b", "map=kv", "to=-"};
    const cw_run run = {CW_RUN_INIT, .word = words, .words = 3, .take = take};
    int fed = 1;
    struct fake_net *net = fake_net_open(&aggregate_service, (cw_dims){1, 1, 1});
    begin_stubborn(net->server[0]);
    ck_assert_int_eq(api->feed(stubborn, "a", "x", 1, false, feed_again, NULL), 0);
    int64_t ticket = api->run(stubborn, &run, run_done, NULL);
    ck_assert_int_eq(api->feed(stubborn, "b", "x\t1\n", 4, false, heard, &fed), 0);
    fake_net_run(net, CW_MS(200));
    ck_assert_int_eq(fed, 0);
    ck_assert_int_eq(api->cancel(stubborn, ticket), 0);
    fake_net_run(net, CW_MS(200));
    ck_assert_uint_eq(ends, 1);
    next_feed = "b";
    close_stubborn(2);
    fake_net_run(net, CW_SEC(2));
    ck_assert_uint_eq(ends, 2);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(operators)
{
    struct fake_result r;
    setup();
    fake_command(s, "totals", &r);
    ck_assert_int_eq(r.rc, 0);
    ck_assert_int_eq(fake_int(&r, 0, "members"), 0);
    ck_assert_int_eq(fake_int(&r, 0, "memory_bytes"), 0);
    fake_command(s, "statos", &r);
    ck_assert_int_eq(r.rc, -EINVAL);
    (void)fake_close(s);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(alone),
                                          SUITE_TEST(cancel_and_close),
                                          SUITE_TEST(bad_arguments),
                                          SUITE_TEST(runs_of_a_service),
                                          SUITE_TEST(closed_while_it_reduces),
                                          SUITE_TEST(closed_while_it_scatters),
                                          SUITE_TEST(closed_while_it_runs),
                                          SUITE_TEST(closed_while_it_feeds),
                                          SUITE_TEST(operators)};
SUITE_MAIN("aggregate", tests)
