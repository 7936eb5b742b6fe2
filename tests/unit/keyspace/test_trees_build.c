/* SPDX-License-Identifier: Apache-2.0 */
#include "keyspace/trees_build.h"
#include "suite.h"
#include "trees_check.h"

#include <string.h>

/* Every shape in every axis order; the orders of the same sizes are equally deep. */
START_TEST(valid_for_every_shape_up_to_6)
{
    struct trees_extent sorted[7][7][7] = {0};
    for (unsigned shape = 1; shape < 6 * 6 * 6; shape++) {
        unsigned s[3] = {1 + shape / 36, 1 + shape / 6 % 6, 1 + shape % 6};
        struct torus torus;
        struct trees *trees = open_trees(&torus, s[0], s[1], s[2]);
        check_lookups(&torus, trees);
        unsigned low = s[0] < s[1] ? s[0] : s[1], high = s[0] < s[1] ? s[1] : s[0];
        low = s[2] < low ? s[2] : low;
        high = s[2] > high ? s[2] : high;
        struct trees_extent now = trees_extent(trees), *known = &sorted[low][s[0] + s[1] + s[2] - low - high][high];
        if (known->max == 0) {
            *known = now;
        }
        ck_assert_uint_eq(now.max, known->max);
        ck_assert_uint_eq(now.total, known->total);
        trees_close(trees);
    }
}
END_TEST

START_TEST(valid_for_large_and_long_shapes)
{
    const unsigned shapes[][3] = {{16, 16, 16}, {1, 1, 256}, {2, 2, 256}, {256, 3, 1}, {64, 1, 16}, {9, 11, 2}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct torus torus;
        struct trees *trees = open_trees(&torus, shapes[i][0], shapes[i][1], shapes[i][2]);
        check_lookups(&torus, trees);
        trees_close(trees);
    }
}
END_TEST

/* The depths that docs/trees.md promises: max, and total over all trees. A change that loses depth shows here. */
START_TEST(as_shallow_as_promised)
{
    const struct {
        unsigned dim[3], max;
        double mean;
    } rows[] = {
        {{3, 3, 3}, 4, 79.0 / 26}, {{4, 4, 4}, 7, 4.0318},    {{5, 5, 5}, 8, 4.8227},   {{6, 6, 6}, 10, 5.864},
        {{7, 7, 7}, 11, 6.674},    {{8, 8, 8}, 13, 7.56},     {{3, 4, 5}, 7, 3.9662},   {{2, 3, 4}, 5, 3.3334},
        {{2, 2, 2}, 4, 2.5715},    {{1, 4, 4}, 5, 3.0667},    {{1, 1, 5}, 4, 2.5},      {{1, 5, 5}, 6, 3.6667},
        {{3, 3, 5}, 6, 3.6364},    {{16, 16, 16}, 25, 13.86}, {{4, 4, 256}, 134, 68.0}, {{1, 1, 256}, 255, 128.0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct torus torus;
        struct trees *trees = open_trees(&torus, rows[i].dim[0], rows[i].dim[1], rows[i].dim[2]);
        struct trees_extent extent = trees_extent(trees);
        double mean = (double)extent.total / (__builtin_popcount(trees_all(trees)) * (double)(torus.servers - 1));
        if (extent.max > rows[i].max || mean > rows[i].mean + 5e-5) {
            ck_abort_msg("%ux%ux%u: max %u mean %.5f", torus.dim[0], torus.dim[1], torus.dim[2], extent.max, mean);
        }
        trees_close(trees);
    }
}
END_TEST

/* Facts of 3x3x3: optimal in both measures, and no server lost costs another server more than one of its six trees. */
START_TEST(loses_one_tree_at_most_at_3x3x3)
{
    struct torus torus;
    struct trees *trees = open_trees(&torus, 3, 3, 3);
    ck_assert_uint_eq(trees_extent(trees).max, 4);
    ck_assert_uint_eq(trees_extent(trees).total, 6 * 79);
    unsigned pairs[CW_LINK_COUNT + 1] = {0};
    for (cw_server failed = 1; failed < 27; failed++) {
        for (cw_server other = 1; other < 27; other++) {
            unsigned lost = 0;
            for (unsigned tree = 0; tree < CW_LINK_COUNT && other != failed; tree++) {
                cw_server at = other;
                while (at != 0 && at != failed) {
                    at = torus_neighbour(&torus, at, trees_parent(trees, (cw_link)tree, at));
                }
                lost += at == failed;
            }
            pairs[lost] += other != failed;
        }
    }
    ck_assert_uint_eq(pairs[0], 332);
    ck_assert_uint_eq(pairs[1], 318);
    trees_close(trees);
}
END_TEST

START_TEST(builds_the_same_table_again)
{
    struct torus torus;
    ck_assert_int_eq(torus_init(&torus, (cw_dims){5, 4, 6}), 0);
    size_t bytes = (size_t)torus.servers * CW_LINK_COUNT * sizeof(struct trees_cell);
    struct trees_cell *first = calloc(1, bytes), *second = calloc(1, bytes);
    ck_assert_int_eq(trees_build(&torus, first), 0);
    free(malloc(12345)); /* other addresses for the second */
    ck_assert_int_eq(trees_build(&torus, second), 0);
    ck_assert_int_eq(memcmp(first, second, bytes), 0);
    free(first);
    free(second);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(valid_for_every_shape_up_to_6), SUITE_TEST(valid_for_large_and_long_shapes),
    SUITE_TEST(as_shallow_as_promised),        SUITE_TEST(loses_one_tree_at_most_at_3x3x3),
    SUITE_TEST(builds_the_same_table_again),
};
SUITE_MAIN("trees_build", tests)
