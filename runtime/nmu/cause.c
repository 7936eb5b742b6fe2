/* SPDX-License-Identifier: Apache-2.0 */
#include "nmu/cause.h"

#include "base/check.h"

const char *cause_text(enum nmu_cause cause)
{
    static const char *const text[NMU_CAUSES] = {
        [NMU_ALLOWED] = "allowed",
        [NMU_NO_SPEAKER] = "nobody was let in there",
        [NMU_STALE] = "the sender's job is unknown, destroyed or of another generation",
        [NMU_NO_GRANT] = "no grant names that job and port",
        [NMU_NO_REACH] = "the grant does not cover that process",
        [NMU_NO_JOB] = "the job is not known here, or destroyed",
        [NMU_NO_PROCESS] = "the job has no such process",
        [NMU_TAMPERED] = "an entry of the tables does not bear its seal",
    };
    CHECK(cause < NMU_CAUSES);
    return text[cause];
}
