/* SPDX-License-Identifier: Apache-2.0 */
#include "nmu/cause.h"

#include "base/check.h"

const char *cause_text(enum nmu_cause cause)
{
    static const char *const text[NMU_CAUSES] = {
        [NMU_ALLOWED] = "allowed",
        [NMU_NO_SPEAKER] = "no process of that job runs on that server",
        [NMU_NO_RECORD] = "no record of the sender's job is held there, or there is no room for it",
        [NMU_DESTROYED] = "the sender's job was destroyed",
        [NMU_STALE] = "the sender was let in with another generation of its job",
        [NMU_NO_GRANT] = "no grant names that job and port",
        [NMU_NO_REACH] = "the grant does not cover that process",
        [NMU_NO_JOB] = "the job is not known here, or destroyed",
        [NMU_NO_PROCESS] = "the job has no such process",
        [NMU_TAMPERED] = "an entry of the tables does not bear its seal",
    };
    CHECK(cause < NMU_CAUSES);
    return text[cause];
}

const char *cause_name(enum nmu_cause cause)
{
    static const char *const name[NMU_CAUSES] = {
        [NMU_ALLOWED] = "allowed",     [NMU_NO_SPEAKER] = "no-speaker", [NMU_NO_RECORD] = "no-record",
        [NMU_DESTROYED] = "destroyed", [NMU_STALE] = "stale",           [NMU_NO_GRANT] = "no-grant",
        [NMU_NO_REACH] = "no-reach",   [NMU_NO_JOB] = "no-job",         [NMU_NO_PROCESS] = "no-process",
        [NMU_TAMPERED] = "tampered",
    };
    CHECK(cause < NMU_CAUSES);
    return name[cause];
}
