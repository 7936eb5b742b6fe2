/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_host.h - what this daemon provides for job protection (NMU 4.5): the operator's key, by which signed records are
 * recognized, the folder in which records are kept, and the job file that the daemon begins with.
 *
 * With an operator's key, a job record counts only when it is signed; the service `jobs` reaches the key, the kept
 * records and those of the file by services/jobs/host.h. Without a key, records come from the job file only, which is
 * then taken as it is, on this server alone.
 */
#ifndef DAEMON_FILES_JOB_HOST_H
#define DAEMON_FILES_JOB_HOST_H

#include "core/node.h"
#include "daemon/config/config.h"

struct job_host;
struct log;

enum { JOB_HOST_WHY = 1024 };

/*
 * Calls mistake for everything that is wrong with the key and the job file of the configuration. 0, or -EINVAL. Changes
 * nothing.
 */
CW_MUST_CHECK int job_host_check(const struct daemon_config *config, config_mistake_fn *mistake, void *context);

/*
 * Gives *out, which is closed after the nodes. Borrows log (may be NULL). Makes the folder of kept records, unless the
 * whole torus is in this process, which keeps none. -errno and why.
 */
CW_MUST_CHECK int job_host_open(struct job_host **out, const struct daemon_config *config, struct log *log,
                                char why[static JOB_HOST_WHY]);
void job_host_close(struct job_host *d); /* NULL is allowed */

/* For node_env.objects; borrowed until job_host_close(). */
const struct node_object *job_host_objects(const struct job_host *d);
/*
 * Lends the record of a job that stands unsigned in the job file; NULL: there is none. It has the shape of
 * nmu_source.record.
 */
const uint8_t *job_host_record(void *host, cw_job job, size_t *size);

#endif
