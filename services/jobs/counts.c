/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counts.c - what the service counts: for operators (`status`) and for the metrics alike.
 */
#include "services/jobs/jobs_internal.h"

const struct metric jobs_counts[JOBS_COUNTS] = {
    [JOBS_COUNT_ACCEPTED] = {"accepted", "Records taken in."},
    [JOBS_COUNT_REPEATED] = {"repeated", "Records that came again."},
    [JOBS_COUNT_OLD] = {"old", "Records refused: a later one is held."},
    [JOBS_COUNT_FORKS] = {"forks", "Records that claim a version that is held with other contents, and won."},
    [JOBS_COUNT_UNSIGNED] = {"unsigned", "Records refused: not signed by the operator for this cluster."},
    [JOBS_COUNT_FOREIGN] = {"foreign", "Frames of another cluster."},
    [JOBS_COUNT_MALFORMED] = {"malformed", "Frames and records that are none, or of a job that has none."},
    [JOBS_COUNT_STRANGERS] = {"strangers", "Packets of other jobs."},
    [JOBS_COUNT_FULL] = {"full", "Records refused: too many jobs, or bytes."},
    [JOBS_COUNT_BUSY] = {"busy", "Records put off: too many signatures under way."},
    [JOBS_COUNT_NMU] = {"nmu_full", "Records that the tables of the NMU cannot hold: the job may do nothing."},
    [JOBS_COUNT_UNKEPT] = {"unkept", "Records that could not be stored."},
};

void jobs_count(struct jobs *j, enum jobs_count what)
{
    j->count[what]++;
    cw_counter_add(j->counter[what], 1);
}
