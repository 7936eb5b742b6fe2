/* SPDX-License-Identifier: Apache-2.0 */
/* test_small.c - vectors that go with the JOIN, results that go with the END, and barriers. */
#include "dense_town.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static struct fake_net *net;

/* Do all members have the sum of these servers? */
static bool all_right(const struct town_plan *plan, uint32_t counted)
{
    for (cw_server s = 0; s < TOWN_SERVERS; s++) {
        const struct town_call *c = &town_calls[s];
        if ((plan->members >> s & 1) == 0) {
            continue;
        }
        if (c->ends != 1 || c->status != 0 || c->count != (unsigned)__builtin_popcount(counted) ||
            memcmp(c->out, town_calls[plan->root].out, plan->elements * sizeof *c->out) != 0) {
            return false;
        }
    }
    return town_right(plan, counted);
}

START_TEST(to_all)
{
    const struct town_plan plan = {
        .name = "a", .root = 4, .members = 0x7ffffff, .elements = 128, .flags = CW_REDUCE_TO_ALL};
    net = town_open();
    town_reduce_all(net, &plan);
    fake_net_run(net, CW_MS(20));
    ck_assert(all_right(&plan, 0x7ffffff));
    ck_assert_uint_eq(town_calls[3].attempts, 1);
    town_close(net);
}
END_TEST

/* To one; the root is no member, and calls last. */
START_TEST(to_one)
{
    const struct town_plan plan = {.name = "a", .root = 9, .members = 7, .elements = 1};
    net = town_open();
    for (cw_server s = 0; s < 3; s++) {
        (void)town_reduce(net, s, &plan);
    }
    fake_net_run(net, CW_MS(5));
    (void)town_reduce(net, 9, &plan);
    fake_net_run(net, CW_MS(20));
    ck_assert_int_eq(town_calls[1].status, 0);
    ck_assert(town_right(&plan, 7));
    town_close(net);
}
END_TEST

/* Nobody returns before all have called. */
START_TEST(barrier)
{
    const struct town_plan plan = {.name = "a", .root = 0, .members = 0x7ffffff, .flags = CW_REDUCE_TO_ALL};
    net = town_open();
    for (cw_server s = 1; s < TOWN_SERVERS; s++) {
        (void)town_reduce(net, s, &plan);
    }
    (void)town_reduce(net, 0, &plan);
    fake_net_run(net, CW_MS(20));
    for (cw_server s = 0; s < TOWN_SERVERS; s++) {
        ck_assert_uint_eq(town_calls[s].ends, 1);
        ck_assert_int_eq(town_calls[s].status, 0);
    }
    const struct town_plan again = {.name = "b", .root = 0, .members = 7, .flags = CW_REDUCE_TO_ALL};
    (void)town_reduce(net, 0, &again);
    (void)town_reduce(net, 1, &again);
    fake_net_run(net, CW_MS(200));
    ck_assert(town_calls[0].ends == 0 && town_calls[1].ends == 0);
    (void)town_reduce(net, 2, &again);
    fake_net_run(net, CW_MS(20));
    ck_assert(town_calls[0].ends == 1 && town_calls[1].ends == 1 && town_calls[2].ends == 1);
    town_close(net);
}
END_TEST

/* One has said JOIN and leaves before the last calls: its vector is not in the result. */
START_TEST(one_leaves)
{
    const struct town_plan plan = {
        .name = "a", .root = 0, .members = 15, .elements = 3, .flags = CW_REDUCE_TO_ALL | CW_REDUCE_WITHOUT};
    net = town_open();
    for (cw_server s = 0; s < 3; s++) {
        (void)town_reduce(net, s, &plan);
    }
    fake_net_run(net, CW_MS(5));
    town_lose(net, 2);
    (void)town_reduce(net, 3, &plan);
    fake_net_run(net, CW_SEC(40));
    ck_assert_int_eq(town_calls[0].status, 0);
    ck_assert(town_right(&plan, 11));
    ck_assert(memcmp(town_calls[3].out, town_calls[0].out, 24) == 0);
    town_close(net);
}
END_TEST

/* A member that never called is out of view: nobody waits for it until the limit. One that is in view is waited for. */
START_TEST(one_absent)
{
    const struct town_plan plan = {
        .name = "a", .root = 0, .members = 15, .elements = 3, .flags = CW_REDUCE_TO_ALL | CW_REDUCE_WITHOUT};
    net = town_open();
    (void)town_reduce(net, 0, &plan);
    (void)town_reduce(net, 1, &plan);
    town_lose(net, 2);
    fake_net_run(net, CW_SEC(5));
    ck_assert_uint_eq(town_calls[0].ends, 0);
    (void)town_reduce(net, 3, &plan);
    fake_net_run(net, CW_SEC(1));
    ck_assert_uint_eq(town_calls[0].ends, 0);
    fake_net_run(net, CW_MS(1200));
    ck_assert_int_eq(town_calls[0].status, 0);
    ck_assert(town_right(&plan, 11));
    ck_assert(memcmp(town_calls[3].out, town_calls[0].out, 24) == 0);
    town_close(net);
}
END_TEST

/* The root adds in the order of the servers, whoever comes first. */
START_TEST(mean)
{
    const struct town_plan plan = {.name = "a",
                                   .root = 1,
                                   .members = 7,
                                   .elements = 4,
                                   .type = CW_NUMBER_FLOAT64,
                                   .combine = CW_COMBINE_MEAN,
                                   .flags = CW_REDUCE_TO_ALL};
    net = town_open();
    town_reduce_all(net, &plan);
    fake_net_run(net, CW_MS(20));
    ck_assert_int_eq(town_calls[2].status, 0);
    town_close(net);
}
END_TEST

START_TEST(broadcast)
{
    const struct town_plan plan = {
        .name = "a", .root = 4, .members = 0xff, .elements = 5, .flags = CW_REDUCE_TO_ALL | CW_REDUCE_FROM_ROOT};
    net = town_open();
    town_reduce_all(net, &plan);
    fake_net_run(net, CW_SEC(1));
    for (cw_server s = 0; s < 8; s++) {
        ck_assert_int_eq(town_calls[s].status, 0);
        ck_assert(s == 4 || memcmp(town_calls[s].out, town_calls[4].in, plan.elements * sizeof(uint64_t)) == 0);
    }
    town_close(net);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(one_absent), SUITE_TEST(to_all),     SUITE_TEST(to_one),
                                          SUITE_TEST(barrier),    SUITE_TEST(one_leaves), SUITE_TEST(mean),
                                          SUITE_TEST(broadcast)};
SUITE_MAIN("small", tests)
