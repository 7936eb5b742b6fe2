/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow.h - upcalls of somebody's own service that took long by the clock on the wall, told as they end.
 *
 * In the simulator no time passes in an upcall; in a daemon the server stands still meanwhile, and its neighbours count
 * it out. What a machine with other work kept the thread waiting is not the service's: it is taken off, as well as what
 * the thread waited in the millisecond before. Whoever is slow again and again is told of SLOW_TOLD times.
 */
#ifndef SIMULATOR_CWSIM_SLOW_H
#define SIMULATOR_CWSIM_SLOW_H

#include "cubeway/time.h"
#include "cubeway/types.h"

#include <stdio.h>

/* Lines for each upcall of each service, and of how many these are counted; those beyond have the last one's count. */
enum { SLOW_TOLD = 3, SLOW_KINDS = 32 };

struct slow {
    FILE *errors;
    cw_span dead;  /* the timer */
    cw_span limit; /* what is told lasted for longer */
    int stat;      /* /proc/thread-self/schedstat; -1: the system has none, and nothing is taken off */
    int64_t looked_ns, waited_ns;
    int64_t lately_ns; /* waited between the last two looks */
    unsigned kinds;
    struct slow_kind {
        const char *service, *upcall; /* borrowed */
        unsigned lines;
    } kind[SLOW_KINDS];
};

/* Borrows errors. On the thread that runs the world. */
void slow_begin(struct slow *s, FILE *errors, cw_span dead);
void slow_end(struct slow *s);

/* node_meter.read, whose context is the struct slow: nanoseconds of the clock on the wall. */
int64_t slow_read(void *context);
/*
 * An upcall has ended, at that simulated time, after slow_read() had been called at its begin and end: says so if it
 * lasted too long. Borrows the names for as long as s is used. True: a line was written.
 */
bool slow_tell(struct slow *s, const char *service, const char *upcall, const char *server, cw_time at, cw_span held);

#endif
