/* SPDX-License-Identifier: Apache-2.0 */
#include "dense_town.h"
#include "suite.h"

#include <errno.h>

static struct fake_net *net;
static unsigned ends;

static void count_end(void *arg, const cw_reduce_result *result)
{
    (void)arg;
    (void)result;
    ends++;
}

/* What reduce() says of server 1's call with one field wrong. */
static int64_t with(cw_reduce r)
{
    static const cw_coord members[] = {{0, 0, 1}, {0, 0, 2}};
    static uint64_t in[10];
    r.size = sizeof r;
    r.name = "x";
    r.name_length = r.name_length != 0 ? r.name_length : 1;
    r.member = members;
    r.members = r.members != 0 ? r.members : 2;
    r.type = r.type != 0 ? r.type : CW_NUMBER_UINT64;
    r.combine = r.combine != 0 ? r.combine : CW_COMBINE_SUM;
    r.elements = r.elements != 0 ? r.elements : 10;
    r.in = r.in == NULL ? in : NULL;
    int64_t rc = dense_reduce(town_dense(net, 1), net, 7, &r, count_end, NULL);
    if (rc > 0) {
        (void)dense_cancel(town_dense(net, 1), net, rc);
    }
    return rc;
}

START_TEST(arguments)
{
    static const cw_reduce some = {.size = 0};
    uint64_t out;
    net = town_open();
    ck_assert_int_gt(with((cw_reduce){.size = 0}), 0);
    ck_assert_int_eq(with((cw_reduce){.name_length = 65}), -EINVAL);
    ck_assert_int_eq(with((cw_reduce){.members = 4097}), -EINVAL);
    ck_assert_int_eq(with((cw_reduce){.root = {3, 0, 0}}), -EINVAL);
    ck_assert_int_eq(with((cw_reduce){.type = CW_NUMBER_FLOAT32, .combine = CW_COMBINE_XOR}), -EINVAL);
    ck_assert_int_eq(with((cw_reduce){.flags = 2}), -EINVAL);
    ck_assert_int_eq(with((cw_reduce){.limit = CW_HOURS(2)}), -EINVAL);
    ck_assert_int_eq(with((cw_reduce){.out = &out}), -EINVAL);       /* this is not the root */
    ck_assert_int_eq(with((cw_reduce){.in = &some}), -EINVAL);       /* a member without a vector */
    ck_assert_int_eq(with((cw_reduce){.root = {0, 0, 1}}), -EINVAL); /* a root without room for the result */
    ck_assert_int_eq(with((cw_reduce){.elements = UINT64_C(1) << 34}), -EFBIG);
    ck_assert_int_eq(dense_reduce(town_dense(net, 1), net, 7, NULL, count_end, NULL), -EINVAL);
    ck_assert_int_eq(dense_cancel(town_dense(net, 1), net, 77), -ENOENT);
    town_close(net);
}
END_TEST

START_TEST(names_and_room)
{
    struct town_plan plan = {.name = "a", .root = 5, .members = 7, .elements = 3};
    char name[8];
    net = town_open();
    ck_assert_int_gt(town_reduce(net, 0, &plan), 0);
    ck_assert_int_eq(town_reduce(net, 0, &plan), -EEXIST);
    plan.name = name;
    for (unsigned i = 1; i < DENSE_RUNS_EACH; i++) {
        snprintf(name, sizeof name, "b%u", i);
        ck_assert_int_gt(town_reduce(net, 0, &plan), 0);
    }
    plan.name = "c";
    ck_assert_int_eq(town_reduce(net, 0, &plan), -ENOBUFS);
    plan.job = 8; /* that job alone has no more */
    plan.name = name;
    for (unsigned i = DENSE_RUNS_EACH; i < DENSE_RUNS; i++) {
        snprintf(name, sizeof name, "b%u", i);
        ck_assert_int_gt(town_reduce(net, 0, &plan), 0);
    }
    plan.job = 9;
    ck_assert_int_eq(town_reduce(net, 0, &plan), -ENOBUFS);
    net->server[1]->down[5] = true;
    ck_assert_int_eq(town_reduce(net, 1, &plan), -ENETUNREACH);
    town_close(net);
}
END_TEST

/* The root never calls: the member waits for its limit, a quarter and a second more, and is told of the root. */
START_TEST(the_root_never_calls)
{
    const struct town_plan plan = {.name = "a", .root = 5, .members = 7, .elements = 3, .limit = CW_SEC(4)};
    net = town_open();
    ck_assert_int_gt(town_reduce(net, 1, &plan), 0);
    fake_net_run(net, CW_MS(5900));
    ck_assert_uint_eq(town_calls[1].ends, 0);
    fake_net_run(net, CW_MS(200));
    ck_assert_uint_eq(town_calls[1].ends, 1);
    ck_assert_int_eq(town_calls[1].status, -ETIMEDOUT);
    ck_assert(town_calls[1].named && town_calls[1].who.y == 1 && town_calls[1].who.z == 2);
    fake_net_run(net, CW_SEC(3));
    ck_assert_uint_eq(town_dense(net, 5)->pending_count, 0);
    town_close(net);
}
END_TEST

START_TEST(the_root_dies)
{
    const struct town_plan plan = {.name = "a", .root = 5, .members = 7, .elements = 3};
    net = town_open();
    ck_assert_int_gt(town_reduce(net, 1, &plan), 0);
    fake_net_run(net, CW_MS(5));
    town_lose(net, 5);
    ck_assert_uint_eq(town_calls[1].ends, 1);
    ck_assert_int_eq(town_calls[1].status, -ECONNRESET);
    town_close(net);
}
END_TEST

static int64_t again;

/* As a program does that tries again what has failed. */
static void try_again(void *arg, const cw_reduce_result *result)
{
    static const cw_coord member = {0, 0, 1};
    static uint64_t in;
    const cw_reduce r = {CW_REDUCE_INIT,
                         .name = "b",
                         .name_length = 1,
                         .member = &member,
                         .members = 1,
                         .type = CW_NUMBER_UINT64,
                         .combine = CW_COMBINE_SUM,
                         .elements = 1,
                         .in = &in};
    ends++;
    ck_assert_int_eq(result->status, -ECANCELED);
    again = dense_reduce(arg, net, 7, &r, try_again, arg);
}

/* Closing tells callers the end of their calls, and takes no new ones: it would never end. */
START_TEST(closing)
{
    static const cw_coord member = {0, 0, 1};
    static uint64_t in;
    const cw_reduce r = {CW_REDUCE_INIT,
                         .name = "a",
                         .name_length = 1,
                         .member = &member,
                         .members = 1,
                         .type = CW_NUMBER_UINT64,
                         .combine = CW_COMBINE_SUM,
                         .elements = 1,
                         .in = &in};
    net = town_open();
    ends = 0;
    struct dense *d = town_dense(net, 1);
    ck_assert_int_gt(dense_reduce(d, net, 7, &r, try_again, d), 0);
    town_close(net);
    ck_assert_uint_eq(ends, 1);
    ck_assert_int_eq(again, -ESHUTDOWN);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(arguments), SUITE_TEST(names_and_room),
                                          SUITE_TEST(the_root_never_calls), SUITE_TEST(the_root_dies),
                                          SUITE_TEST(closing)};
SUITE_MAIN("member", tests)
