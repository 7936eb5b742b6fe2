/* SPDX-License-Identifier: Apache-2.0 */
#include "rng.h"
#include "services/kvcache/data/holes.h"
#include "suite.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 600 };

static unsigned apart(unsigned a, unsigned b, unsigned length)
{
    unsigned d = a > b ? a - b : b - a;
    return d < length - d ? d : length - d;
}

static unsigned distance(cw_dims d, cw_server a, cw_server b)
{
    return apart(a % d.z, b % d.z, d.z) + apart(a / d.z % d.y, b / d.z % d.y, d.y) +
           apart(a / d.z / d.y, b / d.z / d.y, d.x);
}

/* The reach is one more than the longest distance. */
START_TEST(reach_is_beyond_the_farthest)
{
    for (unsigned i = 0; i < 8 * 8 * 8; i++) {
        cw_dims d = {(uint16_t)(1 + i / 64), (uint16_t)(1 + i / 8 % 8), (uint16_t)(1 + i % 8)};
        unsigned servers = (unsigned)d.x * d.y * d.z, farthest = 0;
        for (cw_server s = 0; s < servers; s++) {
            farthest = distance(d, 0, s) > farthest ? distance(d, 0, s) : farthest;
        }
        SUITE_HOLDS(holes_reach(d) == farthest + 1);
    }
}
END_TEST

START_TEST(reach_of_known_shapes)
{
    ck_assert_uint_eq(holes_reach((cw_dims){1, 1, 1}), 1);
    ck_assert_uint_eq(holes_reach((cw_dims){5, 1, 1}), 3);
    ck_assert_uint_eq(holes_reach((cw_dims){2, 2, 2}), 4);
    ck_assert_uint_eq(holes_reach((cw_dims){3, 3, 3}), 4);
    ck_assert_uint_eq(holes_reach((cw_dims){8, 8, 8}), 13);
    ck_assert_uint_eq(holes_reach((cw_dims){16, 16, 16}), 25);
}
END_TEST

/* Colours spread from server to neighbour until nothing changes: slow, and hardly to be got wrong. */
static uint32_t naive_largest(cw_dims d, const uint8_t *missing)
{
    unsigned servers = (unsigned)d.x * d.y * d.z;
    cw_server colour[MOST];
    uint32_t count[MOST] = {0}, largest = 0;
    for (cw_server s = 0; s < servers; s++) {
        colour[s] = s;
    }
    for (bool moved = true; moved;) {
        moved = false;
        for (cw_server a = 0; a < servers; a++) {
            for (cw_server b = 0; b < servers; b++) {
                if (missing[a] && missing[b] && distance(d, a, b) == 1 && colour[b] < colour[a]) {
                    colour[a] = colour[b];
                    moved = true;
                }
            }
        }
    }
    for (cw_server s = 0; s < servers; s++) {
        count[colour[s]] += missing[s];
        largest = count[colour[s]] > largest ? count[colour[s]] : largest;
    }
    return largest;
}

START_TEST(largest_of_random_holes)
{
    struct rng rng = {672};
    for (unsigned i = 0; i < 2000; i++) {
        cw_dims d = {(uint16_t)(1 + rng_below(&rng, 5)), (uint16_t)(1 + rng_below(&rng, 5)),
                     (uint16_t)(1 + rng_below(&rng, 5))};
        unsigned servers = (unsigned)d.x * d.y * d.z;
        uint64_t share = rng_below(&rng, 101);
        uint8_t missing[MOST] = {0};
        cw_server order[MOST];
        for (cw_server s = 0; s < servers; s++) {
            missing[s] = rng_below(&rng, 100) < share;
        }
        uint32_t naive = naive_largest(d, missing);
        SUITE_HOLDS(holes_largest(d, missing, order) == naive);
    }
}
END_TEST

START_TEST(nobody_is_missing)
{
    uint8_t missing[8] = {0};
    cw_server order[8];
    ck_assert_uint_eq(holes_largest((cw_dims){2, 2, 2}, missing, order), 0);
    memset(missing, 1, sizeof missing);
    ck_assert_uint_eq(holes_largest((cw_dims){2, 2, 2}, missing, order), 8);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(reach_is_beyond_the_farthest), SUITE_TEST(reach_of_known_shapes),
                                          SUITE_TEST(largest_of_random_holes), SUITE_TEST(nobody_is_missing)};
SUITE_MAIN("holes", tests)
