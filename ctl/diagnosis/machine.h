/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine.h - a machine that is too busy for its servers: most of them did not run when they were due. Then hellos come
 * late and links go down, from which every server concludes something else of its cables and neighbours.
 */
#ifndef CTL_DIAGNOSIS_MACHINE_H
#define CTL_DIAGNOSIS_MACHINE_H

#include "ctl/ask/call.h"

/*
 * Where at least three servers, and half of those that answered, were late within the last half minute: leaves out what
 * servers that were late say of links and neighbours, or others of them, and adds one finding in the place of all of
 * it. Nothing is added where nothing is left out: being late has done no harm then. Call while all rows are there.
 */
void diagnose_machine(struct rows *rows);

#endif
