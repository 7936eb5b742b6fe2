/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/cast/stripe.h"
#include "suite.h"

#include <string.h>

static struct cast_stripe d;
static cw_time now;

START_TEST(each_once)
{
    static unsigned times[1000];
    memset(times, 0, sizeof times);
    ck_assert_int_eq(cast_stripe_open(&d, 1000), 0);
    ck_assert_uint_gt(cast_stripe_memory(&d), 0);
    uint32_t index;
    ck_assert(!cast_stripe_assign(&d, 0, &index)); /* nothing is wanted yet */
    cast_stripe_want(&d, 0, 2000, NULL);
    cast_stripe_want(&d, 10, 5, NULL); /* twice is once */
    ck_assert_uint_eq(d.left, 1000);
    cast_stripe_round(&d, now);
    for (uint32_t i = 0; i < 1000; i++) {
        uint8_t tree = (uint8_t)(i * 7 % 5);
        ck_assert(cast_stripe_assign(&d, tree, &index) && index == d.lane[tree].next - 1);
        ck_assert_uint_lt(cast_stripe_piece(&d, tree, index), 1000);
        times[cast_stripe_piece(&d, tree, index)]++;
        cast_stripe_advance(&d, tree, index + 1, now);
    }
    ck_assert(d.left == 0 && !cast_stripe_assign(&d, 0, &index));
    for (uint32_t i = 0; i < 1000; i++) {
        ck_assert_uint_eq(times[i], 1);
    }
    cast_stripe_close(&d);
}
END_TEST

START_TEST(what_is_lacking)
{
    const uint8_t bits[2] = {0x81, 0x02};
    uint32_t index, want[] = {3, 10, 12, 40, 41};
    ck_assert_int_eq(cast_stripe_open(&d, 42), 0);
    cast_stripe_want(&d, 40, 100, NULL); /* beyond the end there is nothing */
    cast_stripe_want(&d, 3, 10, bits);
    cast_stripe_want(&d, 42, 1, NULL);
    cast_stripe_round(&d, now);
    for (unsigned i = 0; i < 5; i++) {
        ck_assert(cast_stripe_assign(&d, 2, &index) && index == i && cast_stripe_piece(&d, 2, index) == want[i]);
    }
    ck_assert(!cast_stripe_assign(&d, 2, &index));
    cast_stripe_undo(&d, 2);
    ck_assert(cast_stripe_assign(&d, 1, &index) && index == 0 && cast_stripe_piece(&d, 1, 0) == 41);
    cast_stripe_close(&d);
}
END_TEST

/*
 * A tree that does not get on is assigned no more than the spread; one that is slow less and less, one that is quick as
 * much as ever.
 */
START_TEST(a_slow_tree)
{
    uint32_t index, assigned[2] = {0, 0};
    now = (cw_time){0};
    ck_assert_int_eq(cast_stripe_open(&d, 100000), 0);
    cast_stripe_want(&d, 0, 100000, NULL);
    cast_stripe_round(&d, now);
    while (cast_stripe_assign(&d, 4, &index)) {
        assigned[0]++;
    }
    ck_assert_uint_eq(assigned[0], CAST_SPREAD);
    for (int ms = 1; ms < 500; ms++) {
        now = cw_time_add(now, CW_MS(1));
        for (uint8_t tree = 0; tree < 2; tree++) {
            while (cast_stripe_assign(&d, tree, &index)) {
            }
            cast_stripe_advance(&d, tree, d.lane[tree].base + (tree == 0 ? 14 : ms % 2), now);
        }
    }
    ck_assert(cast_stripe_room(&d, 0) > 80 && cast_stripe_room(&d, 0) <= CAST_SPREAD);
    ck_assert(cast_stripe_room(&d, 1) >= CAST_AHEAD && cast_stripe_room(&d, 1) < CAST_AHEAD + 5);
    cast_stripe_advance(&d, 0, d.lane[0].next + 1, now); /* nobody has what was never assigned */
    ck_assert_uint_le(d.lane[0].base, d.lane[0].next);
    cast_stripe_round(&d, now);
    ck_assert(cast_stripe_room(&d, 1) == CAST_SPREAD && d.lane[4].next == 0);
    cast_stripe_close(&d);
}
END_TEST

/* Servers come or go: little is under way, and more with what arrives; a new round begins as at rest. */
START_TEST(with_care)
{
    uint32_t index;
    now = (cw_time){0};
    ck_assert_int_eq(cast_stripe_open(&d, 1000), 0);
    cast_stripe_want(&d, 0, 1000, NULL);
    cast_stripe_round(&d, now);
    while (cast_stripe_assign(&d, 3, &index)) {
    }
    cast_stripe_careful(&d);
    ck_assert_uint_eq(cast_stripe_room(&d, 3), CAST_CAREFUL);
    cast_stripe_advance(&d, 3, 40, now); /* 56 are still under way */
    ck_assert_uint_eq(cast_stripe_room(&d, 3), CAST_CAREFUL + 10);
    ck_assert(!cast_stripe_assign(&d, 3, &index));
    cast_stripe_advance(&d, 3, 92, now);
    ck_assert(cast_stripe_assign(&d, 3, &index) && index == 96);
    cast_stripe_careful(&d);
    ck_assert_uint_eq(cast_stripe_room(&d, 3), CAST_CAREFUL);
    cast_stripe_round(&d, now);
    ck_assert_uint_eq(cast_stripe_room(&d, 3), CAST_SPREAD);
    cast_stripe_close(&d);
}
END_TEST

/* Runs are wanted by whole bytes: from everywhere, the same as one by one. */
START_TEST(runs_of_all_lengths)
{
    enum { PIECES = 61 };
    for (uint32_t first = 0; first < PIECES; first++) {
        for (uint32_t count = 0; count <= PIECES + 1 - first; count++) {
            uint32_t index, more = first > 9 ? first - 9 : 0;
            ck_assert_int_eq(cast_stripe_open(&d, PIECES), 0);
            d.cursor = PIECES;
            cast_stripe_want(&d, first, count, NULL);
            uint32_t end = first + count < PIECES ? first + count : PIECES;
            ck_assert_uint_eq(d.left, end - first);
            ck_assert_uint_eq(d.cursor, count > 0 ? first : PIECES);
            cast_stripe_want(&d, more, 20, NULL); /* some of them again */
            for (uint32_t piece = more; d.left > 0; piece++) {
                ck_assert(cast_stripe_assign(&d, 0, &index) && cast_stripe_piece(&d, 0, index) == piece);
            }
            cast_stripe_close(&d);
        }
    }
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(each_once), SUITE_TEST(what_is_lacking), SUITE_TEST(a_slow_tree),
                                          SUITE_TEST(with_care), SUITE_TEST(runs_of_all_lengths)};
SUITE_MAIN("cast_stripe", tests)
