/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_result.h - how a put went: whether the operator's change is made, is to be made again, or was refused; and what
 * the operator is told.
 */
#ifndef CTL_JOBS_JOB_RESULT_H
#define CTL_JOBS_JOB_RESULT_H

#include "ctl/ask/call.h"
#include "jobfile/jobfile.h"

enum job_end {
    JOB_DONE,    /* every server in reach held this very record, or is fenced; or nobody waits for that */
    JOB_PART,    /* it counts, and is not all that was asked for: servers that are missing, or have no room */
    JOB_AGAIN,   /* another operator's record came first, or has taken its place: what that holds is to be looked at */
    JOB_REFUSED, /* for what the service says */
};
/*
 * Judges the answer to a put: the service's rc, and the rows of the answer.
 *
 * One server that holds a record that wins is enough for JOB_AGAIN. That record may be built upon ours, and may be one
 * that was made from the same record as ours and won: only reading the job again tells them apart. Of two that were
 * made from one record and put at two servers, the one that loses is always told so: the server where the winner was
 * put never held it.
 */
enum job_end job_result_end(int rc, const struct rows *rows);
/*
 * How long to wait before the next try, of which this is number 0, 1, ..: at random from nothing to 5 ms, 10 ms, ..
 * 320 ms, so that operators who met once do not meet again and again. chance: drawn by the caller.
 */
cw_span job_result_pause(unsigned tries, uint64_t chance);

/* Gives the fields of the answer to a put their types. */
void job_result_type(const struct rows *rows);
/* Writes how it went, as sentences or as JSON. wait: the put was waited for. */
void job_result_show(const struct call *call, const struct job_plan *plan, const struct rows *rows, bool wait);
/* The same, where nothing was to be changed. */
void job_result_already(const struct call *call, const struct job_plan *plan);

#endif
