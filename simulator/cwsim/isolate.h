/* SPDX-License-Identifier: Apache-2.0 */
/*
 * isolate.h - plays a scenario in a process of its own. So a CHECK that stops the process, or a run that does not end,
 * is a result like any other, and several scenarios run at once.
 */
#ifndef SIMULATOR_CWSIM_ISOLATE_H
#define SIMULATOR_CWSIM_ISOLATE_H

#include "simulator/cwsim/play.h"

enum { ISOLATE_SAID = 3000 };

struct isolate_outcome {
    enum play_verdict verdict;
    unsigned invariant;
    int signal; /* the signal that ended the process; 0: none. SIGALRM: it took too long */
    cw_time at;
    uint64_t digest;
    uint64_t packets, delivered, packet_hops, events;
    char said[ISOLATE_SAID]; /* the end of what it wrote on standard error */
};

struct isolate;

/* Starts one. Borrows for the call only. seconds: of wall clock that it may take, 0: no limit. -errno. */
CW_MUST_CHECK int isolate_start(struct isolate **out, const struct scenario *s, const char *file, const char *replay,
                                unsigned seconds);
/* Waits until one of the list has ended, and returns its place in it; -errno. NULL entries are passed over. */
CW_MUST_CHECK int isolate_wait_any(struct isolate *const list[], unsigned count);
/* Takes one that has ended, and writes its outcome. */
void isolate_finish(struct isolate *i, struct isolate_outcome *out);

/* Starts one, waits for its end, and writes its outcome. -errno. */
CW_MUST_CHECK int isolate_run(const struct scenario *s, const char *file, const char *replay, unsigned seconds,
                              struct isolate_outcome *out);

/* True when both failed, and in the same way. */
bool isolate_same_failure(const struct isolate_outcome *a, const struct isolate_outcome *b);
bool isolate_failed(const struct isolate_outcome *o);

#endif
