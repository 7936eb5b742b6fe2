/* SPDX-License-Identifier: Apache-2.0 */
#include "services/transport/outcomes.h"
#include "suite.h"

static struct outcomes o;

START_TEST(a_number_ends_once)
{
    outcomes_restart(&o, 1);
    ck_assert_int_eq(outcomes_of(&o, 1), OUTCOME_OPEN);
    ck_assert_int_eq(outcomes_of(&o, 128), OUTCOME_OPEN);
    ck_assert_int_eq(outcomes_of(&o, 129), OUTCOME_OUTSIDE);
    ck_assert_int_eq(outcomes_of(&o, 0), OUTCOME_OUTSIDE);
    outcomes_end(&o, 5, 13);
    ck_assert_int_eq(outcomes_of(&o, 5), OUTCOME_KNOWN);
    outcomes_end(&o, 5, 14); /* it has ended: that stays */
    struct segment_note note[SEGMENT_NOTES];
    ck_assert(outcomes_untold(&o));
    ck_assert_uint_eq(outcomes_notes(&o, note, SEGMENT_NOTES), 1);
    ck_assert_uint_eq(note[0].kind, NOTE_RESULT);
    ck_assert_uint_eq(note[0].number, 5);
    ck_assert_uint_eq(note[0].value, 13);
    ck_assert(!outcomes_untold(&o));
    outcomes_tell(&o, 5);
    outcomes_tell(&o, 6); /* has not ended */
    ck_assert_uint_eq(outcomes_notes(&o, note, SEGMENT_NOTES), 1);
}
END_TEST

START_TEST(the_floor_rises)
{
    for (uint32_t first = 1; first < 400; first += 37) {
        outcomes_restart(&o, first);
        outcomes_end(&o, first, 0);
        outcomes_end(&o, first + 127, 7);
        outcomes_raise(&o, first - 1); /* late */
        ck_assert_uint_eq(o.floor, first);
        outcomes_raise(&o, first + 1);
        ck_assert_int_eq(outcomes_of(&o, first), OUTCOME_OUTSIDE);
        ck_assert_int_eq(outcomes_of(&o, first + 128), OUTCOME_OPEN); /* in the place of the one forgotten */
        ck_assert_int_eq(outcomes_of(&o, first + 127), OUTCOME_KNOWN);
        outcomes_raise(&o, first + 1000);
        ck_assert(!outcomes_untold(&o));
        ck_assert_int_eq(outcomes_of(&o, first + 1000), OUTCOME_OPEN);
    }
}
END_TEST

/* Every number of a window that lies across the places, and across the end of the numbers, is told as itself. */
START_TEST(notes_name_the_numbers)
{
    static const uint32_t floors[] = {1, 64, 100, 127, 128, 200, UINT32_MAX - 50};
    for (size_t f = 0; f < sizeof floors / sizeof *floors; f++) {
        outcomes_restart(&o, floors[f]);
        for (uint32_t i = 0; i < 128; i += 3) {
            outcomes_end(&o, floors[f] + i, (uint16_t)(i + 1));
        }
        unsigned told = 0;
        struct segment_note note[10];
        for (unsigned n; (n = outcomes_notes(&o, note, 10)) > 0; told += n) {
            for (unsigned i = 0; i < n; i++) {
                ck_assert_uint_eq((note[i].number - floors[f]) % 3, 0);
                ck_assert_uint_eq(note[i].number - floors[f] + 1, note[i].value);
            }
        }
        ck_assert_uint_eq(told, 43);
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_number_ends_once),
    SUITE_TEST(the_floor_rises),
    SUITE_TEST(notes_name_the_numbers),
};
SUITE_MAIN("services.transport.outcomes", tests)
