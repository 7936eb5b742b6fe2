/* SPDX-License-Identifier: Apache-2.0 */
/* Against a list of all that was seen. */
#include "services/multicast/group/note_window.h"

#include "rng.h"
#include "suite.h"

#include <string.h>

enum { NUMBERS = 5000 };

START_TEST(as_a_list)
{
    static uint8_t known[NUMBERS + 1]; /* 1 taken, 2 refused */
    struct rng rng = (struct rng){9};
    struct note_window w = {.life = 0};
    uint64_t newest = 0;
    for (unsigned i = 0; i < 200000; i++) {
        uint64_t around = 1 + i / 45, number = around + rng_below(&rng, 900);
        if (number > NUMBERS) {
            break;
        }
        enum note_seen seen = note_window_look(&w, 7, number);
        if (newest >= number && newest - number >= NOTE_WINDOW) {
            ck_assert_int_eq(seen, NOTE_TOO_OLD);
            continue;
        }
        ck_assert_int_eq(seen, known[number] == 0 ? NOTE_FRESH : known[number] == 1 ? NOTE_TAKEN : NOTE_REFUSED);
        if (seen == NOTE_FRESH) {
            bool taken = rng_below(&rng, 2) == 0;
            note_window_mark(&w, 7, number, taken);
            known[number] = taken ? 1 : 2;
            newest = number > newest ? number : newest;
        }
    }
    ck_assert(newest > 4000);
}
END_TEST

START_TEST(lives)
{
    struct note_window w = {.life = 0};
    ck_assert(note_window_look(&w, 0, 1) == NOTE_TOO_OLD && note_window_look(&w, 5, 0) == NOTE_TOO_OLD);
    note_window_mark(&w, 5, 100, true);
    ck_assert(note_window_look(&w, 5, 100) == NOTE_TAKEN && note_window_look(&w, 5, 99) == NOTE_FRESH);
    ck_assert_int_eq(note_window_look(&w, 6, 100), NOTE_FRESH);
    note_window_mark(&w, 6, 1, true);
    ck_assert_int_eq(note_window_look(&w, 5, 101), NOTE_TOO_OLD); /* what is over does not come back */
    ck_assert_int_eq(note_window_look(&w, 6, 100), NOTE_FRESH);
    note_window_mark(&w, 6, UINT64_C(1) << 60, true); /* far ahead: all before is too old */
    ck_assert_int_eq(note_window_look(&w, 6, 2), NOTE_TOO_OLD);
    ck_assert_int_eq(note_window_look(&w, 6, (UINT64_C(1) << 60) - 1), NOTE_FRESH);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(as_a_list), SUITE_TEST(lives)};
SUITE_MAIN("note_window", tests)
