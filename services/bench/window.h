/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window.h - what has arrived of numbered streams: gaps, late ones, duplicates, each found in O(1).
 *
 * A stream belongs to a run, and a newer run of its sender begins it anew. Of the last `width` numbers each is
 * remembered in one bit; a duplicate or a latecomer from before that is WINDOW_OLD, which says so. A stream that is met
 * in the middle begins there: what came before is not missed. Numbers and runs wrap round.
 */
#ifndef SERVICES_BENCH_WINDOW_H
#define SERVICES_BENCH_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

enum { WINDOW_BITS_MAX = 1024 };

enum window_note {
    WINDOW_NEXT,      /* the first, or the one after the newest */
    WINDOW_GAP,       /* newer than that: those between are missing, as far as one can know */
    WINDOW_LATE,      /* had been missing */
    WINDOW_DUPLICATE, /* has been here */
    WINDOW_OLD,       /* too far behind to tell, or of an earlier run */
};

struct window {
    uint32_t run;  /* 0: nothing yet */
    uint32_t top;  /* the newest number */
    uint32_t span; /* numbers up to top that belong to the stream, at most its width */
};

struct window_stream {
    struct window *window;
    uint64_t *bits; /* bit n % width: number n was here; of the span only */
    uint32_t width; /* a power of two, 64..WINDOW_BITS_MAX */
};

/* Notes a number of run (not 0). WINDOW_GAP: *missing is how many numbers were passed over; else it is untouched. */
enum window_note window_note(struct window_stream stream, uint32_t run, uint32_t number, uint32_t *missing);

#endif
