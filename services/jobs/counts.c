/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counts.c - what the service counts: for operators (`status`) and for the metrics alike.
 */
#include "services/jobs/jobs_internal.h"

const struct metric jobs_counts[JOBS_COUNTS] = {
    [JOBS_COUNT_ACCEPTED] = {"accepted", "Job records taken in."},
    [JOBS_COUNT_REPEATED] = {"repeated", "Records that came again while they were held."},
    [JOBS_COUNT_OLD] = {"old", "Records refused because a later one is held."},
    [JOBS_COUNT_FORKS] = {"forks", "Records that claimed a version held with other contents, and won."},
    [JOBS_COUNT_UNSIGNED] = {"unsigned", "Records refused because the operator did not sign them for this cluster."},
    [JOBS_COUNT_FOREIGN] = {"foreign", "Frames of job records from another cluster."},
    [JOBS_COUNT_MALFORMED] = {"malformed",
                              "Frames and records that could not be read, or of a job that may have none."},
    [JOBS_COUNT_STRANGERS] = {"strangers", "Packets from other jobs than this service."},
    [JOBS_COUNT_FULL] = {"full", "Records refused because too many jobs or bytes are held."},
    [JOBS_COUNT_BUSY] = {"busy", "Records put off: too many signatures were being checked."},
    [JOBS_COUNT_NMU] = {"nmu_full", "Records that the NMU has no room for: the job may do nothing here."},
    [JOBS_COUNT_UNKEPT] = {"unkept", "Records that could not be stored."},
};

void jobs_count(struct jobs *j, enum jobs_count what)
{
    j->count[what]++;
    cw_counter_add(j->counter[what], 1);
}
