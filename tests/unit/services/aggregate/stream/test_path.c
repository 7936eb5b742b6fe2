/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/stream/path.h"

#include "sanitized.h"
#include "suite.h"

static struct torus torus;
static struct path_question q;

/* A torus of x by y by z, all of whose servers have 1,000 keys, of which all together have so many. */
static bool shortest(cw_dims dims, unsigned roots, uint64_t keys)
{
    struct trees *trees;
    ck_assert_int_eq(torus_init(&torus, dims), 0);
    ck_assert_int_eq(trees_open(&trees, &torus), 0);
    q = (struct path_question){&torus, trees_extent(trees), torus.servers, roots, keys, UINT64_C(1000) * torus.servers};
    trees_close(trees);
    enum letter_way way = path_choose(&q);
    ck_assert(way == LETTER_TREES || way == LETTER_SHORT); /* never straight to the roots */
    return way == LETTER_SHORT;
}

START_TEST(equal_keys_go_over_disjoint_trees)
{
    for (unsigned roots = 1; roots <= 27; roots++) {
        ck_assert(!shortest((cw_dims){3, 3, 3}, roots, 1000));
    }
}
END_TEST

START_TEST(unlike_keys_go_the_shortest_way)
{
    ck_assert(shortest((cw_dims){3, 3, 3}, 27, 27000));
    ck_assert(shortest((cw_dims){3, 3, 3}, 27, 5000));
    ck_assert(shortest((cw_dims){3, 3, 1}, 9, 9000));
    ck_assert(shortest((cw_dims){8, 8, 8}, 512, 512000));
    ck_assert(!shortest((cw_dims){3, 3, 3}, 1, 27000)); /* its links bring as much either way */
    ck_assert(!shortest((cw_dims){3, 3, 3}, 2, 27000));
}
END_TEST

/* The more keys are unlike, and the more roots there are, the better: there is one border. */
START_TEST(between_them_is_a_border)
{
    bool before = false;
    for (uint64_t keys = 1000; keys <= 27000; keys += SANITIZED ? 100 : 10) {
        bool now = shortest((cw_dims){3, 3, 3}, 27, keys);
        ck_assert(now || !before);
        before = now;
    }
    ck_assert(before);
    before = false;
    for (unsigned roots = 1; roots <= 27; roots++) {
        bool now = shortest((cw_dims){3, 3, 3}, roots, 20000);
        ck_assert(now || !before);
        before = now;
    }
    ck_assert(before);
}
END_TEST

START_TEST(nothing_to_decide)
{
    ck_assert(!shortest((cw_dims){1, 1, 1}, 1, 1000));
    ck_assert(!shortest((cw_dims){3, 3, 3}, 27, 0));
    q.keys_of_each = 0;
    ck_assert(path_choose(&q) == LETTER_TREES);
    q.keys_of_each = 1000;
    q.keys = 5000; /* counts are estimates */
    (void)path_choose(&q);
    q.members = 1;
    ck_assert(path_choose(&q) == LETTER_TREES);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(equal_keys_go_over_disjoint_trees),
                                          SUITE_TEST(unlike_keys_go_the_shortest_way),
                                          SUITE_TEST(between_them_is_a_border), SUITE_TEST(nothing_to_decide)};
SUITE_MAIN("path", tests)
