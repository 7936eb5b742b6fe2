/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/dense/plan.h"

#include "base/prng.h"
#include "suite.h"

#include <errno.h>

enum { SERVERS_MOST = 125, WORDS = 2 };

static struct torus torus;
static struct trees *trees;
static uint64_t members[WORDS], dead[WORDS], involved[WORDS];
static struct plan plan[SERVERS_MOST];
static struct plan_question question;
static cw_server lost;

static void open_torus(uint16_t x, uint16_t y, uint16_t z)
{
    ck_assert_int_eq(torus_init(&torus, (cw_dims){x, y, z}), 0);
    ck_assert_int_eq(trees_open(&trees, &torus), 0);
    memset(members, 0, sizeof members);
    memset(dead, 0, sizeof dead);
    question = (struct plan_question){.torus = &torus, .trees = trees, .members = members, .dead = dead};
}

/* Plans of all servers; gives the first error. */
static int make_all(void)
{
    for (cw_server s = 0; s < torus.servers; s++) {
        int rc = plan_make(&plan[s], &question, s, involved, &lost);
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

/* Guarantees 2 and 3, over the plans that all servers made. */
static void check_all(void)
{
    for (cw_link tree = 0; tree < CW_LINK_COUNT; tree++) {
        for (cw_server s = 0; s < torus.servers; s++) {
            const struct plan_tree *t = &plan[s].tree[tree];
            bool there = plan[0].trees >> tree & 1;
            SUITE_HOLDS(!t->in || there);
            SUITE_HOLDS(!there || t->in || (s != question.root && !trees_set_has(members, s)));
            SUITE_HOLDS(!t->in || trees_set_has(involved, s));
            SUITE_HOLDS(!t->in || !trees_set_has(dead, s));
            if (!t->in || s == question.root) {
                SUITE_HOLDS(t->parent == CW_SERVER_NONE);
                continue;
            }
            SUITE_HOLDS(torus_distance(&torus, s, t->parent) == 1);
            cw_link link = plan_child(&plan[t->parent], &torus, t->parent, tree, s);
            SUITE_HOLDS(link != CW_LINK_SELF, "server %u is no child of its parent", s);
            unsigned steps = 0;
            for (cw_server at = s; at != question.root; at = plan[at].tree[tree].parent) {
                SUITE_HOLDS(++steps <= torus.servers, "a circle");
            }
            SUITE_HOLDS(!trees_set_has(members, s) || steps <= plan[s].depth);
            SUITE_HOLDS(t->children != 0 || trees_set_has(members, s), "a leaf that has nothing to give");
        }
    }
}

START_TEST(everybody_lives)
{
    open_torus(3, 3, 3);
    question.root = 13;
    members[0] = (1 << 27) - 1;
    ck_assert_int_eq(make_all(), 0);
    check_all();
    ck_assert_uint_eq(involved[0], (1 << 27) - 1);
    for (cw_link tree = 0; tree < CW_LINK_COUNT; tree++) {
        ck_assert_uint_eq(plan[13].tree[tree].children, cw_links_of(tree));
    }
    ck_assert_uint_ge(plan[0].depth, 3);
    trees_close(trees);
}
END_TEST

/* Drawn shapes, members and dead. */
START_TEST(drawn)
{
    struct prng random = prng_stream(1, 2, 3);
    for (unsigned round = 0; round < 300; round++) {
        open_torus((uint16_t)(1 + prng_below(&random, 5)), (uint16_t)(1 + prng_below(&random, 5)),
                   (uint16_t)(1 + prng_below(&random, 5)));
        question.root = (cw_server)prng_below(&random, torus.servers);
        for (cw_server s = 0; s < torus.servers; s++) {
            if (s != question.root && prng_below(&random, 6) == 0) {
                trees_set_add(dead, s);
            } else if (prng_below(&random, 3) != 0) {
                trees_set_add(members, s);
            }
        }
        int rc = make_all();
        SUITE_HOLDS(rc == 0 || (rc == -ENETUNREACH && trees_set_has(members, lost)));
        if (rc == 0) {
            check_all();
        }
        trees_close(trees);
    }
}
END_TEST

/* How many links two trees have in common. */
static unsigned shared(void)
{
    unsigned n = 0;
    for (cw_server s = 0; s < torus.servers; s++) {
        for (cw_link a = 0; a < CW_LINK_COUNT; a++) {
            for (cw_link b = 0; b < a; b++) {
                const struct plan_tree *t = plan[s].tree;
                n += t[a].in && t[b].in && t[a].parent != CW_SERVER_NONE && t[a].parent == t[b].parent;
            }
        }
    }
    return n;
}

/* After any one death five trees are left that share no link; all six would share some with one of them. */
START_TEST(one_is_left_out)
{
    open_torus(3, 3, 3);
    for (cw_server gone = 1; gone < 27; gone++) {
        members[0] = ((1 << 27) - 1) & ~(1u << gone);
        dead[0] = 1u << gone;
        ck_assert_int_eq(make_all(), 0);
        check_all();
        SUITE_HOLDS(__builtin_popcount(plan[0].trees) == 5, "without %u: %x", gone, plan[0].trees);
        SUITE_HOLDS(shared() == 0, "without %u", gone);
    }
    trees_close(trees);
}
END_TEST

START_TEST(few_members)
{
    open_torus(3, 3, 3);
    trees_set_add(members, 1);
    ck_assert_int_eq(make_all(), 0);
    check_all();
    trees_set_add(dead, 1);
    ck_assert_int_eq(make_all(), -ENETUNREACH);
    ck_assert_uint_eq(lost, 1);
    trees_close(trees);
}
END_TEST

START_TEST(one_server)
{
    open_torus(1, 1, 1);
    members[0] = 1;
    ck_assert_int_eq(make_all(), 0);
    ck_assert_uint_eq(plan[0].trees, 1);
    ck_assert(plan[0].tree[0].in && plan[0].tree[0].children == 0);
    ck_assert_uint_eq(involved[0], 1);
    ck_assert_uint_eq(plan[0].depth, 0);
    trees_close(trees);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(everybody_lives), SUITE_TEST(drawn), SUITE_TEST(one_is_left_out),
                                          SUITE_TEST(few_members), SUITE_TEST(one_server)};
SUITE_MAIN("plan", tests)
