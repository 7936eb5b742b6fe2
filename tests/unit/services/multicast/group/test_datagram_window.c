/* SPDX-License-Identifier: Apache-2.0 */
/* Against a list of all that was seen. */
#include "services/multicast/group/datagram_window.h"

#include "rng.h"
#include "stops.h"
#include "suite.h"

#include <string.h>

enum { NUMBERS = 5000 };

START_TEST(as_a_list)
{
    static uint8_t known[NUMBERS + 1]; /* 1 taken, 2 refused */
    struct rng rng = (struct rng){9};
    struct datagram_window w = {.life = 0};
    uint64_t newest = 0;
    for (unsigned i = 0; i < 200000; i++) {
        uint64_t around = 1 + i / 45, number = around + rng_below(&rng, 900);
        if (number > NUMBERS) {
            break;
        }
        enum datagram_seen seen = datagram_window_look(&w, 7, number);
        if (newest >= number && newest - number >= DATAGRAM_WINDOW) {
            ck_assert_int_eq(seen, DATAGRAM_TOO_OLD);
            continue;
        }
        ck_assert_int_eq(seen, known[number] == 0   ? DATAGRAM_FRESH
                               : known[number] == 1 ? DATAGRAM_TAKEN
                                                    : DATAGRAM_REFUSED);
        if (seen == DATAGRAM_FRESH) {
            bool taken = rng_below(&rng, 2) == 0;
            datagram_window_mark(&w, 7, number, taken);
            known[number] = taken ? 1 : 2;
            newest = number > newest ? number : newest;
        }
    }
    ck_assert(newest > 4000);
}
END_TEST

START_TEST(lives)
{
    struct datagram_window w = {.life = 0};
    ck_assert(datagram_window_look(&w, 0, 1) == DATAGRAM_TOO_OLD && datagram_window_look(&w, 5, 0) == DATAGRAM_TOO_OLD);
    datagram_window_mark(&w, 5, 100, true);
    ck_assert(datagram_window_look(&w, 5, 100) == DATAGRAM_TAKEN && datagram_window_look(&w, 5, 99) == DATAGRAM_FRESH);
    ck_assert_int_eq(datagram_window_look(&w, 6, 100), DATAGRAM_FRESH);
    datagram_window_mark(&w, 6, 1, true);
    ck_assert_int_eq(datagram_window_look(&w, 5, 101), DATAGRAM_TOO_OLD); /* what is over does not come back */
    ck_assert_int_eq(datagram_window_look(&w, 6, 100), DATAGRAM_FRESH);
    datagram_window_mark(&w, 6, UINT64_C(1) << 60, true); /* far ahead: all before is too old */
    ck_assert_int_eq(datagram_window_look(&w, 6, 2), DATAGRAM_TOO_OLD);
    ck_assert_int_eq(datagram_window_look(&w, 6, (UINT64_C(1) << 60) - 1), DATAGRAM_FRESH);
}
END_TEST

static struct datagram_window window;

STOPS(a_number_is_recorded_too_late, "groups G6: a number that is recorded lies in the window",
      datagram_window_mark(&window, 5, 1 + DATAGRAM_WINDOW, true);
      datagram_window_mark(&window, 5, 1, true))

/* The oldest number that the window has room for. */
START_TEST(a_number_is_recorded_just_in_time)
{
    datagram_window_mark(&window, 5, DATAGRAM_WINDOW, true);
    datagram_window_mark(&window, 5, 1, true);
    ck_assert_int_eq(datagram_window_look(&window, 5, 1), DATAGRAM_TAKEN);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(as_a_list),
    SUITE_TEST(lives),
    SUITE_TEST(a_number_is_recorded_too_late),
    SUITE_TEST(a_number_is_recorded_just_in_time),
};
SUITE_MAIN("datagram_window", tests)
