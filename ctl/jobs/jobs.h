/* SPDX-License-Identifier: Apache-2.0 */
/* jobs.h - the commands that tell of jobs and change them, each as struct command's run wants it. */
#ifndef CTL_JOBS_JOBS_H
#define CTL_JOBS_JOBS_H

#include "ctl/ask/call.h"

int run_job_list(struct call *call);
int run_job_show(struct call *call);
int run_job_create(struct call *call);
int run_job_grant(struct call *call);
int run_job_revoke(struct call *call);
int run_job_destroy(struct call *call);
int run_job_explain(struct call *call);
int run_job_audit(struct call *call);
int run_job_keygen(struct call *call);
int run_job_sign(struct call *call);

#endif
