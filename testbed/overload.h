/* SPDX-License-Identifier: Apache-2.0 */
/*
 * overload.h - when a keeper has its lab's timers looked at again: for some seconds the machine has had more work than
 * processors. The look asks all daemons, which a keeper has no time for, so a process of its own makes it: cwlab
 * rescale --if-needed (cmd_rescale.c), which also decides.
 */
#ifndef TESTBED_OVERLOAD_H
#define TESTBED_OVERLOAD_H

#include "testbed/lab.h"

enum { OVERLOAD_ROW = 3, OVERLOAD_REST = 6, OVERLOAD_HELD = 60, OVERLOAD_SERVERS = 128, OVERLOAD_EVERY_MS = 1000 };

struct overload {
    unsigned busy; /* counts in a row that found too much work */
    unsigned rest; /* counts for which no look is begun */
    unsigned next; /* counts that the look after this one waits for at least */
    pid_t looking; /* the process that looks; 0: none does */
    bool told;     /* the last look has said why the timers stay: the next one need not say it again */
};

/*
 * True for a lab whose timers may change by themselves: servers are processes, not too many for one answer of the
 * keeper, and nobody has said the timers.
 */
bool overload_allowed(const struct lab *lab);
/*
 * Notes a count, to be made every OVERLOAD_EVERY_MS: so many processes want one of so many processors.
 * True when a look is due: OVERLOAD_ROW times in a row there were too few, and the last look was OVERLOAD_REST counts
 * ago; twice as many after each look in a row, up to OVERLOAD_HELD.
 */
bool overload_note(struct overload *v, unsigned runnable, unsigned processors);
/* How many processes of this machine want a processor now, without the caller. 0 when the kernel does not say. */
unsigned overload_runnable(void);
/* The processors that the caller may use. */
unsigned overload_processors(void);
/* Begins a look, if none is on. Its words go where the caller's standard error goes. */
void overload_look_begin(struct overload *v, const struct lab *lab);
/* A child of the caller has ended as wait() says. True: it was the look; if that failed, OVERLOAD_HELD counts go by. */
bool overload_look_ended(struct overload *v, pid_t pid, int status);

#endif
