/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vigil.h - when a keeper has its lab's timers looked at again: the machine has had more work than processors for some
 * seconds. The look itself asks all daemons, which a keeper has no time for, so a process of its own makes it: cwlab
 * rescale --if-needed (cmd_rescale.c), which also decides.
 */
#ifndef TESTBED_VIGIL_H
#define TESTBED_VIGIL_H

#include "testbed/lab.h"

enum { VIGIL_ROW = 3, VIGIL_REST = 6, VIGIL_HELD = 60, VIGIL_SERVERS = 128, VIGIL_EVERY_MS = 1000 };

struct vigil {
    unsigned busy; /* glances in a row at which the machine had too much work */
    unsigned rest; /* glances for which nothing is begun */
    unsigned next; /* glances that the look after this one waits for at least */
    pid_t looker;  /* the process that looks; 0: none does */
    bool told;     /* the last look has said why the timers stay: the next one need not say it again */
};

/*
 * True for a lab whose timers may change by themselves: servers are processes, not too many for one answer of the
 * keeper, and nobody has said the timers.
 */
bool vigil_allowed(const struct lab *lab);
/*
 * Notes a glance at the machine, to be made every VIGIL_EVERY_MS: so many processes want one of so many processors.
 * True when a look is due: VIGIL_ROW times in a row there were too few, and the last look was VIGIL_REST glances ago;
 * twice as many after each look in a row, up to VIGIL_HELD.
 */
bool vigil_glance(struct vigil *v, unsigned runnable, unsigned processors);
/* How many processes of this machine want a processor now, without the caller. 0 when the kernel does not say. */
unsigned vigil_runnable(void);
/* The processors that the caller may use. */
unsigned vigil_processors(void);
/* Begins a look, if none is on. Its words go where the caller's standard error goes. */
void vigil_begin(struct vigil *v, const struct lab *lab);
/* A child of the caller has ended as wait() says. True: it was the look; if that failed, VIGIL_HELD glances go by. */
bool vigil_ended(struct vigil *v, pid_t pid, int status);

#endif
