/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_right.h - the rights of a plan: how they are split, joined and brought into one order. For job_plan.c.
 */
#ifndef JOBFILE_JOB_RIGHT_H
#define JOBFILE_JOB_RIGHT_H

#include "jobfile/job_plan.h"

void job_right_close(struct job_right *right);
/* Makes *out what the grant says. -ENOMEM: *out is to be closed all the same. */
CW_MUST_CHECK int job_right_from(struct job_right *out, const struct job_grant *grant);

/* Brings the plan's rights into their one form. -ENOMEM. */
CW_MUST_CHECK int job_plan_normalize(struct job_plan *p);

/*
 * job_plan_grant() without bringing the rights into their one form: for many grants, with one job_plan_normalize()
 * after them.
 */
CW_MUST_CHECK int job_plan_grant_raw(struct job_plan *p, cw_job job, const struct job_ports *ports,
                                     const struct processes *who);

#endif
