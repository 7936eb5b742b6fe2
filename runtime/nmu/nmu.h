/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nmu.h - the network management unit of one server (NMU 4; semantics 7.4): the tables as one thing that job records
 * change.
 *
 * Guarantee: nmu_ask() lets pass what the records taken in grant and nothing else. A record is taken in whole or not at
 * all, and only when it is not older than the one before. Of jobs that are neither resident nor reachable from here
 * nothing is kept: nmu_missing() names those whose record is needed, after every call that can change that.
 *
 * Legal order: open; then reside, put, missing, ask, .. in any; close. Nothing is allocated in between but by the
 * response table, within its limit. Calls nobody, knows no clock and no signature: whoever puts a record has checked
 * it.
 */
#ifndef NMU_NMU_H
#define NMU_NMU_H

#include "nmu/check.h"
#include "nmu/denied.h"
#include "nmu/job_record.h"
#include "nmu/receive.h"
#include "nmu/response.h"
#include "nmu/seals.h"

struct nmu_config {
    uint32_t speakers;       /* who may speak at one time */
    uint32_t jobs;           /* resident and reachable, at most MAP_JOBS_MAX */
    uint32_t privileges;     /* of all resident jobs: (remote job, port) pairs */
    uint32_t spans;          /* of grants that are not to all processes */
    uint32_t ranges;         /* of jobs on more than one range of servers */
    uint32_t denied;         /* rows of refusals */
    uint32_t receives;       /* ports with a template */
    uint32_t responses;      /* rights to answer */
    uint32_t responses_each; /* of one requester */
    uint64_t salt;
};
/* Enough for a server of services, small enough for thousands of them in one process. */
struct nmu_config nmu_config_default(void);

struct nmu {
    struct nmu_tables tables;
    struct denied denied;
    struct receive receive;
    struct response_table responses;
    struct seals seals;
};

/* -ENOMEM. */
CW_MUST_CHECK int nmu_open(struct nmu *n, const struct nmu_config *config);
/*
 * From now on every entry of the access, privilege and map tables bears a seal (NMU 6.2): nmu_ask() refuses
 * (NMU_TAMPERED) where one that it reads does not, and a change of the tables, which looks at all of them first,
 * empties them then: default deny, until records are put again. Once, behind open. -ENOMEM.
 */
CW_MUST_CHECK int nmu_seal(struct nmu *n, const struct siphash_key *key);
/* Looks at so many entries, those after the last time's; how many did not bear their seal. 0 without seals. */
uint32_t nmu_sweep(struct nmu *n, uint32_t entries);
/* Empties the access, privilege and map tables: nobody speaks, no record is here. */
void nmu_clear(struct nmu *n);
void nmu_close(struct nmu *n);
size_t nmu_bytes(const struct nmu *n);

/*
 * From now on the speaker is that process of that job, of that generation only (0: of all to come, for services). It
 * may send as soon as its job's record is here. -EBUSY: somebody speaks there; -ENOSPC: too many jobs; -EINVAL.
 */
CW_MUST_CHECK int nmu_reside(struct nmu *n, uint32_t speaker, cw_job job, cw_process process, uint64_t generation);
/* Nobody speaks there any more. */
void nmu_vacate(struct nmu *n, uint32_t speaker);
/* Who speaks for that process, the first of them; UINT32_MAX: it is not here. Linear. */
uint32_t nmu_speaker_of(const struct nmu *n, cw_job job, cw_process process);

/*
 * Takes in a record, decoded, whose bytes it borrows for the call: 1. 0: nobody here needs it. -ESTALE: a later one is
 * here; -ENOSPC: the tables cannot hold it, and all is as before. Linear in the record and in the tables: records
 * change seldom.
 */
CW_MUST_CHECK int nmu_job_put(struct nmu *n, const struct job_record *record);
/* Is there room for the record in tables that hold nothing else? Where not, no order of changes makes any. */
bool nmu_could_hold(const struct nmu *n, const struct job_record *record);
/* The job's record is not held any more; the job may do nothing and nobody can reach it. */
void nmu_job_drop(struct nmu *n, cw_job job);
/* A job whose record is needed, at or after *from, which moves behind it; 0: no more. */
cw_job nmu_missing(const struct nmu *n, uint32_t *from);
/* Borrows what is held of the job, or NULL. */
const struct map_job *nmu_job(const struct nmu *n, cw_job job);

/* nmu_check(), and what is refused is counted. */
CW_MUST_CHECK enum nmu_cause nmu_ask(struct nmu *n, uint32_t speaker, const struct nmu_to *to, struct nmu_pass *pass);

#endif
