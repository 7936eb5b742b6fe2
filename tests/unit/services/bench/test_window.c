/* SPDX-License-Identifier: Apache-2.0 */
#include "services/bench/window.h"

#include "rng.h"
#include "suite.h"

static struct window window;
static uint64_t bits[WINDOW_BITS_MAX / 64];

static struct window_stream stream_of(uint32_t width)
{
    window = (struct window){.run = 0};
    return (struct window_stream){&window, bits, width};
}

START_TEST(in_order)
{
    struct window_stream s = stream_of(64);
    uint32_t missing = 77;
    for (uint32_t i = 0; i < 1000; i++) {
        ck_assert_int_eq(window_note(s, 1, i, &missing), WINDOW_NEXT);
    }
    ck_assert_uint_eq(missing, 77);
}
END_TEST

START_TEST(each_way_to_arrive)
{
    static const struct {
        uint32_t run, number;
        enum window_note note;
        uint32_t missing;
    } table[] = {
        {5, 2, WINDOW_GAP, 2},       /* 0 and 1 may still come */
        {5, 2, WINDOW_DUPLICATE, 0}, /* the newest again */
        {5, 0, WINDOW_LATE, 0},      /* */
        {5, 0, WINDOW_DUPLICATE, 0}, /* */
        {5, 3, WINDOW_NEXT, 0},      /* */
        {5, 70, WINDOW_GAP, 66},     /* beyond what is remembered: 1 with it */
        {5, 1, WINDOW_OLD, 0},       /* */
        {5, 6, WINDOW_OLD, 0},       /* 64 behind */
        {5, 7, WINDOW_LATE, 0},      /* 63 behind */
        {5, 69, WINDOW_LATE, 0},     /* */
        {5, 1000, WINDOW_GAP, 929},  /* everything forgotten */
        {5, 999, WINDOW_LATE, 0},    /* */
        {4, 1001, WINDOW_OLD, 0},    /* an earlier run */
        {6, 500, WINDOW_NEXT, 0},    /* a later run, met in the middle: what was before is not missed */
        {6, 499, WINDOW_OLD, 0},     /* */
        {6, 501, WINDOW_NEXT, 0},    /* */
        {6, 503, WINDOW_GAP, 1},     /* */
        {6, 502, WINDOW_LATE, 0},    /* */
        {6, 498, WINDOW_OLD, 0},     /* still before the stream */
        {5, 504, WINDOW_OLD, 0},     /* */
        {7, 0, WINDOW_NEXT, 0},      /* */
    };
    struct window_stream s = stream_of(64);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        uint32_t missing = 0;
        enum window_note note = window_note(s, table[i].run, table[i].number, &missing);
        ck_assert_msg(note == table[i].note && missing == table[i].missing, "line %zu gave %d, %u missing", i, note,
                      missing);
    }
}
END_TEST

START_TEST(numbers_and_runs_wrap)
{
    struct window_stream s = stream_of(64);
    uint32_t missing = 0;
    ck_assert_int_eq(window_note(s, UINT32_MAX, UINT32_MAX - 1, &missing), WINDOW_NEXT);
    ck_assert_int_eq(window_note(s, UINT32_MAX, UINT32_MAX, &missing), WINDOW_NEXT);
    ck_assert_int_eq(window_note(s, UINT32_MAX, 1, &missing), WINDOW_GAP);
    ck_assert_uint_eq(missing, 1);
    ck_assert_int_eq(window_note(s, UINT32_MAX, 0, &missing), WINDOW_LATE);
    ck_assert_int_eq(window_note(s, UINT32_MAX, UINT32_MAX, &missing), WINDOW_DUPLICATE);
    ck_assert_int_eq(window_note(s, 1, 0, &missing), WINDOW_NEXT);
    ck_assert_int_eq(window_note(s, UINT32_MAX, 2, &missing), WINDOW_OLD);
}
END_TEST

/* The same told by one who remembers everything. */
enum { NUMBERS = 6000 };
static bool seen[NUMBERS];

START_TEST(agrees_with_one_who_remembers_all)
{
    struct rng rng = {7};
    for (uint32_t width = 64; width <= WINDOW_BITS_MAX; width *= 2) {
        struct window_stream s = stream_of(width);
        for (uint32_t i = 0; i < NUMBERS; i++) {
            seen[i] = false;
        }
        int64_t top = -1;
        int64_t start = 0;
        for (int step = 0; step < 20000; step++) {
            /* Around the newest, mostly; sometimes far ahead. */
            int64_t number = top + 3 - (int64_t)rng_below(&rng, rng_below(&rng, 8) == 0 ? 2 * width : 8);
            number += rng_below(&rng, 200) == 0 ? (int64_t)rng_below(&rng, 3 * width) : 0;
            if (number < 0 || number >= NUMBERS) {
                continue;
            }
            uint32_t missing = 0;
            enum window_note note = window_note(s, 1, (uint32_t)number, &missing);
            if (top < 0) {
                start = number < width ? 0 : number;
            }
            enum window_note expected = WINDOW_NEXT;
            uint32_t passed = 0;
            if (number > top) {
                int64_t first = top < 0 ? start : top + 1;
                expected = number == first ? WINDOW_NEXT : WINDOW_GAP;
                passed = (uint32_t)(number - first);
                top = number;
            } else if (top - number >= width || number < start) {
                expected = WINDOW_OLD;
            } else {
                expected = seen[number] ? WINDOW_DUPLICATE : WINDOW_LATE;
            }
            if (note != expected || missing != passed) {
                ck_abort_msg("width %u step %d number %lld top %lld: %d, expected %d; %u missing, expected %u", width,
                             step, (long long)number, (long long)top, note, expected, missing, passed);
            }
            seen[number] = true;
        }
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(in_order),
    SUITE_TEST(each_way_to_arrive),
    SUITE_TEST(numbers_and_runs_wrap),
    SUITE_TEST(agrees_with_one_who_remembers_all),
};
SUITE_MAIN("window", tests)
