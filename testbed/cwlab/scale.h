/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scale.h - how much longer the timers of a lab must be than their profile's, for as many servers share as few
 * processors.
 *
 * Hellos that come late are deaths that were none. So a lab of more than SCALE_SMALL servers gets timers so many times
 * as long that a processor handles at most a bounded number of hellos a second, and in the time of one hello a bounded
 * number of pairs of a server and another's record: every record goes to every server when a lab comes together.
 *
 * The machine may have other work: a daemon then waits behind it for its processor, and so a lab of any size gets
 * timers as many times as long as there are, for each processor, processes that want it.
 */
#ifndef TESTBED_CWLAB_SCALE_H
#define TESTBED_CWLAB_SCALE_H

#include "testbed/lab.h"

enum { SCALE_SMALL = 32, SCALE_MOST = 10000, SCALE_BUSY_MOST = 20, SCALE_TEXT = 320 };

/* Processors of this machine that we may use; at least 1. */
unsigned scale_processors(void);
/* For a lab of this torus and driver, with timers that are not scaled yet. At least 1. */
uint64_t scale_needed(const struct lab *lab, unsigned processors);
/*
 * How many processes of this machine, this one apart, want a processor: the mean of a short while, in which it sleeps
 * (100 ms). 0 when the kernel does not say.
 */
double scale_wanted(void);
/* How much longer timers must be where so many others want `processors` of this machine; 1 to SCALE_BUSY_MOST. */
uint64_t scale_busy(double wanted, unsigned processors);
/* Processors of the machine, whether we may use them or not: scale_wanted() is of them all. At least 1. */
unsigned scale_machine(void);
/* Sets the lab's timers to the profile's, `scale` (1 to SCALE_MOST) times as long, but those of a link that flaps. */
void scale_timers(struct lab *lab, bool fast, uint64_t scale);
/*
 * How long such a lab may take to come together, unless somebody says it: more for more servers, whatever the timers.
 */
cw_span scale_patience(const struct lab *lab);
/*
 * "hello 530ms, dead 2.65s, hold 3.18s: 53 times the default ones, for 512 servers on 2 processors", and where others
 * want these as well (wanted at least 1) ", which 3 other processes want now". Gives out.
 */
char *scale_describe(const struct lab *lab, unsigned processors, double wanted, char out[static SCALE_TEXT]);

#endif
