/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/query/spread.h"

#include "base/prng.h"
#include "suite.h"

#include <string.h>

enum { MOST = 125, WORDS = 2, FAR = 1000 };

static struct torus torus;
static uint64_t dead[WORDS], members[WORDS];
static struct spread t;

static bool has(const uint64_t *set, cw_server s)
{
    return (set[s / 64] >> s % 64 & 1) != 0;
}

static void draw(struct prng *random, uint64_t *set, unsigned of_ten)
{
    memset(set, 0, WORDS * sizeof *set);
    for (cw_server s = 0; s < torus.servers; s++) {
        set[s / 64] |= (uint64_t)(prng_below(random, 10) < of_ten) << s % 64;
    }
}

/* Distances by repeating until nothing changes, and not by a queue. */
static void naive(cw_server asker, unsigned out[MOST])
{
    for (cw_server s = 0; s < torus.servers; s++) {
        out[s] = s == asker ? 0 : FAR;
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (cw_server s = 0; s < torus.servers; s++) {
            for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
                unsigned near = out[torus_neighbour(&torus, s, link)];
                if (!has(dead, s) && near + 1 < out[s]) {
                    out[s] = near + 1;
                    changed = true;
                }
            }
        }
    }
}

static void judge(cw_server asker)
{
    unsigned right[MOST], furthest[MOST] = {0};
    bool needed[MOST] = {false};
    naive(asker, right);
    for (cw_server s = 0; s < torus.servers; s++) {
        SUITE_HOLDS(t.distance[s] == (right[s] == FAR ? SPREAD_NONE : right[s]));
        SUITE_HOLDS((t.parent[s] == CW_SERVER_NONE) == (s == asker || right[s] == FAR));
        SUITE_HOLDS(t.parent[s] == CW_SERVER_NONE ||
                    (torus_distance(&torus, s, t.parent[s]) == 1 && right[t.parent[s]] + 1 == right[s]));
        for (cw_server at = s; has(members, s) && right[s] != FAR; at = t.parent[at]) {
            needed[at] = true;
            furthest[at] = right[s] - right[at] > furthest[at] ? right[s] - right[at] : furthest[at];
            if (at == asker) {
                break;
            }
        }
    }
    for (cw_server s = 0; s < torus.servers; s++) {
        SUITE_HOLDS(t.needed[s] == needed[s], "server %u", s);
        SUITE_HOLDS(t.height[s] == furthest[s], "server %u", s);
    }
}

START_TEST(shortest_ways_between_those_that_live)
{
    static const cw_dims shapes[] = {{1, 1, 1}, {2, 1, 1}, {3, 3, 3}, {2, 3, 4}, {5, 5, 5}, {1, 7, 2}};
    struct prng random = prng_stream(3, 0, 4);
    for (unsigned turn = 0; turn < 120; turn++) {
        ck_assert_int_eq(torus_init(&torus, shapes[turn % 6]), 0);
        ck_assert_int_eq(spread_open(&t, torus.servers), 0);
        cw_server asker = (cw_server)prng_below(&random, torus.servers);
        draw(&random, dead, turn / 6 % 5);
        draw(&random, members, turn < 60 ? 10 : 3);
        dead[asker / 64] &= ~(UINT64_C(1) << asker % 64);
        spread_make(&t, &torus, asker, dead, members);
        judge(asker);
        spread_close(&t);
    }
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(shortest_ways_between_those_that_live)};
SUITE_MAIN("spread", tests)
