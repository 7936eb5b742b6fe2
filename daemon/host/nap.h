/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nap.h - when the loop sleeps without waiting for links' data. In a stream, a receiver that is faster than its sender
 * runs dry after every few frames, and the sender pays for each time that it wakes the receiver again, inside of its
 * own system call. So the receiver of a stream sleeps for `span` without asking to be woken by data, as a device
 * moderates its interrupts, and takes more frames in a turn (docs/shims.md, "The nap").
 *
 * Whether there is a stream is judged by the frames of the last turns. A conversation, in which somebody waits for each
 * frame, must never be taken for one: it has turns of few frames, or long times between two turns.
 */
#ifndef DAEMON_HOST_NAP_H
#define DAEMON_HOST_NAP_H

#include "cubeway/time.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    NAP_MANY = 8, /* frames that a turn received: it may be a part of a stream */
    NAP_FEW = 4,  /* a turn with fewer is not */
    /*
     * Turns of many less turns of few, from which on it is a stream. A burst of SHIM_BATCH frames has at most four
     * turns of many, so such bursts make no stream: a nap after each would be in vain.
     */
    NAP_LEAST = 5,
    NAP_MOST = 8, /* turns that are counted */
    NAP_GAP = 4,  /* naps: a longer time between two turns ends the stream */
};

struct nap {
    cw_span span;    /* of one nap; 0: there are none */
    unsigned stream; /* turns of many less turns of few, up to NAP_MOST */
    bool napped;     /* before this turn */
    cw_time ended;   /* the last turn */
    uint64_t count;
};

/* Is a nap what should come next, when nothing is left to do? */
static inline bool nap_is_due(const struct nap *n)
{
    return n->stream >= NAP_LEAST && n->span.ns > 0;
}

/* It was taken. */
static inline void nap_taken(struct nap *n)
{
    n->napped = true;
    n->count++;
}

/* A turn has ended, in which so many frames came by descriptors. begun: when it had slept. */
void nap_turn(struct nap *n, unsigned frames, cw_time begun, cw_time ended);

#endif
