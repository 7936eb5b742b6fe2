/* SPDX-License-Identifier: Apache-2.0 */
/*
 * near.h - what one server says, beside what the others say: a cable that seems dead from here, and at whose
 * far end an interface is off; a server that seems away, and is heard by neighbours that refuse it.
 */
#ifndef CTL_DIAGNOSIS_NEAR_H
#define CTL_DIAGNOSIS_NEAR_H

#include "ctl/ask/call.h"

/* Has a server that was asked alone found anything of a cable for which its far end may know the cause? */
bool diagnose_near_doubts(const struct rows *rows);
/* Puts what the far ends say of themselves, as findings in `all`, in the place of what was found of their cables. */
void diagnose_near(struct rows *rows, const struct rows *all);
/*
 * A cable of which one end is heard and does not answer, while the far end says in *all that it rests: that is no
 * fault, but a note. *all may be *rows.
 */
void diagnose_rests(struct rows *rows, const struct rows *all);
/*
 * What a neighbour says of a server that runs, and that it does not take in: another cluster, other settings, another
 * version, another server's coordinate. Borrowed from *all; NULL: nobody says so.
 */
const char *diagnose_refused(const struct rows *all, const char *server);

#endif
