/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault.h - a cable that misbehaves on order: wraps any shim, and does to the frames that are sent through it what the options say.
 * What is received is not touched: put a fault on each end for both ways.
 *
 * A frame is taken, costs its time at the rate, may be lost, may have one bit turned over, may be sent twice, waits for the delay and
 * its jitter, and goes to the shim inside. Without reorder no frame overtakes another. Everything is drawn from the seed, each
 * kind of fault from a stream of its own: the fate of the n-th frame depends on the seed, n and the options of that kind only,
 * and with a clock that is given the whole is a function of its inputs.
 *
 * Room is told honestly: of a rate, the frames that keep the line busy for FAULT_SPAN_US; of the delay line, its free places; without
 * delay, no more than the shim inside has. A delay line of q frames carries q frames in each delay.
 */
#ifndef SHIM_FAULT_H
#define SHIM_FAULT_H

#include "shim/shim.h"

enum { FAULT_ONE = 1000000, FAULT_QUEUE = 1024, FAULT_SPAN_US = 200 };

/* All zero: no fault. Chances are of FAULT_ONE (parts per million). */
struct fault_options {
    uint32_t loss, duplicate, reorder, corrupt;
    cw_span delay;
    cw_span jitter;           /* the delay is uniform from delay - jitter to delay + jitter; at most the delay */
    cw_span reorder_by;       /* how much longer a frame that others shall overtake waits; 0: 1 ms */
    uint64_t bits_per_second; /* 0: no limit. Frames cost their own bytes and the overhead of the shim inside */
    uint64_t seed;
};

struct fault_counters {
    uint64_t lost, duplicated, reordered, corrupted;
};

/* Where time comes from; now NULL: CLOCK_MONOTONIC, and data_fd tells when something is due. */
struct fault_clock {
    cw_time (*now)(void *context);
    void *context;
};

/*
 * Gives the shim and takes the one inside, which is then called by it only. queue_frames: 0 for FAULT_QUEUE. clock: NULL, or is copied.
 * 0, or -errno with one sentence in why: then inside is still the caller's.
 */
CW_MUST_CHECK int fault_open(struct shim **out, struct shim *inside, const struct fault_options *options,
                             uint32_t queue_frames, const struct fault_clock *clock, char why[static SHIM_WHY_BYTES]);

/* Other faults from the next frame on; what is under way stays as it is. Streams of chance start anew when the seed is another one. */
void fault_set(struct shim *s, const struct fault_options *options);

void fault_counters(const struct shim *s, struct fault_counters *out);

/* When receive should be called for what is under way, if a clock was given; CW_NEVER: nothing is. */
cw_time fault_due(const struct shim *s);

#endif
