/* SPDX-License-Identifier: Apache-2.0 */
/*
 * missing.h - servers that have not said how they are: whoever was asked and did not answer, or was out of view and so
 * was not asked. None of them may pass for one that is well: where no finding names such a server, one is made for it.
 */
#ifndef CTL_DIAGNOSIS_MISSING_H
#define CTL_DIAGNOSIS_MISSING_H

#include "ctl/ask/call.h"

/* How many of the servers of the torus have answered, through the torus or when they were asked by themselves. */
struct missing_count {
    char server[32]; /* the only one that was asked, or "" */
    int64_t servers, answered;
};
struct missing_count missing_count(const struct rows *rows);

/*
 * A server went out of view while it was asked: others had answered by then, perhaps before they missed it. To ask all
 * of them again tells more.
 */
bool missing_meanwhile(const struct rows *rows);

/*
 * The names of the servers that have not answered and of which findings ought to tell, with spaces between; the caller
 * frees it. Adds a finding for each that is in view and did not answer. *failed: the daemon that was asked knows them,
 * and has taken their power, as it was told to. Call while all rows are there.
 */
CW_MUST_CHECK char *missing_take(struct rows *rows, bool *failed);
/* Adds a finding about those of the names that no finding tells of. Call with nothing but findings in *rows. */
void missing_tell(struct rows *rows, const char *names, bool failed);

#endif
