/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/stream/path.h"

#include "sanitized.h"
#include "suite.h"

static struct torus torus;
static struct path_question q;

/* A torus of x by y by z, all of whose servers have 1,000 keys, of which all together have so many. */
static bool direct(cw_dims dims, unsigned roots, uint64_t keys)
{
    struct trees *trees;
    ck_assert_int_eq(torus_init(&torus, dims), 0);
    ck_assert_int_eq(trees_open(&trees, &torus), 0);
    q = (struct path_question){&torus, trees_extent(trees), torus.servers, roots, keys, UINT64_C(1000) * torus.servers};
    trees_close(trees);
    return path_is_direct(&q);
}

START_TEST(equal_keys_go_over_trees)
{
    for (unsigned roots = 1; roots <= 27; roots++) {
        ck_assert(!direct((cw_dims){3, 3, 3}, roots, 1000));
        ck_assert(!direct((cw_dims){3, 3, 3}, roots, 3000));
    }
}
END_TEST

START_TEST(unlike_keys_go_past_them)
{
    ck_assert(direct((cw_dims){3, 3, 3}, 27, 27000));
    ck_assert(direct((cw_dims){3, 3, 3}, 27, 26500));
    ck_assert(direct((cw_dims){3, 3, 1}, 9, 9000));
    ck_assert(!direct((cw_dims){3, 3, 3}, 1, 27000)); /* its links bring as much either way */
    ck_assert(!direct((cw_dims){3, 3, 3}, 2, 27000));
    ck_assert(!direct((cw_dims){8, 8, 8}, 512, 512000)); /* trees are not so much deeper than it is far */
}
END_TEST

/* By arithmetic alone trees would win up to S = 0.55 at 27 servers; links carry less past them. */
START_TEST(between_them_is_a_border)
{
    uint64_t border = 0;
    for (uint64_t keys = 1000; keys <= 27000; keys += SANITIZED ? 100 : 10) {
        bool now = direct((cw_dims){3, 3, 3}, 27, keys);
        border = border == 0 && now ? keys : border;
        ck_assert(now == (border != 0)); /* there is one */
    }
    ck_assert(border > 27000 / 100 * 92 && border < 27000 / 100 * 96);
}
END_TEST

START_TEST(nothing_to_decide)
{
    ck_assert(!direct((cw_dims){1, 1, 1}, 1, 1000));
    ck_assert(!direct((cw_dims){3, 3, 3}, 27, 0));
    q.keys_of_each = 0;
    ck_assert(!path_is_direct(&q));
    q.keys_of_each = 1000;
    q.keys = 5000; /* counts are estimates */
    (void)path_is_direct(&q);
    q.members = 1;
    ck_assert(!path_is_direct(&q));
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(equal_keys_go_over_trees), SUITE_TEST(unlike_keys_go_past_them),
                                          SUITE_TEST(between_them_is_a_border), SUITE_TEST(nothing_to_decide)};
SUITE_MAIN("path", tests)
