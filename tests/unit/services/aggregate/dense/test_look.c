/* SPDX-License-Identifier: Apache-2.0 */
#include "dense_town.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static struct fake_net *net;
static unsigned rows[3], waits;
static struct dense_run last;
static uint64_t waiting;

static void row(void *context, const struct dense_run *run)
{
    (void)context;
    rows[run->role]++;
    last = *run;
    if (run->role == DENSE_IS_ROOT) {
        waiting = run->waits[0];
        waits += (unsigned)__builtin_popcountll(waiting);
    }
}

static void look(cw_server s)
{
    memset(rows, 0, sizeof rows);
    waits = 0;
    dense_each(town_dense(net, s), row, NULL);
}

/* Who has not called is named by the root. */
START_TEST(gathers)
{
    const struct town_plan plan = {.name = "a", .root = 0, .members = 7, .elements = 100};
    net = town_open();
    look(0);
    ck_assert_uint_eq(rows[DENSE_IS_ROOT], 0);
    (void)town_reduce(net, 0, &plan);
    (void)town_reduce(net, 2, &plan);
    fake_net_run(net, CW_MS(5));
    look(0);
    ck_assert_uint_eq(rows[DENSE_IS_ROOT], 1);
    ck_assert_uint_eq(waiting, 2);
    ck_assert_str_eq(last.state, "waits for members");
    ck_assert_uint_eq(last.bytes, 800);
    ck_assert_uint_eq(last.attempt, 0);
    look(2);
    ck_assert_uint_eq(rows[DENSE_IS_MEMBER], 1);
    ck_assert_str_eq(last.state, "waits for the root");
    ck_assert(last.waits == NULL);
    town_close(net);
}
END_TEST

/* A server that hangs in the middle of it is named within a second; who waits for nobody names nobody. */
START_TEST(hangs)
{
    const struct town_plan plan = {.name = "a", .root = 0, .members = 0x7ffffff, .elements = 400000};
    net = town_open();
    town_reduce_all(net, &plan);
    do {
        fake_net_run(net, CW_US(20));
        look(0);
    } while (last.settled_bytes == 0 || strcmp(last.state, "runs") != 0);
    ck_assert_uint_eq(waits, 0);
    net->server[5]->refuse = -ENETUNREACH; /* it sends nothing any more */
    fake_net_run(net, CW_MS(900));
    look(0);
    ck_assert_uint_eq(waiting, 1 << 5);
    ck_assert_int_gt(last.still.ns, CW_MS(500).ns);
    town_close(net);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(gathers), SUITE_TEST(hangs)};
SUITE_MAIN("look", tests)
