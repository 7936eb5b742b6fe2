/* SPDX-License-Identifier: Apache-2.0 */
#include "suite.h"
#include "wire/position.h"

/* Every pair of 16-bit positions near a few anchors, judged by walking round the circle. */
START_TEST(low_halves_are_ordered_by_the_shorter_way)
{
    static const uint16_t anchors[] = {0, 1, 0x7ffe, 0x7fff, 0x8000, 0x8001, 0xfffe, 0xffff};
    for (unsigned a = 0; a < sizeof anchors / sizeof *anchors; a++) {
        uint16_t at = anchors[a];
        for (uint32_t steps = 0; steps < 0x10000; steps++, at++) {
            bool expected = steps >= 1 && steps <= 0x7fff;
            if (position16_before(anchors[a], at) != expected) {
                ck_abort_msg("%u before %u is not %d", anchors[a], at, expected);
            }
        }
    }
}
END_TEST

START_TEST(positions_are_ordered_across_the_wrap)
{
    ck_assert(position_before(1, 2));
    ck_assert(!position_before(2, 1));
    ck_assert(!position_before(7, 7));
    ck_assert(position_before(UINT32_MAX, 0));
    ck_assert(position_before(UINT32_MAX - 5, 5));
    ck_assert(!position_before(5, UINT32_MAX - 5));
    ck_assert(position_before(0, 0x7fffffff));
    ck_assert(!position_before(0, 0x80000000));
    ck_assert(!position_before(0x80000000, 0));
    ck_assert(position_before(0x80000001, 0));
    for (uint32_t a = UINT32_MAX - 300; a != 300; a++) {
        for (uint32_t step = 1; step < 300; step++) {
            if (!position_before(a, a + step) || position_before(a + step, a)) {
                ck_abort_msg("%u and %u", a, a + step);
            }
        }
    }
}
END_TEST

START_TEST(distance_has_a_sign)
{
    ck_assert_int_eq(position_ahead(10, 13), 3);
    ck_assert_int_eq(position_ahead(13, 10), -3);
    ck_assert_int_eq(position_ahead(UINT32_MAX, 1), 2);
    ck_assert_int_eq(position_ahead(1, UINT32_MAX), -2);
    ck_assert_int_eq(position_ahead(0, 0x7fffffff), INT32_MAX);
    ck_assert_int_eq(position_ahead(0, 0x80000000), INT32_MIN);
}
END_TEST

/* The sender is 0..POSITION_WINDOW ahead of what was applied, or a little behind in an old frame: 16 bits say where. */
START_TEST(low_half_widens_to_the_position_meant)
{
    static const uint32_t applied[] = {0,          1,          0x7fff,     0x8000,     0xffff,     0x10000,
                                       0x12345678, 0x7fffffff, 0x80000000, 0xffff7fff, 0xffff8000, 0xffffffff};
    for (unsigned i = 0; i < sizeof applied / sizeof *applied; i++) {
        for (int32_t ahead = -0x8000; ahead <= POSITION_WINDOW; ahead++) {
            uint32_t meant = applied[i] + (uint32_t)ahead;
            if (position_widen(applied[i], (uint16_t)meant) != meant) {
                ck_abort_msg("%u %+d", applied[i], ahead);
            }
        }
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(low_halves_are_ordered_by_the_shorter_way),
    SUITE_TEST(positions_are_ordered_across_the_wrap),
    SUITE_TEST(distance_has_a_sign),
    SUITE_TEST(low_half_widens_to_the_position_meant),
};
SUITE_MAIN("position", tests)
