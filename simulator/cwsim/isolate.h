/* SPDX-License-Identifier: Apache-2.0 */
/*
 * isolate.h - a scenario played in a process of its own, so that a CHECK that stops it, or a run that never ends, is a
 * result like any other, and several run at once.
 */
#ifndef SIMULATOR_CWSIM_ISOLATE_H
#define SIMULATOR_CWSIM_ISOLATE_H

#include "simulator/cwsim/play.h"

enum { ISOLATE_SAID = 3000 };

struct isolate_outcome {
    enum play_verdict verdict;
    unsigned invariant;
    int signal; /* that ended it; 0: none. SIGALRM: it took longer than it may */
    cw_time at;
    uint64_t digest;
    uint64_t packets, delivered, packet_hops, events;
    char said[ISOLATE_SAID]; /* the end of what it wrote on standard error */
};

struct isolate;

/* Starts; borrows nothing after the call. seconds: wall clock it may take; 0: for ever. -errno. */
CW_MUST_CHECK int isolate_start(struct isolate **out, const struct scenario *s, const char *file, const char *replay,
                                unsigned seconds);
/* Waits for the first of them to end, and gives its place in the list; -errno. NULL entries are passed over. */
CW_MUST_CHECK int isolate_wait_any(struct isolate *const list[], unsigned count);
/* The outcome of one that has ended. Takes it. */
void isolate_finish(struct isolate *i, struct isolate_outcome *out);

/* One, from start to end. -errno. */
CW_MUST_CHECK int isolate_run(const struct scenario *s, const char *file, const char *replay, unsigned seconds,
                              struct isolate_outcome *out);

/* True when both fail, and in the same way. */
bool isolate_same_failure(const struct isolate_outcome *a, const struct isolate_outcome *b);
bool isolate_failed(const struct isolate_outcome *o);

#endif
