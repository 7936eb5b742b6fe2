/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nmu.h - the network management unit of one server (NMU 4; docs/nmu.md): the tables as one thing that job records
 * change.
 *
 * Guarantee: nmu_ask() lets pass what the records that were taken in grant, and nothing else. A record is taken in
 * whole or not at all, and only when it is not older than the one before (nmu rule 7). Nothing is kept of jobs that are
 * neither resident nor reachable from here (nmu rule 8): after every call that can change which records are needed,
 * nmu_missing() names the jobs whose record is not here.
 *
 * Legal order: open; then reside, put, missing, ask and the rest in any order; close. In between only the response
 * table allocates, within its limit. The unit calls nobody, and knows no clock and no signature: the caller has checked
 * the record that it puts.
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
    uint32_t speakers;       /* that may be let in at one time */
    uint32_t jobs;           /* resident and reachable ones, at most MAP_JOBS_MAX */
    uint32_t privileges;     /* of all resident jobs: (remote job, port) pairs */
    uint32_t spans;          /* of grants that are not to all processes */
    uint32_t ranges;         /* of jobs that live on more than one range of servers */
    uint32_t denied;         /* rows of refusals */
    uint32_t receives;       /* ports with a template */
    uint32_t responses;      /* rights to answer */
    uint32_t responses_each; /* of one requester */
    uint64_t salt;
};
/* Enough for a server with services, and small enough for thousands of servers in one process. */
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
 * From now on every entry of the access, privilege and map tables bears a seal (NMU 6.2). nmu_ask() refuses
 * (NMU_TAMPERED) where an entry that it reads does not bear its own. A change of the tables looks at all entries first
 * and, if one does not bear its seal, empties the tables: default deny, until records are put again. Called once, after
 * nmu_open(). -ENOMEM.
 */
CW_MUST_CHECK int nmu_seal(struct nmu *n, const struct siphash_key *key);
/* Looks at the next `entries` entries; gives how many of them did not bear their seal. 0 without seals. */
uint32_t nmu_sweep(struct nmu *n, uint32_t entries);
/* Empties the access, privilege and map tables: nobody speaks, no record is here. */
void nmu_clear(struct nmu *n);
void nmu_close(struct nmu *n);
size_t nmu_bytes(const struct nmu *n);

/*
 * Lets a speaker in: from now on it is that process of that job, in that generation only (0: in all to come, for
 * services). It may send as soon as the record of its job is here. -EBUSY: somebody speaks there; -ENOSPC: too many
 * jobs; -EINVAL.
 */
CW_MUST_CHECK int nmu_reside(struct nmu *n, uint32_t speaker, cw_job job, cw_process process, uint64_t generation);
/*
 * Lets a speaker that is here speak in the present generation of its job only, whose record is here. Gives that
 * generation; 0: the speaker is not here any more, since sealed tables were tampered with and emptied.
 */
uint64_t nmu_bind(struct nmu *n, uint32_t speaker);
/* Nobody speaks there any more. */
void nmu_vacate(struct nmu *n, uint32_t speaker);
/* The first speaker of that process; UINT32_MAX: it is not here. Linear. */
uint32_t nmu_speaker_of(const struct nmu *n, cw_job job, cw_process process);

/*
 * Takes in a decoded record, whose bytes it borrows for the call. Gives 1; 0: nobody here needs it; -ESTALE: a later
 * one is here; -ENOSPC: the tables cannot hold it, and all is as before. Linear in the record and in the tables:
 * records change seldom.
 */
CW_MUST_CHECK int nmu_job_put(struct nmu *n, const struct job_record *record);
/* Is there room for the record in tables that hold nothing else? If not, no order of changes makes room for it. */
bool nmu_could_hold(const struct nmu *n, const struct job_record *record);
/* The job's record is not held any more; the job may do nothing and nobody can reach it. */
void nmu_job_drop(struct nmu *n, cw_job job);
/* Gives a job whose record is needed, at or after *from, and moves *from behind it. 0: there are no more. */
cw_job nmu_missing(const struct nmu *n, uint32_t *from);
/* Borrows what is held of the job, or NULL. */
const struct map_job *nmu_job(const struct nmu *n, cw_job job);
/* How many jobs more there is room for. */
uint32_t nmu_jobs_left(const struct nmu *n);
/* Is the job's record here, and it was not destroyed? */
bool nmu_is_known(const struct nmu *n, cw_job job);
/* Where the process lives by the record that is here; CW_SERVER_NONE: nowhere, or the job is not known. */
cw_server nmu_home(const struct nmu *n, cw_job job, cw_process process);

/* As nmu_check(), and counts what is refused. */
CW_MUST_CHECK enum nmu_cause nmu_ask(struct nmu *n, uint32_t speaker, const struct nmu_to *to, struct nmu_pass *pass);

#endif
