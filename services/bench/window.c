/* SPDX-License-Identifier: Apache-2.0 */
#include "services/bench/window.h"

#include <string.h>

static uint64_t *word_of(struct window_stream s, uint32_t number)
{
    return &s.bits[number % s.width / 64];
}

static bool has(struct window_stream s, uint32_t number)
{
    return *word_of(s, number) >> number % 64 & 1;
}

static void mark(struct window_stream s, uint32_t number)
{
    *word_of(s, number) |= UINT64_C(1) << number % 64;
}

/* Forgets count numbers from `first` on: their places are taken by newer ones. */
static void clear(struct window_stream s, uint32_t first, uint32_t count)
{
    if (count >= s.width) {
        memset(s.bits, 0, s.width / 8);
        return;
    }
    while (count > 0) {
        uint32_t bit = first % 64;
        uint32_t here = 64 - bit < count ? 64 - bit : count;
        *word_of(s, first) &= ~((here == 64 ? ~UINT64_C(0) : (UINT64_C(1) << here) - 1) << bit);
        first += here;
        count -= here;
    }
}

/* Begins a stream: with number 0 when the first that is seen can be no more than late, else with that one. */
static enum window_note begin(struct window_stream s, uint32_t run, uint32_t number, uint32_t *missing)
{
    bool from_zero = number < s.width;
    *s.window = (struct window){.run = run, .top = number, .span = from_zero ? number + 1 : 1};
    memset(s.bits, 0, s.width / 8);
    mark(s, number);
    if (!from_zero || number == 0) {
        return WINDOW_NEXT;
    }
    *missing = number;
    return WINDOW_GAP;
}

enum window_note window_note(struct window_stream s, uint32_t run, uint32_t number, uint32_t *missing)
{
    struct window *w = s.window;
    if (w->run != run) {
        return w->run == 0 || (int32_t)(run - w->run) > 0 ? begin(s, run, number, missing) : WINDOW_OLD;
    }
    uint32_t ahead = number - w->top;
    if (ahead == 0 || (int32_t)ahead < 0) {
        uint32_t behind = 0 - ahead;
        if (behind >= w->span) {
            return WINDOW_OLD;
        }
        if (has(s, number)) {
            return WINDOW_DUPLICATE;
        }
        mark(s, number);
        return WINDOW_LATE;
    }
    clear(s, w->top + 1, ahead);
    mark(s, number);
    w->top = number;
    w->span = ahead < s.width - w->span ? w->span + ahead : s.width;
    if (ahead == 1) {
        return WINDOW_NEXT;
    }
    *missing = ahead - 1;
    return WINDOW_GAP;
}
