/* SPDX-License-Identifier: Apache-2.0 */
#include "dense_town.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

enum { ALL = (1 << TOWN_SERVERS) - 1 };
static struct fake_net *net;

static void all_ended(uint32_t servers, int status)
{
    for (cw_server s = 0; s < TOWN_SERVERS; s++) {
        SUITE_HOLDS(town_calls[s].ends == (servers >> s & 1), "server %u was told %u times", s, town_calls[s].ends);
        SUITE_HOLDS(!(servers >> s & 1) || town_calls[s].status == status, "server %u: %d", s, town_calls[s].status);
    }
}

static void nothing_left(void)
{
    for (cw_server s = 0; s < TOWN_SERVERS; s++) {
        struct dense_overview look;
        dense_look(town_dense(net, s), &look);
        SUITE_HOLDS(look.members + look.vertices + look.roots + look.memory == 0, "server %u", s);
    }
}

START_TEST(a_sum)
{
    static const uint64_t lengths[] = {0, 1, 128, 129, 1023, 1024, 40009};
    net = town_open();
    for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        char name[16];
        const struct town_plan plan = {.name = name, .root = 13, .members = ALL, .elements = lengths[i]};
        snprintf(name, sizeof name, "sum %u", i);
        town_reduce_all(net, &plan);
        fake_net_run(net, CW_MS(400));
        all_ended(ALL, 0);
        ck_assert(town_right(&plan, ALL));
        ck_assert_uint_eq(town_calls[13].attempts, 1);
        nothing_left();
    }
    town_close(net);
}
END_TEST

/* In a fixed order sums of floats are the same bits in each run, whoever calls first. */
START_TEST(the_same_bits)
{
    enum { ELEMENTS = 30000, RUNS = 20 };
    static float first[ELEMENTS];
    net = town_open();
    for (unsigned i = 0; i < RUNS; i++) {
        char name[16];
        const struct town_plan plan = {.name = name,
                                       .root = 13,
                                       .members = ALL,
                                       .elements = ELEMENTS,
                                       .type = CW_NUMBER_FLOAT32,
                                       .flags = CW_REDUCE_FIXED};
        snprintf(name, sizeof name, "run %u", i);
        for (cw_server k = 0; k < TOWN_SERVERS; k++) {
            cw_server s = (k * 5 + i * 7) % TOWN_SERVERS;
            (void)town_reduce(net, s, &plan);
            float *in = (float *)(void *)town_calls[s].in;
            for (uint32_t e = 0; e < ELEMENTS; e++) {
                in[e] = (float)((e * 7919 + s * 104729) % 100003) * (s % 3 == 0 ? 1e-3F : -1e4F);
            }
        }
        fake_net_run(net, CW_MS(400));
        all_ended(ALL, 0);
        if (i == 0) {
            memcpy(first, town_calls[13].out, sizeof first);
        }
        SUITE_HOLDS(memcmp(first, town_calls[13].out, sizeof first) == 0, "run %u", i);
        nothing_left();
    }
    town_close(net);
}
END_TEST

/* The root is no member, members are few, and a mean is divided by their number. */
START_TEST(a_mean)
{
    const struct town_plan plan = {.name = "mean",
                                   .root = 0,
                                   .members = 1 << 4 | 1 << 20,
                                   .elements = 500,
                                   .type = CW_NUMBER_FLOAT64,
                                   .combine = CW_COMBINE_MEAN};
    net = town_open();
    town_reduce_all(net, &plan);
    double two[2] = {3, 5}, *in[2] = {(double *)(void *)town_calls[4].in, (double *)(void *)town_calls[20].in};
    for (unsigned i = 0; i < 500; i++) {
        in[0][i] = two[0];
        in[1][i] = two[1];
    }
    fake_net_run(net, CW_MS(100));
    all_ended(1 << 0 | 1 << 4 | 1 << 20, 0);
    double out[500];
    memcpy(out, town_calls[0].out, sizeof out);
    ck_assert(out[0] == 4 && out[499] == 4);
    town_close(net);
}
END_TEST

START_TEST(one_never_calls)
{
    struct town_plan plan = {.name = "a", .root = 2, .members = 15, .elements = 50, .limit = CW_SEC(1)};
    net = town_open();
    for (cw_server s = 0; s < 3; s++) {
        (void)town_reduce(net, s, &plan);
    }
    fake_net_run(net, CW_MS(1200));
    all_ended(7, -ETIMEDOUT);
    ck_assert(town_calls[2].named && town_calls[2].who.y == 1 && town_calls[2].who.z == 0);
    plan.name = "b";
    plan.flags = CW_REDUCE_WITHOUT;
    for (cw_server s = 0; s < 3; s++) {
        (void)town_reduce(net, s, &plan);
    }
    fake_net_run(net, CW_MS(1400));
    all_ended(7, 0);
    ck_assert(town_right(&plan, 7));
    town_close(net);
}
END_TEST

/* A member dies in the middle: the end for all, or a new attempt with the others, from the beginning. */
START_TEST(one_dies)
{
    struct town_plan plan = {.name = "a", .root = 13, .members = ALL, .elements = 200003};
    net = town_open();
    for (unsigned flags = 0; flags <= CW_REDUCE_WITHOUT; flags++) {
        plan.flags = flags;
        plan.name = flags == 0 ? "a" : "b";
        plan.members = flags == 0 ? ALL : ALL & ~1;
        town_reduce_all(net, &plan);
        for (unsigned i = 0; i < 400; i++) {
            const struct reducer *r = reducer_of_hash(town_dense(net, 13), member_hash(7, plan.name, 1));
            if (r != NULL && r->cut && r->frontier.settled > 5) {
                break;
            }
            fake_net_run(net, CW_US(50));
        }
        ck_assert_uint_eq(town_calls[13].ends, 0);
        town_lose(net, flags);
        fake_net_run(net, CW_SEC(1));
        ck_assert_uint_eq(town_calls[13].ends, 1);
        ck_assert_int_eq(town_calls[13].status, flags == 0 ? -ECONNRESET : 0);
    }
    ck_assert(town_right(&plan, ALL & ~3));
    ck_assert_uint_ge(town_calls[13].attempts, 2);
    town_close(net);
}
END_TEST

/* Who gives up is a contributor that is gone; at the root it is the end for all. */
START_TEST(cancelled)
{
    struct town_plan plan = {.name = "a", .root = 2, .members = 31, .elements = 900, .flags = CW_REDUCE_WITHOUT};
    net = town_open();
    for (cw_server s = 0; s < 4; s++) {
        (void)town_reduce(net, s, &plan);
    }
    fake_net_run(net, CW_MS(20));
    ck_assert_int_eq(dense_cancel(town_dense(net, 0), net, town_calls[0].ticket), 0);
    ck_assert_int_eq(town_calls[0].status, -ECANCELED);
    (void)town_reduce(net, 4, &plan);
    fake_net_run(net, CW_MS(200));
    for (cw_server s = 1; s < 5; s++) {
        ck_assert_int_eq(town_calls[s].ends, 1);
        ck_assert_int_eq(town_calls[s].status, 0);
    }
    ck_assert_uint_eq(town_calls[0].ends, 1);
    ck_assert(town_right(&plan, 30));
    plan.name = "b";
    for (cw_server s = 0; s < 4; s++) {
        (void)town_reduce(net, s, &plan);
    }
    fake_net_run(net, CW_MS(20));
    ck_assert_int_eq(dense_cancel(town_dense(net, 2), net, town_calls[2].ticket), 0);
    fake_net_run(net, CW_MS(20));
    ck_assert_int_eq(town_calls[1].status, -ECANCELED);
    nothing_left();
    town_close(net);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(a_sum),    SUITE_TEST(the_same_bits),
                                          SUITE_TEST(a_mean),   SUITE_TEST(one_never_calls),
                                          SUITE_TEST(one_dies), SUITE_TEST(cancelled)};
SUITE_MAIN("reducer", tests)
