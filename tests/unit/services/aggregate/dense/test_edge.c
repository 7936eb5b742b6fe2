/* SPDX-License-Identifier: Apache-2.0 */
/* Server 1 as a member and a leaf: what it sends, and what stops it. */
#include "dense_town.h"
#include "suite.h"

#include <errno.h>

enum { SELF = 1, ROOT = 0, ELEMENTS = 100 };
static struct fake_net *net;
static struct dense *d;
static struct vertex *v;
static struct message announce;
static cw_link tree; /* in which it has no child */

static void setup_attempt(uint32_t attempt)
{
    const struct town_plan plan = {.name = "a", .root = ROOT, .members = 6, .elements = 400 * ELEMENTS};
    net = town_open();
    d = town_dense(net, SELF);
    announce =
        (struct message){.kind = MESSAGE_ANNOUNCE, .run = {ROOT, 77, 1}, .attempt = attempt, .servers = TOWN_SERVERS};
    announce.spec = (struct spec){CW_NUMBER_UINT64, CW_COMBINE_SUM, 0, plan.elements};
    announce.each = ELEMENTS;
    announce.window = 4;
    announce.ahead = 400;
    announce.members[0] = plan.members;
    announce.ticket = (uint32_t)town_reduce(net, SELF, &plan);
    ck_assert_int_eq(vertex_begin(d, &announce, NULL), 0);
    v = vertex_find(d, &announce.run);
    for (tree = 0; !v->plan.tree[tree].in || v->plan.tree[tree].children != 0; tree++) {
    }
}

static void setup(void)
{
    setup_attempt(1);
}

static void deal(uint32_t from, uint32_t count, uint32_t passed)
{
    struct message m = {
        .kind = MESSAGE_DEAL, .run = announce.run, .attempt = announce.attempt, .tree = (uint8_t)tree, .runs = 1};
    m.from = from;
    m.passed = passed;
    m.deal[0] = (struct deal_run){from, count};
    ck_assert_int_eq(vertex_deal(d, &m, v->plan.tree[tree].parent), 0);
}

static unsigned out(void)
{
    unsigned n = 0;
    for (unsigned i = 0; i < CW_LINK_COUNT * v->window; i++) {
        n += v->lend[i].out;
    }
    return n;
}

/* A leaf lends from the member's own memory, and one block of a tree at a time. */
START_TEST(lends)
{
    setup();
    ck_assert(v->column[tree].memory == NULL);
    deal(0, 10, 0);
    ck_assert_uint_eq(out(), 1);
    ck_assert(v->lent[tree]);
    ck_assert_int_eq(column_slot(&v->column[tree], 0)->state, COLUMN_LENT);
    ck_assert_int_eq(column_slot(&v->column[tree], 1)->state, COLUMN_READY);
    town_close(net);
}
END_TEST

/* The parent knows nothing of this run, which is in its second attempt: it refuses, and the attempt is void. */
START_TEST(refused)
{
    setup_attempt(2);
    deal(0, 10, 0);
    fake_net_run(net, CW_MS(20));
    ck_assert(v->broken);
    ck_assert_uint_eq(out(), 0);
    town_close(net);
}
END_TEST

/* In the first attempt the parent may hear of the run after its child: the block waits until it has. */
START_TEST(too_early)
{
    setup();
    deal(0, 10, 0);
    cw_server parent = v->plan.tree[tree].parent;
    fake_net_run(net, CW_MS(20));
    ck_assert(!v->broken);
    ck_assert_uint_eq(out(), 1);
    struct dense *above = town_dense(net, parent);
    ck_assert_uint_gt(above->early_next, 0);
    for (unsigned i = 0; i < DENSE_EARLY; i++) {
        ck_assert(above->early[i].run.number == 0 || run_name_equal(&above->early[i].run, &announce.run));
    }
    edge_permit(above, &announce.run);
    for (unsigned i = 0; i < DENSE_EARLY; i++) {
        ck_assert_uint_eq(above->early[i].run.number, 0);
    }
    town_close(net);
}
END_TEST

START_TEST(taken_back)
{
    setup();
    deal(0, 10, 0);
    vertex_free(v);
    ck_assert_uint_eq(d->vertex_count, 0);
    fake_net_run(net, CW_MS(20));
    town_close(net);
}
END_TEST

/* Deals to a child: one message at a time, with what is new since the last one; long lists in several. */
START_TEST(deals)
{
    setup();
    for (tree = 0; v->plan.tree[tree].children == 0; tree++) {
    }
    struct message m = {.kind = MESSAGE_DEAL, .run = announce.run, .attempt = 1, .tree = (uint8_t)tree, .runs = 1};
    struct told *told = &v->told[tree][__builtin_ctz(v->plan.tree[tree].children)];
    for (uint32_t i = 0; i < 200; i++) { /* every other block: no two in one run */
        m.from = i;
        m.deal[0] = (struct deal_run){2 * i, 1};
        ck_assert_int_eq(vertex_deal(d, &m, v->plan.tree[tree].parent), 0);
        ck_assert(told->telling);
        ck_assert_uint_eq(told->dealt, 1);
    }
    told->telling = false;
    edge_tell(v, tree);
    ck_assert_uint_eq(told->dealt, 1 + MESSAGE_RUNS_MOST);
    told->telling = false;
    edge_tell(v, tree);
    ck_assert_uint_eq(told->dealt, 200);
    told->telling = false;
    edge_tell(v, tree);
    ck_assert(!told->telling);
    town_close(net);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(lends), SUITE_TEST(refused), SUITE_TEST(too_early),
                                          SUITE_TEST(taken_back), SUITE_TEST(deals)};
SUITE_MAIN("edge", tests)
