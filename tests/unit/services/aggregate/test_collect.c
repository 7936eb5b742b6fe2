/* SPDX-License-Identifier: Apache-2.0 */
/* test_collect.c - a share of the sum at each member, and the vectors of all at each member. */
#include "services/aggregate/collect.h"

#include "order_town.h"
#include "services/aggregate/aggregate.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

enum { N = 5003 };

static struct fake_net *net;
static const cw_aggregate_api *api;
static cw_aggregate *user[ORDER_TOWN];
static uint64_t in[ORDER_TOWN][N], out[ORDER_TOWN][N];
static cw_coord members[ORDER_TOWN];
static unsigned ends[ORDER_TOWN];
static int status[ORDER_TOWN];
static int64_t ticket[ORDER_TOWN];

static void done(void *arg, const cw_reduce_result *result)
{
    cw_server s = (cw_server)(uintptr_t)arg;
    ends[s]++;
    status[s] = result->status;
    ck_assert(result->status < 0 || result->count == ORDER_TOWN);
}

static cw_reduce_done_fn at_end;
static char name[8] = "name";

static void setup(void)
{
    at_end = done;
    net = order_town_open(NULL);
    api = aggregate_service.exports;
    memset(ends, 0, sizeof ends);
    memset(status, 0, sizeof status);
    memset(out, 0, sizeof out);
    for (cw_server s = 0; s < ORDER_TOWN; s++) {
        ck_assert_int_eq(api->open(net->server[s], net->server[s], &user[s]), 0);
        members[s] = torus_coord(&net->torus, (s * 2) % ORDER_TOWN); /* in an order of their own */
        for (unsigned i = 0; i < N; i++) {
            in[s][i] = (s + 1) * UINT64_C(100000) + i;
        }
    }
}

static void teardown(void)
{
    for (cw_server s = 0; s < ORDER_TOWN; s++) {
        api->close(user[s]);
    }
    order_town_close(net);
}

static int64_t call(cw_server s, bool scatter, uint64_t elements)
{
    const cw_reduce r = {CW_REDUCE_INIT,
                         .name = name,
                         .name_length = 4,
                         .member = members,
                         .members = ORDER_TOWN,
                         .type = CW_NUMBER_UINT64,
                         .combine = CW_COMBINE_SUM,
                         .elements = elements,
                         .in = in[s],
                         .out = out[s]};
    void *arg = (void *)(uintptr_t)s;
    return ticket[s] =
               scatter ? api->reduce_scatter(user[s], &r, at_end, arg) : api->allgather(user[s], &r, at_end, arg);
}

static void call_all(bool scatter, uint64_t elements)
{
    for (cw_server s = 0; s < ORDER_TOWN; s++) {
        ck_assert_int_gt(call(s, scatter, elements), 0);
        ck_assert_uint_eq(ends[s], 0);
    }
}

static void all_ended(int as)
{
    for (cw_server s = 0; s < ORDER_TOWN; s++) {
        ck_assert_uint_eq(ends[s], 1);
        ck_assert_int_eq(status[s], as);
    }
}

START_TEST(reduce_scatter)
{
    setup();
    call_all(true, N);
    fake_net_run(net, CW_SEC(1));
    all_ended(0);
    for (unsigned k = 0; k < ORDER_TOWN; k++) {
        unsigned first = N * k / ORDER_TOWN, count = N * (k + 1) / ORDER_TOWN - first, s = k * 2 % ORDER_TOWN;
        for (unsigned i = 0; i < count; i++) {
            SUITE_HOLDS(out[s][i] == 45 * UINT64_C(100000) + 9 * (first + i), "member %u, element %u", k, i);
        }
        ck_assert_uint_eq(out[s][count], 0);
    }
    teardown();
}
END_TEST

START_TEST(allgather)
{
    setup();
    call_all(false, 100);
    fake_net_run(net, CW_SEC(1));
    all_ended(0);
    for (unsigned k = 0; k < ORDER_TOWN; k++) {
        for (cw_server s = 0; s < ORDER_TOWN; s++) {
            SUITE_HOLDS(memcmp(&out[s][k * 100], in[k * 2 % ORDER_TOWN], 100 * sizeof **in) == 0, "of %u at %u", k, s);
        }
    }
    teardown();
}
END_TEST

/* One gives up, and nobody succeeds; nothing is left. */
START_TEST(cancelled)
{
    setup();
    call_all(true, N);
    ck_assert_int_eq(api->cancel(user[3], ticket[3] + 7), -ENOENT);
    ck_assert_int_eq(api->cancel(user[3], ticket[3]), 0);
    ck_assert_int_eq(status[3], -ECANCELED);
    fake_net_run(net, CW_SEC(60));
    for (cw_server s = 0; s < ORDER_TOWN; s++) {
        ck_assert_uint_eq(ends[s], 1);
        ck_assert_int_lt(status[s], 0);
    }
    ck_assert_int_eq(fake_int(order_town_ask(net, 0, "totals"), 0, "members"), 0);
    teardown();
}
END_TEST

/* Whoever cancels in done() what has just ended is told that it has ended, and nothing else. */
static void done_cancels(void *arg, const cw_reduce_result *result)
{
    cw_server s = (cw_server)(uintptr_t)arg;
    done(arg, result);
    ck_assert_int_eq(api->cancel(user[s], ticket[s]), -ENOENT);
}

START_TEST(cancelled_at_the_end)
{
    for (unsigned fails = 0; fails < 2; fails++) {
        setup();
        at_end = done_cancels;
        call_all(fails == 0, 100);
        if (fails != 0) {
            ck_assert_int_eq(api->cancel(user[3], ticket[3]), 0);
        }
        fake_net_run(net, CW_SEC(60));
        for (cw_server s = 0; s < ORDER_TOWN; s++) {
            ck_assert_uint_eq(ends[s], 1);
            ck_assert(fails != 0 ? status[s] < 0 : status[s] == 0);
        }
        teardown();
    }
}
END_TEST

START_TEST(closed)
{
    setup();
    call_all(true, N);
    fake_net_run(net, CW_US(30));
    teardown();
    all_ended(-ECANCELED);
}
END_TEST

/* More at a time than there is room for: the parts wait for each other, and all end well. */
START_TEST(many)
{
    enum { MANY = 12 };
    setup();
    for (unsigned i = 0; i < MANY; i++) {
        name[3] = (char)('a' + i);
        for (cw_server s = 0; s < ORDER_TOWN; s++) {
            ck_assert_int_gt(call(s, true, N), 0);
        }
    }
    for (unsigned i = 0; i < 40; i++) {
        fake_net_run(net, CW_MS(250));
        for (cw_server s = 0; s < ORDER_TOWN; s++) {
            ck_assert_int_eq(status[s], 0);
        }
    }
    for (cw_server s = 0; s < ORDER_TOWN; s++) {
        ck_assert_uint_eq(ends[s], MANY);
    }
    name[3] = 'e';
    teardown();
}
END_TEST

START_TEST(bad_arguments)
{
    setup();
    ck_assert_int_eq(call(0, false, UINT64_C(1) << 34), -EFBIG); /* and nothing was copied */
    ck_assert_int_eq(call(0, false, UINT64_MAX / 4), -EFBIG);
    ck_assert_int_eq(call(0, true, UINT64_C(1) << 34), -EFBIG);
    members[3] = members[4]; /* twice */
    ck_assert_int_eq(call(0, true, N), -EINVAL);
    members[3] = (cw_coord){9, 9, 9};
    ck_assert_int_eq(call(0, true, N), -EINVAL);
    ck_assert_int_eq(api->reduce_scatter(user[0], NULL, done, NULL), -EINVAL);
    ck_assert_int_eq(api->allgather(NULL, NULL, done, NULL), -EINVAL);
    teardown();
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(reduce_scatter), SUITE_TEST(allgather),
                                          SUITE_TEST(cancelled),      SUITE_TEST(closed),
                                          SUITE_TEST(many),           SUITE_TEST(cancelled_at_the_end),
                                          SUITE_TEST(bad_arguments)};
SUITE_MAIN("collect", tests)
