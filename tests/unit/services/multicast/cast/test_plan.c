/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/cast/plan.h"

#include "fake_host.h"
#include "services/multicast/multicast.h"
#include "suite.h"

#include <errno.h>

enum { MOST = 27 };
static struct torus torus;
static struct trees *trees;
static cw_svc *host[MOST];

static void setup(cw_dims dims)
{
    ck_assert_int_eq(torus_init(&torus, dims), 0);
    ck_assert_int_eq(trees_open(&trees, &torus), 0);
    for (cw_server i = 0; i < torus.servers; i++) {
        host[i] = fake_open(&multicast_service, dims, torus_coord(&torus, i));
    }
}

static void teardown(void)
{
    for (cw_server i = 0; i < torus.servers; i++) {
        ck_assert_uint_eq(fake_close(host[i]), 0);
    }
    trees_close(trees);
}

static void down(cw_server dead)
{
    for (cw_server i = 0; i < torus.servers; i++) {
        host[i]->down[dead] = true;
    }
}

/* Everybody's plan; then, tree by tree, who is reached from the source. Gives how many edges there are. */
static unsigned all_hear(cw_server source, const uint8_t *members)
{
    unsigned edges = 0;
    struct cast_plan plan[MOST] = {{.edge = NULL}};
    for (cw_server i = 0; i < torus.servers; i++) {
        ck_assert_int_eq(cast_plan_make(&plan[i], host[i], &torus, trees, source, members), 0);
        edges += host[0]->down[i] ? 0 : plan[i].count;
    }
    for (uint8_t tree = 0; tree < CW_LINK_COUNT; tree++) {
        bool hears[MOST] = {false};
        unsigned parents[MOST] = {0};
        for (cw_server i = 0; i < torus.servers; i++) {
            for (unsigned k = 0; !host[0]->down[i] && k < plan[i].count; k++) {
                parents[plan[i].edge[k].to] += plan[i].edge[k].tree == tree;
            }
        }
        ck_assert_uint_eq(parents[source], 0);
        for (cw_server i = 0; i < torus.servers; i++) {
            SUITE_HOLDS(parents[i] <= 1, "server %u", i); /* and as all are reached below, there is no circle */
        }
        hears[source] = true;
        for (cw_server turn = 0; turn < torus.servers; turn++) {
            for (cw_server i = 0; i < torus.servers; i++) {
                for (unsigned k = 0; hears[i] && k < plan[i].count; k++) {
                    hears[plan[i].edge[k].to] = hears[plan[i].edge[k].to] || plan[i].edge[k].tree == tree;
                    SUITE_HOLDS(!host[0]->down[plan[i].edge[k].to]);
                }
            }
        }
        for (cw_server i = 0; i < torus.servers && (trees_all(trees) >> tree & 1); i++) {
            SUITE_HOLDS(hears[i] || host[0]->down[i] || !(members[i / 8] >> i % 8 & 1), "server %u", i);
        }
    }
    for (cw_server i = 0; i < torus.servers; i++) {
        cast_plan_free(&plan[i]);
    }
    return edges;
}

/* With nobody dead each tree has an edge to each server but the source. */
START_TEST(whole_trees)
{
    const uint8_t everybody[4] = {255, 255, 255, 255};
    setup((cw_dims){3, 3, 3});
    for (cw_server source = 0; source < 27; source++) {
        ck_assert_uint_eq(all_hear(source, everybody), 6 * 26);
    }
    teardown();
}
END_TEST

START_TEST(pruned)
{
    uint8_t one[4] = {0};
    setup((cw_dims){3, 3, 3});
    ck_assert_uint_eq(all_hear(0, one), 0);
    one[1] = 0x20; /* 13 is 1,1,1 */
    unsigned edges = all_hear(0, one);
    ck_assert(edges >= 18 && edges <= 24); /* six paths of 3 or 4 links */
    teardown();
}
END_TEST

START_TEST(with_ever_more_dead)
{
    const uint8_t everybody[4] = {255, 255, 255, 255};
    static const cw_dims shapes[] = {{3, 3, 3}, {2, 3, 4}, {1, 4, 4}, {5, 1, 1}};
    uint32_t x = 99;
    for (int round = 0; round < 24; round++) {
        setup(shapes[round % 4]);
        for (unsigned dead = 0; dead < torus.servers / 3; dead++) {
            x = x * 1664525 + 1013904223;
            cw_server victim = 1 + (x >> 8) % (torus.servers - 1);
            down(victim);
            all_hear(0, everybody);
        }
        teardown();
    }
}
END_TEST

START_TEST(no_source)
{
    setup((cw_dims){3, 3, 3});
    struct cast_plan plan = {.edge = NULL};
    ck_assert_int_eq(cast_plan_make(&plan, host[0], &torus, trees, 27, (const uint8_t[4]){1}), -EINVAL);
    teardown();
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(whole_trees), SUITE_TEST(pruned), SUITE_TEST(with_ever_more_dead),
                                          SUITE_TEST(no_source)};
SUITE_MAIN("cast_plan", tests)
