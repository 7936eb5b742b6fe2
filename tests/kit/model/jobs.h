/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jobs.h - jobs as plain arrays for tests of the NMU: writes one as a record, and says what is allowed by looking at
 * every line, as a reader of NMU 3 would (the reference that the check is compared with).
 */
#ifndef KIT_JOBS_H
#define KIT_JOBS_H

#include "nmu/check.h"
#include "nmu/job_record.h"

#include <stdlib.h>

enum { JOBS_SPANS = 8, JOBS_PORTS = 8, JOBS_GRANTS = 32, JOBS_RANGES = 8, JOBS_BYTES = 16384 };

struct plain_grant {
    cw_job job;
    bool all_processes, all_ports;
    unsigned spans, ports;
    struct job_span span[JOBS_SPANS];
    cw_port port[JOBS_PORTS];
};

struct plain_job {
    cw_job job; /* 0: no such job */
    uint64_t version, generation;
    bool destroyed;
    unsigned ranges, grants;
    struct job_range range[JOBS_RANGES];
    struct plain_grant grant[JOBS_GRANTS];
};

/* Writes the job as a record. Returns its size. Aborts when the job is not a valid one. */
static inline size_t plain_write(const struct plain_job *job, uint8_t *bytes, size_t size)
{
    struct job_record head = {.job = job->job,
                              .version = job->version,
                              .generation = job->generation,
                              .destroyed = job->destroyed,
                              .name = "job"};
    struct job_record_writer w;
    job_record_begin(&w, bytes, size, &head);
    for (unsigned i = 0; i < job->ranges && !job->destroyed; i++) {
        job_record_put_range(&w, &job->range[i]);
    }
    for (unsigned i = 0; i < job->grants && !job->destroyed; i++) {
        const struct plain_grant *g = &job->grant[i];
        job_record_put_grant(&w, g->job, g->all_processes ? NULL : g->span, g->spans, g->all_ports ? NULL : g->port,
                             g->ports);
    }
    size_t used;
    if (job_record_finish(&w, &used) != WIRE_OK) {
        abort();
    }
    return used;
}

/* The job in bytes[size], decoded; its bytes must outlive it. */
static inline struct job_record plain_record(const struct plain_job *job, uint8_t *bytes, size_t size)
{
    struct job_record record;
    if (job_record_decode(bytes, plain_write(job, bytes, size), &record) != WIRE_OK) {
        abort();
    }
    return record;
}

static inline bool plain_names_port(const struct plain_grant *g, cw_port port)
{
    for (unsigned i = 0; i < g->ports; i++) {
        if (g->port[i] == port) {
            return true;
        }
    }
    return g->all_ports;
}

static inline bool plain_names_process(const struct plain_grant *g, cw_process process)
{
    for (unsigned i = 0; i < g->spans; i++) {
        if (g->span[i].first <= process && process <= g->span[i].last) {
            return true;
        }
    }
    return g->all_processes;
}

/* May job `me`, of the generation with which its speaker was let in (0: any), send there? All jobs are jobs[count]. */
static inline enum nmu_cause plain_check(const struct plain_job *jobs, unsigned count, unsigned me, uint64_t generation,
                                         const struct nmu_to *to, cw_server *server)
{
    const struct plain_job *own = &jobs[me];
    if (own->job == 0) {
        return NMU_NO_RECORD;
    }
    if (own->destroyed) {
        return NMU_DESTROYED;
    }
    if (generation != 0 && own->generation != generation) {
        return NMU_STALE;
    }
    bool named = false, granted = false;
    for (unsigned i = 0; i < own->grants; i++) {
        const struct plain_grant *g = &own->grant[i];
        if (g->job == to->job && plain_names_port(g, to->port)) {
            named = true;
            granted = granted || (to->key ? g->all_processes : plain_names_process(g, to->process));
        }
    }
    if (!granted) {
        return named ? NMU_NO_REACH : NMU_NO_GRANT;
    }
    *server = CW_SERVER_NONE;
    for (unsigned i = 0; i < count; i++) {
        if (jobs[i].job != to->job || jobs[i].destroyed) {
            continue;
        }
        if (to->key) {
            return NMU_ALLOWED;
        }
        for (unsigned k = 0; k < jobs[i].ranges; k++) {
            const struct job_range *r = &jobs[i].range[k];
            if (to->process >= r->first && to->process - r->first < r->count) {
                *server = r->server + (to->process - r->first);
                return NMU_ALLOWED;
            }
        }
        return NMU_NO_PROCESS;
    }
    return NMU_NO_JOB;
}

#endif
