/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault.h - a cable that misbehaves on order: it wraps any shim, and harms the frames that are sent through it as its
 * options say. Received frames are not touched: put a fault on each end to harm both ways.
 *
 * A frame that was taken costs its time at the rate, may be lost, may have one bit turned over, may be sent twice,
 * waits for the delay and its jitter, and goes to the shim inside. Without reorder no frame overtakes another.
 * Everything is drawn from the seed, and each kind of fault from a stream of its own: the fate of the n-th frame
 * depends only on the seed, on n and on the options of that kind. With a clock of the caller's the whole shim is a
 * function of its inputs.
 *
 * Its room is the smallest of these: half the free places of the delay line (a frame may be sent twice); with a rate,
 * the frames that keep the line busy for FAULT_SPAN_US; without a delay, the room of the shim inside. A delay line of q
 * frames carries q frames in each delay.
 */
#ifndef SHIM_FAULT_H
#define SHIM_FAULT_H

#include "shim/shim.h"

enum {
    FAULT_ONE = 1000000, /* chances are parts per million: this is certainty */
    FAULT_QUEUE = 1024,  /* frames of a delay line, unless the caller says another number */
    FAULT_SPAN_US = 200, /* with a rate, room is for so much time of sending */
};

/* All zero: no fault. */
struct fault_options {
    uint32_t loss, duplicate, reorder, corrupt;
    cw_span delay;
    cw_span jitter;           /* the delay is uniform from delay - jitter to delay + jitter; at most the delay */
    cw_span reorder_by;       /* how much longer a frame waits that others are to overtake; 0: 1 ms */
    uint64_t bits_per_second; /* 0: no limit. Frames cost their own bytes and the overhead of the shim inside */
    uint64_t seed;
};

struct fault_counters {
    uint64_t lost, duplicated, reordered, corrupted;
};

/* Where time comes from. now NULL: from clock_now(), and data_fd is readable when something is due. */
struct fault_clock {
    cw_time (*now)(void *context);
    void *context;
};

/*
 * Gives the shim, and takes the one inside, which nobody else calls from then on. queue_frames: 0 for FAULT_QUEUE.
 * clock is copied, or NULL. 0; or -errno with one sentence in why, and inside is still the caller's.
 */
CW_MUST_CHECK int fault_open(struct shim **out, struct shim *inside, const struct fault_options *options,
                             uint32_t queue_frames, const struct fault_clock *clock, char why[static SHIM_WHY_BYTES]);

/*
 * Other faults from the next frame on; frames under way stay as they are. Another seed starts the streams of chance
 * anew.
 */
void fault_set(struct shim *s, const struct fault_options *options);

void fault_counters(const struct shim *s, struct fault_counters *out);

/* With a clock of the caller's: when to call receive for the frames under way; CW_NEVER: there are none. */
cw_time fault_due(const struct shim *s);

#endif
