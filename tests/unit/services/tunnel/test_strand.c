/* SPDX-License-Identifier: Apache-2.0 */
#include "services/tunnel/strand.h"

#include "suite.h"

enum { LIFE = 7, BASE = 1000 };

static struct strand s;
static int pieces[2000];
static cw_span late;
static cw_time now = {1000000};

static enum strand_fate take_of(uint16_t life, uint32_t number)
{
    return strand_take(&s, life, number, &pieces[number % 2000], 100, now, &late);
}

static enum strand_fate take(uint32_t number)
{
    return take_of(LIFE, number);
}

static void begin(void)
{
    ck_assert_int_eq(take(BASE), STRAND_BORN);
    strand_renew(&s, LIFE);
    ck_assert_int_eq(take(BASE), STRAND_LEAVES);
}

static bool pulls(uint32_t number)
{
    return strand_pull(&s) == &pieces[number % 2000];
}

START_TEST(in_order)
{
    begin();
    for (unsigned i = 1; i < 2000; i++) {
        SUITE_HOLDS(take(BASE + i) == STRAND_LEAVES && strand_pull(&s) == NULL && s.room == NULL);
    }
    strand_skip(&s);
    ck_assert_uint_eq(s.next, BASE + 2000);
}
END_TEST

START_TEST(hole_is_filled)
{
    begin();
    ck_assert_int_eq(take(BASE + 3), STRAND_WAITS);
    now = cw_time_add(now, CW_US(10));
    ck_assert_int_eq(take(BASE + 2), STRAND_WAITS);
    ck_assert_int_eq(take(BASE + 3), STRAND_DOUBLE);
    ck_assert_uint_eq(s.bytes, 200);
    ck_assert_int_eq(strand_waits_since(&s).ns, now.ns - CW_US(10).ns); /* of 3, although 2 is the first now */
    ck_assert_ptr_null(strand_pull(&s));
    now = cw_time_add(now, CW_US(5));
    ck_assert_int_eq(take(BASE + 1), STRAND_FILLS);
    ck_assert_int_eq(late.ns, CW_US(15).ns);
    ck_assert(pulls(BASE + 2) && pulls(BASE + 3) && strand_pull(&s) == NULL);
    ck_assert(s.room == NULL && s.bytes == 0 && s.waiting == 0);
    ck_assert_int_eq(strand_waits_since(&s).ns, CW_NEVER.ns);
    ck_assert_int_eq(take(BASE + 2), STRAND_DOUBLE);
    ck_assert_int_eq(take(BASE + 4), STRAND_LEAVES);
}
END_TEST

START_TEST(hole_is_given_up)
{
    begin();
    ck_assert_int_eq(take(BASE + 3), STRAND_WAITS);
    now = cw_time_add(now, CW_US(30));
    strand_skip(&s);
    ck_assert(pulls(BASE + 3) && strand_pull(&s) == NULL);
    ck_assert_int_eq(take(BASE + 4), STRAND_LEAVES);
    ck_assert_int_eq(take(BASE + 1), STRAND_LATE);
    ck_assert_int_eq(late.ns, CW_US(30).ns);
    ck_assert_int_eq(take(BASE + 1), STRAND_DOUBLE);
    ck_assert_int_eq(take(BASE + 2), STRAND_LATE);
    ck_assert_int_eq(take(BASE + 3), STRAND_DOUBLE);
    ck_assert_int_eq(take(BASE - 1), STRAND_LATE); /* from before the beginning */
    ck_assert_int_eq(late.ns, 0);
    ck_assert_int_eq(take(BASE + 5), STRAND_LEAVES);
}
END_TEST

START_TEST(several_holes)
{
    begin();
    ck_assert_int_eq(take(BASE + 2), STRAND_WAITS);
    now = cw_time_add(now, CW_US(1));
    ck_assert_int_eq(take(BASE + 6), STRAND_WAITS);
    ck_assert_int_eq(take(BASE + 5), STRAND_WAITS);
    ck_assert_int_eq(strand_waits_since(&s).ns, now.ns - CW_US(1).ns);
    strand_skip(&s);
    ck_assert(pulls(BASE + 2) && strand_pull(&s) == NULL);
    ck_assert_uint_eq(s.first, BASE + 5);
    ck_assert_int_eq(strand_waits_since(&s).ns, now.ns);
    ck_assert_int_eq(take(BASE + 3), STRAND_FILLS);
    ck_assert_ptr_null(strand_pull(&s));
    ck_assert_int_eq(take(BASE + 4), STRAND_FILLS);
    ck_assert(pulls(BASE + 5) && pulls(BASE + 6) && strand_pull(&s) == NULL);
}
END_TEST

START_TEST(far_ahead)
{
    begin();
    ck_assert_int_eq(take(BASE + STRAND_WINDOW), STRAND_WAITS);
    ck_assert_int_eq(take(BASE + 1 + STRAND_WINDOW), STRAND_AHEAD);
    strand_skip(&s);
    ck_assert(pulls(BASE + STRAND_WINDOW));
    ck_assert_int_eq(take(BASE + 10000), STRAND_AHEAD);
    strand_jump(&s, BASE + 10000);
    ck_assert_int_eq(take(BASE + 10000), STRAND_WAITS);
    ck_assert_int_eq(take(BASE + 10000 - STRAND_WINDOW), STRAND_LATE);
    ck_assert_int_eq(late.ns, 0);
    ck_assert_int_eq(take(BASE + 10000 - STRAND_WINDOW + 1), STRAND_FILLS);
    ck_assert_int_eq(take(BASE + 10), STRAND_LATE); /* beyond what is remembered: it leaves again and again */
    ck_assert_int_eq(take(BASE + 10), STRAND_LATE);
    strand_skip(&s);
    ck_assert_ptr_nonnull(strand_pull(&s));
}
END_TEST

START_TEST(numbers_wrap)
{
    ck_assert_int_eq(take(UINT32_MAX - 1), STRAND_BORN);
    strand_renew(&s, LIFE);
    ck_assert_int_eq(take(UINT32_MAX - 1), STRAND_LEAVES);
    ck_assert_int_eq(take(1), STRAND_WAITS);
    ck_assert_int_eq(take(0), STRAND_WAITS);
    ck_assert_int_eq(take(UINT32_MAX), STRAND_FILLS);
    ck_assert(pulls(0) && pulls(1));
    ck_assert_int_eq(take(UINT32_MAX - 1), STRAND_DOUBLE);
    ck_assert_int_eq(take(2), STRAND_LEAVES);
}
END_TEST

START_TEST(lives)
{
    begin();
    ck_assert_int_eq(take_of(8, 0), STRAND_BORN);
    strand_renew(&s, 8);
    ck_assert_int_eq(take_of(8, 0), STRAND_LEAVES);
    ck_assert_int_eq(take(BASE + 1), STRAND_FORMER);
    ck_assert_int_eq(take_of(8, 1), STRAND_LEAVES);
    strand_forget(&s);
    ck_assert_int_eq(take(BASE + 2), STRAND_FORMER);
    ck_assert_int_eq(take_of(8, 700), STRAND_LEAVES);
    ck_assert_int_eq(take_of(9, 300), STRAND_BORN);
    strand_renew(&s, 9);
    ck_assert_int_eq(take_of(9, 300), STRAND_LEAVES);
    ck_assert_int_eq(take_of(8, 701), STRAND_FORMER);
    /* Life 0 is one like the others. */
    ck_assert_int_eq(take_of(0, 5), STRAND_BORN);
}
END_TEST

/* A sender numbers from 0: what comes first may have overtaken others, even at the beginning. */
START_TEST(first_pieces_of_a_life)
{
    ck_assert_int_eq(take_of(8, 2), STRAND_BORN);
    strand_renew(&s, 8);
    ck_assert_int_eq(take_of(8, 2), STRAND_WAITS);
    ck_assert_int_eq(take_of(8, 0), STRAND_FILLS);
    ck_assert_ptr_null(strand_pull(&s));
    ck_assert_int_eq(take_of(8, 1), STRAND_FILLS);
    ck_assert(pulls(2));
    /* A receiver that starts in the middle of a life begins with what comes. */
    ck_assert_int_eq(take_of(9, STRAND_WINDOW), STRAND_BORN);
    strand_renew(&s, 9);
    ck_assert_int_eq(take_of(9, STRAND_WINDOW), STRAND_LEAVES);
    ck_assert_int_eq(take_of(9, STRAND_WINDOW - 1), STRAND_LATE);
}
END_TEST

START_TEST(renewed_while_something_waits)
{
    begin();
    ck_assert_int_eq(take(BASE + 3), STRAND_WAITS);
    strand_renew(&s, 8);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(in_order),
    SUITE_TEST(hole_is_filled),
    SUITE_TEST(hole_is_given_up),
    SUITE_TEST(several_holes),
    SUITE_TEST(far_ahead),
    SUITE_TEST(numbers_wrap),
    SUITE_TEST(lives),
    SUITE_TEST(first_pieces_of_a_life),
    SUITE_ABORTS(renewed_while_something_waits),
};
SUITE_MAIN("strand", tests)
