/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_right.h - the rights of a plan by themselves: split, joined, in one order. What job_plan.c stands on.
 */
#ifndef JOBFILE_JOB_RIGHT_H
#define JOBFILE_JOB_RIGHT_H

#include "jobfile/job_plan.h"

void job_ports_close(struct job_ports *ports);
/* *to was empty. -ENOMEM. */
CW_MUST_CHECK int job_ports_copy(struct job_ports *to, const struct job_ports *from);
/* Adds a port, keeping the order; one that is there is not added. -ENOMEM. Nothing is added to all. */
CW_MUST_CHECK int job_ports_add(struct job_ports *ports, cw_port port);
bool job_ports_hold(const struct job_ports *ports, cw_port port);

void job_right_close(struct job_right *right);
/* *out is as the grant. -ENOMEM: it is to be closed. */
CW_MUST_CHECK int job_right_from(struct job_right *out, const struct job_grant *grant);

/* Brings the plan's rights into their one form. -ENOMEM. */
CW_MUST_CHECK int job_plan_settle(struct job_plan *p);

#endif
