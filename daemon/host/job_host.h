/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_host.h - what this daemon has for job protection (NMU 4.5): the operator's key, by which signed records are known, the place where
 * they are kept, and the job file that it begins with.
 *
 * With an operator's key, job records are signed or do not count: the service `jobs` gets at the key, the kept records and the file's by
 * services/jobs/host.h. Without one, no record comes from anywhere but the job file, which is then taken as it is, on this server alone.
 */
#ifndef DAEMON_HOST_JOB_HOST_H
#define DAEMON_HOST_JOB_HOST_H

#include "core/node.h"
#include "daemon/config/config.h"

struct job_host;
struct log;

enum { JOB_HOST_WHY = 1024 };

/* What is wrong with the key and the job file of the configuration, all of it, told. 0, or -EINVAL. Changes nothing. */
CW_MUST_CHECK int job_host_check(const struct daemon_config *config, config_mistake_fn *mistake, void *context);

/*
 * Gives *out, to be closed after the nodes. Borrows log (may be NULL). Makes the folder of kept records, unless the whole torus is in this process:
 * that one keeps nothing. -errno and why.
 */
CW_MUST_CHECK int job_host_open(struct job_host **out, const struct daemon_config *config, struct log *log,
                                char why[static JOB_HOST_WHY]);
void job_host_close(struct job_host *d); /* NULL is allowed */

/* For node_env.objects; borrowed. */
const struct node_object *job_host_objects(const struct job_host *d);
/* Lends the record of a job that stands unsigned in the job file, or NULL; the shape of nmu_source.record. */
const uint8_t *job_host_record(void *host, cw_job job, size_t *size);

#endif
