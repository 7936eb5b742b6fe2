/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/aggregate.h"

#include "cubeway/aggregate.h"
#include "fake_host.h"
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

static const struct suite_test tests[] = {SUITE_TEST(alone), SUITE_TEST(cancel_and_close), SUITE_TEST(bad_arguments),
                                          SUITE_TEST(runs_of_a_service), SUITE_TEST(operators)};
SUITE_MAIN("aggregate", tests)
