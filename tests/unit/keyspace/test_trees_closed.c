/* SPDX-License-Identifier: Apache-2.0 */
#include "keyspace/trees.h"
#include "rng.h"
#include "suite.h"
#include "trees_check.h"

static struct torus torus_of(unsigned x, unsigned y, unsigned z)
{
    struct torus torus;
    ck_assert_int_eq(torus_init(&torus, (cw_dims){(uint16_t)x, (uint16_t)y, (uint16_t)z}), 0);
    return torus;
}

static void check_closed(const struct torus *torus)
{
    uint8_t *parent = malloc((size_t)torus->servers * CW_LINK_COUNT);
    ck_assert_ptr_nonnull(parent);
    for (cw_server v = 0; v < torus->servers; v++) {
        for (unsigned tree = 0; tree < CW_LINK_COUNT; tree++) {
            if (torus->dim[tree / 2] > 1) {
                parent[v * CW_LINK_COUNT + tree] = trees_closed_parent(torus, (cw_link)tree, v);
            }
        }
    }
    struct trees_extent walked = check_trees(torus, parent), said = trees_closed_extent(torus);
    ck_assert_uint_eq(walked.max, said.max);
    ck_assert_uint_eq(walked.total, said.total);
    free(parent);
}

START_TEST(valid_for_every_shape_up_to_6)
{
    for (unsigned shape = 0; shape < 6 * 6 * 6; shape++) {
        struct torus torus = torus_of(1 + shape / 36, 1 + shape / 6 % 6, 1 + shape % 6);
        check_closed(&torus);
    }
}
END_TEST

START_TEST(valid_for_large_and_long_shapes)
{
    const unsigned shapes[][3] = {{8, 8, 8}, {16, 16, 16}, {1, 1, 256}, {256, 2, 2}, {1, 64, 64}, {3, 1, 100}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct torus torus = torus_of(shapes[i][0], shapes[i][1], shapes[i][2]);
        check_closed(&torus);
    }
}
END_TEST

/* One vertex, all that can be said locally: bijection, depth grows by one from the parent, children are the inverse. */
static void check_vertex(const struct torus *torus, cw_server v)
{
    unsigned entered = 0;
    for (unsigned tree = 0; tree < CW_LINK_COUNT; tree++) {
        cw_link up = trees_closed_parent(torus, (cw_link)tree, v);
        if (v != 0) {
            cw_server parent = torus_neighbour(torus, v, up);
            entered |= 1u << up;
            ck_assert_uint_eq(trees_closed_depth(torus, (cw_link)tree, v),
                              trees_closed_depth(torus, (cw_link)tree, parent) + 1);
            ck_assert_uint_ne(trees_closed_children(torus, (cw_link)tree, parent) & 1u << (up ^ 1), 0);
        }
        for (unsigned set = trees_closed_children(torus, (cw_link)tree, v); set != 0; set &= set - 1) {
            cw_link link = (cw_link)__builtin_ctz(set);
            cw_server child = torus_neighbour(torus, v, link);
            ck_assert_uint_ne(child, 0);
            ck_assert_uint_eq(trees_closed_parent(torus, (cw_link)tree, child), cw_link_opposite(link));
        }
    }
    ck_assert_uint_eq(entered, v == 0 ? 0 : CW_LINKS_ALL);
}

/* 2^24 servers are sampled. A depth that falls by one at every parent and is 0 at the root alone: climbs end. */
START_TEST(valid_where_there_is_no_table)
{
    struct torus torus = torus_of(256, 256, 256);
    struct rng random = {7};
    check_vertex(&torus, 0);
    for (int i = 0; i < 20000; i++) {
        cw_server v = (cw_server)rng_below(&random, torus.servers);
        check_vertex(&torus, v);
        ck_assert_uint_ge(trees_closed_depth(&torus, CW_LINK_XP, v), v != 0);
    }
    ck_assert_uint_eq(trees_closed_extent(&torus).max, 1 + 3 * 255);
}
END_TEST

START_TEST(extent_of_the_paper_shapes)
{
    struct torus torus = torus_of(3, 3, 3);
    ck_assert_uint_eq(trees_closed_extent(&torus).max, 7);
    ck_assert_uint_eq(trees_closed_extent(&torus).total, 6 * 105); /* mean 4.038 */
    torus = torus_of(16, 16, 16);
    ck_assert_uint_eq(trees_closed_extent(&torus).max, 46);
    torus = torus_of(1, 1, 1);
    ck_assert_uint_eq(trees_closed_extent(&torus).max, 0);
    ck_assert_uint_eq(trees_closed_extent(&torus).total, 0);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(valid_for_every_shape_up_to_6),
    SUITE_TEST(valid_for_large_and_long_shapes),
    SUITE_TEST(valid_where_there_is_no_table),
    SUITE_TEST(extent_of_the_paper_shapes),
};
SUITE_MAIN("trees_closed", tests)
