/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/dense/frontier.h"

#include "suite.h"

static struct frontier f;

START_TEST(each_block_once)
{
    uint32_t block;
    ck_assert_int_eq(frontier_init(&f, 130), 0);
    for (uint32_t i = 0; i < 130; i++) {
        SUITE_HOLDS(frontier_next(&f, &block) && block == i); /* which changes nothing */
        SUITE_HOLDS(frontier_deal(&f, &block) && block == i);
    }
    ck_assert(!frontier_next(&f, &block) && !frontier_deal(&f, &block));
    for (uint32_t i = 0; i < 130; i++) {
        SUITE_HOLDS(!frontier_done(&f));
        frontier_settle(&f, 129 - i);
    }
    ck_assert(frontier_done(&f));
    ck_assert_uint_eq(f.dealt, 130);
    frontier_free(&f);
}
END_TEST

/* What was dealt and not settled is dealt again, and nothing else is. */
START_TEST(a_new_attempt)
{
    uint32_t block;
    ck_assert_int_eq(frontier_init(&f, 10), 0);
    for (uint32_t i = 0; i < 7; i++) {
        ck_assert(frontier_deal(&f, &block));
    }
    frontier_settle(&f, 0);
    frontier_settle(&f, 3);
    frontier_settle(&f, 6);
    ck_assert_uint_eq(f.again, 0);
    frontier_restart(&f, true);
    ck_assert_uint_eq(f.again, 4);
    static const uint32_t left[] = {1, 2, 4, 5, 7, 8, 9};
    for (unsigned i = 0; i < 7; i++) {
        ck_assert(frontier_deal(&f, &block) && block == left[i]);
    }
    ck_assert(!frontier_deal(&f, &block));
    ck_assert(frontier_has(&f, 3) && !frontier_has(&f, 4));
    frontier_restart(&f, false);
    ck_assert_uint_eq(f.again, 11);
    ck_assert(frontier_deal(&f, &block) && block == 0);
    ck_assert_uint_eq(f.settled, 0);
    frontier_free(&f);
}
END_TEST

START_TEST(nothing_to_do)
{
    uint32_t block;
    ck_assert_int_eq(frontier_init(&f, 0), 0);
    ck_assert(frontier_done(&f) && !frontier_deal(&f, &block));
    frontier_free(&f);
}
END_TEST

START_TEST(settled_twice)
{
    uint32_t block;
    ck_assert_int_eq(frontier_init(&f, 2), 0);
    ck_assert(frontier_deal(&f, &block));
    frontier_settle(&f, 0);
    frontier_settle(&f, 0);
}
END_TEST

START_TEST(settled_undealt)
{
    ck_assert_int_eq(frontier_init(&f, 2), 0);
    frontier_settle(&f, 1);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(each_block_once), SUITE_TEST(a_new_attempt),
                                          SUITE_TEST(nothing_to_do), SUITE_ABORTS(settled_twice),
                                          SUITE_ABORTS(settled_undealt)};
SUITE_MAIN("frontier", tests)
