/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnosis.h - the findings of several servers put together: one fault is seen by many, and is told once, where it is.
 *
 * Two servers that hear each other's neighbours have exchanged plugs; a server whose neighbours all hear it under
 * another name has the wrong coordinate; one that none of its neighbours hears is down. What only follows from a
 * finding at the other end of the same cable is left out.
 */
#ifndef CTL_DIAGNOSIS_DIAGNOSIS_H
#define CTL_DIAGNOSIS_DIAGNOSIS_H

#include "ctl/ask/call.h"

/*
 * Takes the rows of the daemon's command `doctor` out of *rows and leaves in it the findings, worst first: messages
 * with severity (1 grave, 2 broken, 3 warning, 4 note), cause, server, link, text, do.
 */
void diagnose(struct rows *rows);

#endif
