/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.h - one line that says how far a run is, on a terminal only, at most four times a second.
 *
 * It reads the wall clock and writes to standard error; no run depends on it.
 */
#ifndef SIMULATOR_CWSIM_PROGRESS_H
#define SIMULATOR_CWSIM_PROGRESS_H

#include "cubeway/time.h"

#include <stdio.h>

struct progress {
    FILE *out; /* NULL: quiet */
    const char *what;
    int64_t started_ns, shown_ns; /* wall clock */
    uint64_t shown_hops;
    bool shown;
};

/* Quiet unless out is a terminal. Borrows both. */
void progress_open(struct progress *p, FILE *out, const char *what);
/* Shows done of total in any unit (total 0: unknown), the simulated time now, and the rate of packet-hops so far. */
void progress_show(struct progress *p, uint64_t done, uint64_t total, cw_time now, uint64_t hops);
/* Clears the line. */
void progress_close(struct progress *p);

/* Seconds of wall clock since some instant: only for rates that people read. */
double progress_seconds(void);
/* Processor time of this process so far, in seconds: of no other's, however many there are on the machine. */
double progress_processor_seconds(void);

#endif
