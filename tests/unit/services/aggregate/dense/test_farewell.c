/* SPDX-License-Identifier: Apache-2.0 */
/* test_farewell.c - whoever asks for a run that has ended is told its end again. */
#include "dense_town.h"
#include "suite.h"

#include <errno.h>

static struct fake_net *net;

/* A member asks for its run when that has ended already: it is told the end again, and so is a vertex. */
START_TEST(asked_late)
{
    const struct town_plan plan = {.name = "a", .root = 0, .members = 7, .elements = 3, .flags = CW_REDUCE_TO_ALL};
    net = town_open();
    town_reduce_all(net, &plan);
    fake_net_run(net, CW_MS(5));
    ck_assert(town_right(&plan, 7));
    struct dense *root = town_dense(net, 0);
    struct message join = {.kind = MESSAGE_JOIN, .job = 7, .name = "a", .name_length = 1};
    join.ticket = (uint32_t)town_calls[1].ticket;
    ck_assert_int_eq(joins_take(root, &join, 1), 0);
    ck_assert_int_eq(joins_take(root, &join, 2), -EEXIST); /* that is not its ticket */
    join.run = (struct run_name){0, root->life, 1};
    ck_assert_int_eq(joins_take(root, &join, 1), 0);
    struct farewell_question q = {.run = &join.run, .from = 2};
    int status = 1;
    ck_assert(farewell_say(root, &q, &status) && status == 0);
    q.from = 5;
    ck_assert(!farewell_say(root, &q, &status)); /* it had nothing to do with the run */
    join.run.number = 2;
    ck_assert_int_eq(joins_take(root, &join, 1), -ESTALE);
    fake_net_run(net, CW_SEC(11));
    join.run = (struct run_name){.life = 0};
    ck_assert_int_eq(joins_take(root, &join, 1), -EEXIST);
    town_close(net);
}
END_TEST

/* Barriers whose last caller is late, with losses: every END may come behind the answer to a question. */
START_TEST(barriers_with_losses)
{
    net = town_open();
    for (unsigned i = 0; i < 60; i++) {
        char name[16];
        const struct town_plan plan = {.name = name, .root = 0, .members = 0x1ff, .flags = CW_REDUCE_TO_ALL};
        snprintf(name, sizeof name, "%u", i);
        net->lose = 3 + i % 5;
        for (cw_server s = 1; s < 9; s++) {
            (void)town_reduce(net, s, &plan);
            fake_net_run(net, CW_US(7));
        }
        fake_net_run(net, CW_US(499900 + 2000 * i));
        (void)town_reduce(net, 0, &plan);
        fake_net_run(net, CW_SEC(3));
        for (cw_server s = 0; s < 9; s++) {
            SUITE_HOLDS(town_calls[s].ends == 1 && town_calls[s].status == 0, "%u: server %u: %d", i, s,
                        town_calls[s].status);
        }
    }
    town_close(net);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(asked_late), SUITE_TEST(barriers_with_losses)};
SUITE_MAIN("farewell", tests)
