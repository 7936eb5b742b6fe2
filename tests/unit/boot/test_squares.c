/* SPDX-License-Identifier: Apache-2.0 */
#include "boot/squares.h"
#include "suite.h"
#include "yard.h"

#include <errno.h>
#include <string.h>

START_TEST(squares_beside_a_cable)
{
    static const struct {
        cw_dims dims;
        unsigned squares;
    } expected[] = {{{5, 6, 3}, 4}, {{4, 4, 4}, 5}, {{3, 3, 1}, 2}, {{7, 1, 1}, 0}, {{4, 1, 1}, 1}, {{2, 3, 3}, 4}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        struct yard y = yard_make_plain(expected[i].dims, false);
        for (uint32_t s = 0; s < y.g.count; s++) {
            for (unsigned port = 0; port < CW_LINK_COUNT; port++) {
                if (graph_far(&y.g, s, port).server != GRAPH_NONE) {
                    ck_assert_uint_eq(squares_count(&y.g, s, port), expected[i].squares);
                }
            }
        }
        yard_free(&y);
    }
}
END_TEST

/* Directions are right when opposite ends differ in sign only, and steps along an axis commute. */
START_TEST(directions_of_shuffled_ports)
{
    struct rng r = {1};
    for (unsigned i = 0; i < 200; i++) {
        unsigned length[CW_AXES];
        for (unsigned axis = 0; axis < CW_AXES; axis++) {
            length[axis] = 2 + (unsigned)rng_below(&r, 5);
        }
        struct yard y = yard_make(dims_of(length), false, &r);
        struct solution s;
        ck_assert_int_eq(solution_make(&s, y.g.count), 0);
        ck_assert_int_eq(squares_directions(&y.g, NULL, &s), 0);
        for (uint32_t u = 0; u < y.g.count; u++) {
            unsigned used = 0;
            for (unsigned port = 0; port < CW_LINK_COUNT; port++) {
                struct graph_end far = graph_far(&y.g, u, port);
                ck_assert_uint_lt(s.spot[u].direction[port], CW_LINK_COUNT);
                ck_assert_uint_eq(s.spot[u].direction[port] ^ 1, s.spot[far.server].direction[far.port]);
                used |= 1u << s.spot[u].direction[port];
            }
            ck_assert_uint_eq(used, CW_LINKS_ALL);
        }
        solution_free(&s);
        yard_free(&y);
    }
}
END_TEST

/* A cable that leads elsewhere and is left out gets the direction that is left over. */
START_TEST(doubtful_cables_are_left_out)
{
    struct rng r = {2};
    struct yard y = yard_make((cw_dims){5, 6, 7}, false, &r);
    struct graph_end a = {10, 0}, b = {20, 1};
    yard_swap(&y, a, b);
    uint8_t *doubtful = calloc(y.g.count, CW_LINK_COUNT);
    struct graph_end ends[] = {a, b, graph_far(&y.g, a.server, a.port), graph_far(&y.g, b.server, b.port)};
    for (unsigned i = 0; i < 4; i++) {
        doubtful[ends[i].server * CW_LINK_COUNT + ends[i].port] = 1;
    }
    struct solution s;
    ck_assert_int_eq(solution_make(&s, y.g.count), 0);
    ck_assert_int_eq(squares_directions(&y.g, doubtful, &s), 0);
    for (unsigned i = 0; i < 4; i++) {
        ck_assert_uint_lt(s.spot[ends[i].server].direction[ends[i].port], CW_LINK_COUNT);
    }
    free(doubtful);
    solution_free(&s);
    yard_free(&y);
}
END_TEST

START_TEST(no_axes_in_a_heap_of_cables)
{
    struct rng r = {3};
    for (unsigned run = 0; run < 30; run++) {
        struct yard y = yard_make((cw_dims){4, 5, 5}, false, &r);
        for (unsigned i = 0; i < 400; i++) {
            struct graph_end a = yard_end(&y, &r), b = yard_end(&y, &r), far = graph_far(&y.g, a.server, a.port);
            if (memcmp(&a, &b, sizeof a) != 0 && (b.server != far.server || b.port != far.port)) {
                yard_swap(&y, a, b);
            }
        }
        struct solution s;
        ck_assert_int_eq(solution_make(&s, y.g.count), 0);
        ck_assert_int_eq(squares_directions(&y.g, NULL, &s), -EDOM);
        solution_free(&s);
        yard_free(&y);
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(squares_beside_a_cable),
    SUITE_TEST(directions_of_shuffled_ports),
    SUITE_TEST(doubtful_cables_are_left_out),
    SUITE_TEST(no_axes_in_a_heap_of_cables),
};
SUITE_MAIN("squares", tests)
