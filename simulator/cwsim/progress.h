/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.h - one line that says how far a run is, on a terminal only, at most four times a second.
 *
 * It looks at the wall clock and writes to standard error; a run never depends on it.
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
/* done of total of anything (total 0: unknown), now in the simulation, packet-hops until now. */
void progress_show(struct progress *p, uint64_t done, uint64_t total, cw_time now, uint64_t hops);
/* Takes the line away. */
void progress_close(struct progress *p);

/* Seconds of wall clock since some instant: for rates that people read, never for what a run does. */
double progress_seconds(void);

#endif
