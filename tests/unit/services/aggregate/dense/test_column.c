/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/dense/column.h"

#include "suite.h"

#include <errno.h>

enum { LEFT = 0, RIGHT = 3, WINDOW = 4, AHEAD = 8 };
static struct column c;

static void setup(cw_links children)
{
    ck_assert_int_eq(column_init(&c, children, WINDOW, AHEAD, 16), 0);
}

static void deal(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        ck_assert_int_eq(column_deal(&c, 100 + c.dealt), 0);
    }
}

static uint32_t next(void)
{
    uint32_t position = UINT32_MAX;
    return column_ready(&c, false, &position) ? position : UINT32_MAX;
}

/* A child's part begins, and is whole at once. */
static int take(uint32_t position, cw_link child)
{
    int rc = column_begin(&c, position, child);
    if (rc == 0) {
        column_take(&c, position, child);
    }
    return rc;
}

/* Lends and passes what is ready. */
static uint32_t pass_next(void)
{
    uint32_t position = next();
    column_lend(&c, position);
    (void)column_pass(&c, position);
    return position;
}

START_TEST(a_leaf)
{
    setup(0);
    ck_assert_uint_eq(next(), UINT32_MAX);
    deal(3);
    ck_assert_uint_eq(pass_next(), 0);
    ck_assert_uint_eq(pass_next(), 1);
    ck_assert_uint_eq(column_block(&c, 2), 102);
    ck_assert(!column_idle(&c));
    ck_assert_uint_eq(pass_next(), 2);
    ck_assert(column_idle(&c));
    column_free(&c);
}
END_TEST

START_TEST(children_once_each)
{
    setup(1 << LEFT | 1 << RIGHT);
    ck_assert_int_eq(take(0, LEFT), -EPROTO); /* not dealt */
    deal(2);
    ck_assert_int_eq(take(0, 1), -EPROTO);
    ck_assert_int_eq(take(0, CW_LINK_SELF), -EPROTO);
    ck_assert_int_eq(take(2, LEFT), -EPROTO);
    ck_assert_int_eq(take(1, LEFT), 0);
    ck_assert_int_eq(take(1, LEFT), -EALREADY);
    ck_assert_uint_eq(next(), UINT32_MAX);
    ck_assert_int_eq(take(1, RIGHT), 0);
    ck_assert_uint_eq(next(), 1);
    column_free(&c);
}
END_TEST

/* What all children have brought may leave before the rest; one that is whole goes first. */
START_TEST(early)
{
    uint32_t position;
    setup(1 << LEFT | 1 << RIGHT);
    deal(3);
    ck_assert_int_eq(column_begin(&c, 0, LEFT), 0);
    ck_assert_int_eq(column_begin(&c, 0, LEFT), -EALREADY);
    ck_assert_int_eq(column_begin(&c, 0, RIGHT), 0);
    column_slot(&c, 0)->came[LEFT] = 12;
    ck_assert_uint_eq(column_common(&c, 0), 0);
    ck_assert(!column_ready(&c, true, &position));
    column_slot(&c, 0)->came[RIGHT] = 8;
    ck_assert_uint_eq(column_common(&c, 0), 8);
    ck_assert_uint_eq(next(), UINT32_MAX);
    ck_assert(column_ready(&c, true, &position));
    ck_assert_uint_eq(position, 0);
    ck_assert_int_eq(take(1, LEFT), 0);
    ck_assert_int_eq(take(1, RIGHT), 0);
    ck_assert(column_ready(&c, true, &position));
    ck_assert_uint_eq(position, 1);
    column_lend(&c, 0);
    column_take(&c, 0, LEFT);
    column_take(&c, 0, RIGHT);
    ck_assert_int_eq(column_slot(&c, 0)->state, COLUMN_LENT); /* it was not whole when it was lent, and stays lent */
    ck_assert(column_pass(&c, 0));
    ck_assert_uint_eq(column_slot(&c, WINDOW)->came[LEFT], 0);
    column_free(&c);
}
END_TEST

/* Positions may be passed in any order; the base follows when those before it are. */
START_TEST(base)
{
    setup(1 << LEFT);
    deal(3);
    for (uint32_t p = 0; p < 3; p++) {
        ck_assert_int_eq(take(p, LEFT), 0);
        column_lend(&c, p);
    }
    ck_assert(!column_pass(&c, 1));
    ck_assert_int_eq(take(1, LEFT), -EALREADY);
    ck_assert(column_pass(&c, 0));
    ck_assert_uint_eq(c.base, 2);
    ck_assert_int_eq(take(0, LEFT), -EPROTO);
    ck_assert(column_pass(&c, 2));
    ck_assert(column_idle(&c));
    column_free(&c);
}
END_TEST

START_TEST(window)
{
    setup(1 << LEFT);
    deal(AHEAD);
    ck_assert(!column_room(&c));
    ck_assert_int_eq(column_deal(&c, 7), -EPROTO);
    ck_assert_int_eq(take(WINDOW - 1, LEFT), 0);
    ck_assert_int_eq(take(WINDOW, LEFT), -EPROTO);
    ck_assert_int_eq(take(0, LEFT), 0);
    column_lend(&c, 0);
    ck_assert(column_pass(&c, 0));
    ck_assert_int_eq(take(WINDOW, LEFT), 0);
    ck_assert(column_memory(&c, WINDOW) == column_memory(&c, 0));
    ck_assert(column_room(&c));
    column_free(&c);
}
END_TEST

START_TEST(credit)
{
    setup(0);
    deal(AHEAD);
    for (uint32_t p = 0; p < WINDOW; p++) {
        ck_assert_uint_eq(pass_next(), p);
    }
    ck_assert_uint_eq(next(), UINT32_MAX); /* the parent has passed none of them */
    column_credit(&c, 1);
    column_credit(&c, 0); /* came late */
    ck_assert_uint_eq(pass_next(), WINDOW);
    ck_assert_uint_eq(next(), UINT32_MAX);
    column_credit(&c, UINT32_MAX);
    ck_assert_uint_eq(pass_next(), WINDOW + 1);
    column_free(&c);
}
END_TEST

START_TEST(no_memory)
{
    ck_assert_int_eq(column_init(&c, 0, 1, 1, 0), 0);
    ck_assert(column_memory(&c, 0) == NULL);
    ck_assert_uint_eq(column_cost(8, 16, 65536) / 65536, 8);
    column_free(&c);
}
END_TEST

START_TEST(lent_twice)
{
    setup(0);
    deal(1);
    column_lend(&c, 0);
    column_lend(&c, 0);
}
END_TEST

START_TEST(passed_unlent)
{
    setup(0);
    deal(1);
    (void)column_pass(&c, 0);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(a_leaf),         SUITE_TEST(children_once_each),
                                          SUITE_TEST(early),          SUITE_TEST(base),
                                          SUITE_TEST(window),         SUITE_TEST(credit),
                                          SUITE_TEST(no_memory),      SUITE_ABORTS(lent_twice),
                                          SUITE_ABORTS(passed_unlent)};
SUITE_MAIN("column", tests)
