/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/dense/ways.h"

#include "base/prng.h"
#include "suite.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 512 };

static struct torus torus;
static uint8_t live[MOST];

static uint16_t *far_of(cw_dims dims)
{
    uint16_t *far;
    ck_assert_int_eq(torus_init(&torus, dims), 0);
    ck_assert_int_eq(ways_make(&torus, live, &far), 0);
    return far;
}

/* How many links it is to the root in that tree; -1: no way leads there. Counts the links that are used. */
static int climb(const uint16_t *far, cw_link tree, cw_server offset, uint64_t used[CW_LINK_COUNT])
{
    int edges = 0;
    for (cw_server at = offset; at != 0; edges++) {
        cw_link link = ways_parent(&torus, far, tree, at);
        if (link == CW_LINK_SELF || edges > MOST) {
            return -1;
        }
        used[link]++;
        at = torus_neighbour(&torus, at, link);
        SUITE_HOLDS(live[at]);
    }
    return edges;
}

START_TEST(ways_are_shortest)
{
    static const cw_dims dims[] = {{1, 1, 1}, {2, 1, 1}, {3, 1, 1}, {3, 2, 1},
                                   {2, 2, 2}, {3, 3, 3}, {3, 4, 5}, {8, 8, 8}};
    uint64_t used[CW_LINK_COUNT];
    memset(live, 1, sizeof live);
    for (unsigned i = 0; i < sizeof dims / sizeof *dims; i++) {
        uint16_t *far = far_of(dims[i]);
        for (cw_server o = 0; o < torus.servers; o++) {
            SUITE_HOLDS(far[o] == torus_distance(&torus, 0, o));
            for (cw_link tree = 0; tree < CW_LINK_COUNT; tree++) {
                SUITE_HOLDS(climb(far, tree, o, used) == (int)far[o]);
            }
        }
        free(far);
    }
}
END_TEST

/* Every tree of a root that is everywhere: each link carries the same where nothing, and where all is combined. */
START_TEST(links_carry_the_same)
{
    static const cw_dims dims[] = {{3, 3, 3}, {4, 4, 4}, {8, 8, 8}};
    memset(live, 1, sizeof live);
    for (unsigned i = 0; i < sizeof dims / sizeof *dims; i++) {
        uint64_t used[CW_LINK_COUNT] = {0}, edges[CW_LINK_COUNT] = {0}, far_all = 0;
        uint16_t *far = far_of(dims[i]);
        for (cw_link tree = 0; tree < CW_LINK_COUNT; tree++) {
            for (cw_server o = 1; o < torus.servers; o++) {
                far_all += (uint64_t)climb(far, tree, o, used);
                edges[ways_parent(&torus, far, tree, o)]++;
            }
        }
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            ck_assert_uint_eq(used[link] * CW_LINK_COUNT, far_all);
            ck_assert_uint_eq(edges[link], torus.servers - 1);
        }
        free(far);
    }
}
END_TEST

/* Beside a plain relaxation, whoever is dead. */
START_TEST(around_the_dead)
{
    struct prng random = prng_stream(7, 0, 0);

    for (unsigned round = 0; round < 60; round++) {
        uint64_t used[CW_LINK_COUNT];
        uint16_t want[MOST];
        for (cw_server o = 0; o < 60; o++) {
            live[o] = o == 0 || prng_below(&random, 60) >= round;
            want[o] = o == 0 ? 0 : WAYS_CUT_OFF;
        }
        uint16_t *far = far_of((cw_dims){3, 4, 5});
        for (unsigned pass = 0; pass < 60; pass++) {
            for (cw_server o = 0; o < 60; o++) {
                for (cw_link link = 0; link < CW_LINK_COUNT && live[o]; link++) {
                    uint16_t beside = want[torus_neighbour(&torus, o, link)];
                    want[o] = beside != WAYS_CUT_OFF && beside + 1 < want[o] ? (uint16_t)(beside + 1) : want[o];
                }
            }
        }
        for (cw_server o = 0; o < 60; o++) {
            SUITE_HOLDS(far[o] == want[o]);
            for (cw_link tree = 0; tree < CW_LINK_COUNT; tree++) {
                SUITE_HOLDS(climb(far, tree, o, used) == (want[o] == WAYS_CUT_OFF ? -1 : (int)want[o]));
            }
        }
        free(far);
    }
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(ways_are_shortest), SUITE_TEST(links_carry_the_same),
                                          SUITE_TEST(around_the_dead)};
SUITE_MAIN("ways", tests)
