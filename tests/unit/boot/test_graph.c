/* SPDX-License-Identifier: Apache-2.0 */
#include "boot/graph.h"
#include "suite.h"

START_TEST(cables)
{
    struct graph g;
    ck_assert_int_eq(graph_make(&g, 3), 0);
    ck_assert_uint_eq(graph_far(&g, 1, 4).server, GRAPH_NONE);
    graph_join(&g, (struct graph_end){0, 1}, (struct graph_end){2, 3});
    graph_join(&g, (struct graph_end){1, 5}, (struct graph_end){1, 0});
    ck_assert_uint_eq(graph_far(&g, 2, 3).server, 0);
    ck_assert_uint_eq(graph_far(&g, 2, 3).port, 1);
    ck_assert(graph_is_first(&g, 0, 1));
    ck_assert(!graph_is_first(&g, 2, 3));
    ck_assert(graph_is_first(&g, 1, 0));
    ck_assert(!graph_is_first(&g, 1, 5)); /* of a loop, one end too */
    ck_assert(!graph_is_first(&g, 0, 0));
    graph_cut(&g, (struct graph_end){2, 3});
    graph_cut(&g, (struct graph_end){2, 3});
    ck_assert_uint_eq(graph_far(&g, 0, 1).server, GRAPH_NONE);
    graph_free(&g);
}
END_TEST

START_TEST(steps_wrap)
{
    cw_dims dims = {3, 256, 1};
    ck_assert(coord_equal(coord_step(dims, (cw_coord){2, 0, 0}, CW_LINK_XP), (cw_coord){0, 0, 0}));
    ck_assert(coord_equal(coord_step(dims, (cw_coord){0, 0, 0}, CW_LINK_YM), (cw_coord){0, 255, 0}));
    ck_assert(coord_equal(coord_step(dims, (cw_coord){0, 255, 0}, CW_LINK_YP), (cw_coord){0, 0, 0}));
    ck_assert(coord_equal(coord_step(dims, (cw_coord){1, 7, 0}, CW_LINK_ZP), (cw_coord){1, 7, 0}));
    ck_assert_uint_eq(coord_cell(dims, (cw_coord){2, 255, 0}), 767);
    ck_assert_uint_eq(dims_servers(dims), 768);
}
END_TEST

START_TEST(digests_tell_solutions_apart)
{
    struct graph g;
    struct solution s;
    ck_assert_int_eq(graph_make(&g, 2), 0);
    ck_assert_int_eq(solution_make(&s, 2), 0);
    g.server[0].id = 1;
    g.server[1].id = 2;
    s.dims = (cw_dims){2, 1, 1};
    uint64_t first = solution_digest(&g, &s);
    ck_assert_uint_ne(first, 0);
    ck_assert_uint_eq(solution_digest(&g, &s), first);
    s.spot[1].at.x = 1;
    uint64_t second = solution_digest(&g, &s);
    s.spot[1].direction[3] = 2;
    uint64_t third = solution_digest(&g, &s);
    g.server[1].id = 3;
    ck_assert(first != second);
    ck_assert(second != third);
    ck_assert(third != solution_digest(&g, &s));
    solution_free(&s);
    graph_free(&g);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(cables),
    SUITE_TEST(steps_wrap),
    SUITE_TEST(digests_tell_solutions_apart),
};
SUITE_MAIN("graph", tests)
