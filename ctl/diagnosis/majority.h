/* SPDX-License-Identifier: Apache-2.0 */
/*
 * majority.h - a majority that is lost, as one server sees it, beside what all that answered say: a server that lives
 * is not called away, and need not be started. For diagnosis.c.
 */
#ifndef CTL_DIAGNOSIS_MAJORITY_H
#define CTL_DIAGNOSIS_MAJORITY_H

#include "ctl/ask/call.h"

/*
 * Looks at the findings no-majority, whose fields are `members` and `torus` (numbers), `left`, `away`, `near` and
 * `start` (names with spaces between). Servers that live need not be started: those that have answered, and those that
 * others hear. Where there is a majority with those of them that are `near`, which have a neighbour in view, views have
 * not settled: the finding is "unsettled" then, and a warning. Of several parts the largest one tells, once, and of no
 * server by itself.
 * answered: names with spaces between; NULL: what one server says is kept as it is.
 */
void diagnose_majority(struct rows *rows, const char *answered);

#endif
