/* SPDX-License-Identifier: Apache-2.0 */
/*
 * silent.h - servers of a lab that the others do not hear, or that did not answer a question to all: the lab's keeper
 * knows whether their daemons run, and a daemon that runs knows itself why nobody hears it.
 */
#ifndef CTL_DIAGNOSIS_SILENT_H
#define CTL_DIAGNOSIS_SILENT_H

#include "ctl/ask/call.h"

/*
 * rows: the answers to `doctor`; path: the control socket of the daemon that gave them. A finding "server-down" about a
 * server whose daemon runs, as the keeper says, becomes "silent"; what that server says of itself is added, as far as
 * it answers within a second. Call before diagnose(). Nothing happens where the socket is of no lab.
 */
void silent_ask(struct rows *rows, const char *path);

#endif
