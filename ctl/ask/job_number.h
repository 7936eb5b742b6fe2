/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_number.h - the option --job of commands whose service takes the number of a job: people write its name.
 */
#ifndef CTL_ASK_JOB_NUMBER_H
#define CTL_ASK_JOB_NUMBER_H

#include "ctl/ask/call.h"

/*
 * Adds "job=N" to the request, if the call has --job: N is the number that it says, or that of the service or of the
 * job with that name, for which the daemon is asked. EXIT_FINE; or EXIT_USAGE after a line on errors: it is no number
 * of a job, and no name that the daemon knows.
 */
CW_MUST_CHECK int job_number_word(const struct call *call, struct request_draft *request);

#endif
