/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scale.h - how many times longer than in their profile the timers of a lab must be, when many servers share few
 * processors.
 *
 * A server whose hellos come late is taken for dead though it lives. So the timers of a lab of more than SCALE_SMALL
 * servers are made so long that a processor has at most a bounded number of hellos to handle a second, and, in the time
 * between two hellos, a bounded number of records to give to servers: when a lab comes together, every record goes to
 * every server.
 *
 * The machine may have other work, behind which a daemon waits for its processor. So the timers of a lab of any size
 * are made as many times longer as there are other processes that want to run, for each processor; unless its daemons
 * have the right to run before those.
 */
#ifndef TESTBED_CWLAB_SCALE_H
#define TESTBED_CWLAB_SCALE_H

#include "testbed/lab.h"

/* Where scale_sessions() is true, so many other processes delay a daemon as one does elsewhere (docs/testbed.md). */
enum { SCALE_SESSION = 4 };
enum { SCALE_SMALL = 32, SCALE_MOST = LAB_SCALE_MOST, SCALE_BUSY_MOST = 20, SCALE_TEXT = 320 };

/* Processors of this machine that this process may use; at least 1. */
unsigned scale_processors(void);
/* How many times longer a lab of this torus and driver needs its timers, which are not scaled yet. At least 1. */
uint64_t scale_needed(const struct lab *lab, unsigned processors);
/*
 * How many processes of this machine, this one apart, want a processor: the mean of a short while, in which it sleeps
 * (100 ms), or of the last minute, if that was much more than the processors can do. 0 when the kernel does not say.
 */
double scale_wanted(void);
/*
 * True when a daemon of a lab gets the priority that it asks for, before the processes of all other sessions: what
 * others want then does not keep it waiting for long. Tries it in a child process.
 */
bool scale_hurries(void);
/*
 * True when the kernel shares processors among sessions first (autogroups): then a daemon, which is a session of its
 * own, waits for few of the processes that other sessions have.
 */
bool scale_sessions(void);
/* How many times longer timers must be when `wanted` other processes want processors; 1 to SCALE_BUSY_MOST. */
uint64_t scale_busy(double wanted, unsigned processors);
/*
 * How many times longer the timers of this lab must be if it comes up now, while so many others want a processor; 1 to
 * SCALE_MOST.
 */
uint64_t scale_now(const struct lab *lab, double wanted);
/* Processors of the machine, which scale_wanted() is about, whether this process may use them or not. At least 1. */
unsigned scale_machine(void);
/*
 * How long a lab may take to come together, unless an option says otherwise: longer for more servers, whatever the
 * timers.
 */
cw_span scale_patience(const struct lab *lab);
/*
 * Writes "hello 530ms, dead 2.65s, hold 3.18s: 53 times the default ones, for 512 servers on 2 processors" into out,
 * and from wanted 1 on ", which 3 other processes want now". Returns out.
 */
char *scale_describe(const struct lab *lab, unsigned processors, double wanted, char out[static SCALE_TEXT]);

#endif
