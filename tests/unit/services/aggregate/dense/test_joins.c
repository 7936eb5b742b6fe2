/* SPDX-License-Identifier: Apache-2.0 */
/* test_joins.c - members say that they are there: those that want something else, and names that were used. */
#include "dense_town.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static struct fake_net *net;

/* One of three wants something else, and says so before or after the root calls: all are told who, and in what. */
static void disagree(struct town_plan plan, const struct town_plan *other, unsigned unlike, bool before)
{
    enum { ROOT = 2, OTHER = 1 };
    plan.name = other->name;
    if (!before) {
        (void)town_reduce(net, ROOT, &plan);
    }
    (void)town_reduce(net, OTHER, other);
    fake_net_run(net, CW_MS(5));
    if (before) {
        (void)town_reduce(net, ROOT, &plan);
    }
    (void)town_reduce(net, 0, &plan); /* if the end has come before: it is told late, or that the name is used */
    fake_net_run(net, CW_MS(100));
    for (cw_server s = 1; s < 3; s++) {
        const struct town_call *c = &town_calls[s];
        SUITE_HOLDS(c->ends == 1 && c->status == -EINVAL, "%s: server %u: %d", plan.name, s, c->status);
        SUITE_HOLDS(c->unlike == unlike, "%s: server %u: %u", plan.name, s, c->unlike);
        SUITE_HOLDS(c->named && c->who.z == OTHER && c->other.z == ROOT, "%s: server %u", plan.name, s);
    }
    SUITE_HOLDS(town_calls[0].status == -EINVAL || town_calls[0].status == -EEXIST, "%s: %d", plan.name,
                town_calls[0].status);
}

START_TEST(they_disagree)
{
    char name[8];
    const struct town_plan plan = {.root = 2, .members = 7, .elements = 50};
    struct dense_overview look;
    net = town_open();
    for (unsigned i = 0; i < 20; i++) {
        struct town_plan one = plan, other;
        one.elements = i < 10 ? 50 : 5000; /* a small vector, and one of blocks */
        other = one;
        other.name = name;
        snprintf(name, sizeof name, "%u", i);
        other.type = i % 5 == 0 ? CW_NUMBER_INT64 : 0;
        other.combine = i % 5 == 1 ? CW_COMBINE_XOR : 0;
        other.elements += i % 5 == 2;
        other.flags = i % 5 == 3 ? CW_REDUCE_WITHOUT : 0;
        other.members = i % 5 == 4 ? 3 : 7;
        disagree(one, &other, 1u << i % 5, i % 10 < 5);
    }
    for (cw_server s = 0; s < 3; s++) {
        dense_look(town_dense(net, s), &look);
        SUITE_HOLDS(look.members + look.vertices + look.roots + look.memory == 0, "server %u", s);
    }
    town_close(net);
}
END_TEST

static void both_ended(void)
{
    for (cw_server s = 1; s < 3; s++) {
        ck_assert_uint_eq(town_calls[s].ends, 1);
        ck_assert_int_eq(town_calls[s].status, 0);
    }
}

START_TEST(a_name_twice)
{
    const struct town_plan plan = {.name = "a", .root = 2, .members = 6, .elements = 50};
    net = town_open();
    town_reduce_all(net, &plan);
    fake_net_run(net, CW_MS(100));
    both_ended();
    ck_assert_int_eq(town_reduce(net, 2, &plan), -EEXIST);
    ck_assert_int_gt(town_reduce(net, 1, &plan), 0);
    fake_net_run(net, CW_MS(100));
    ck_assert_int_eq(town_calls[1].status, -EEXIST);
    fake_net_run(net, CW_SEC(60));
    town_reduce_all(net, &plan);
    fake_net_run(net, CW_MS(100));
    both_ended();
    town_close(net);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(they_disagree), SUITE_TEST(a_name_twice)};
SUITE_MAIN("joins", tests)
