/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jobs_kit.h - small signed job records for tests. A keyed hash that fills 64 bytes stands for the signature of
 * Ed25519: tested is not the signature, but what is done with a good or a bad one.
 */
#ifndef KIT_JOBS_KIT_H
#define KIT_JOBS_KIT_H

#include "base/digest.h"
#include "nmu/job_record.h"
#include "services/jobs/wire.h"

#include <stdio.h>
#include <stdlib.h>

enum { KIT_CLUSTER = 77, KIT_RECORD_MAX = 256 << 10, KIT_KEY = 4711 };

static inline void kit_sign(uint64_t key, uint32_t cluster, const uint8_t *record, size_t size, uint8_t *signature)
{
    for (uint64_t i = 0; i < JOBS_SIGNATURE_BYTES / 8; i++) {
        struct digest d;
        digest_init(&d);
        digest_u64(&d, key + i);
        digest_u64(&d, cluster);
        digest_bytes(&d, record, size);
        put_be64(signature + 8 * i, digest_value(&d));
    }
}

struct kit_job {
    cw_job job;
    uint64_t version, generation;
    bool destroyed;
    uint32_t processes; /* how many; the first is on server 0, and so on */
    cw_job remote;      /* the job whose processes and ports it may all send to; 0: none */
    unsigned grants;    /* how many further grants, to jobs 100000 and on, one port each */
};

/* Writes the record with its signature behind it. Returns the bytes of both. */
static inline size_t kit_record(const struct kit_job *job, uint64_t key, uint32_t cluster, uint8_t *room, size_t size)
{
    struct job_record head = {
        .job = job->job, .version = job->version, .generation = job->generation, .destroyed = job->destroyed};
    snprintf(head.name, sizeof head.name, "job-%u", job->job);
    struct job_record_writer w;
    job_record_begin(&w, room, size - JOBS_SIGNATURE_BYTES, &head);
    if (!job->destroyed) {
        struct job_range range = {0, job->processes, 0};
        if (job->processes > 0) {
            job_record_put_range(&w, &range);
        }
        if (job->remote != 0) {
            job_record_put_grant(&w, job->remote, NULL, 0, NULL, 0);
        }
        for (cw_job i = 0; i < job->grants; i++) {
            const cw_port port = 1;
            job_record_put_grant(&w, 100000 + i, NULL, 0, &port, 1);
        }
    }
    size_t bytes;
    if (job_record_finish(&w, &bytes) != WIRE_OK) {
        abort();
    }
    kit_sign(key, cluster, room, bytes, room + bytes);
    return bytes + JOBS_SIGNATURE_BYTES;
}

/* A valid record for most tests: version v of a job in its first generation. */
static inline size_t kit_version(cw_job job, uint64_t v, uint8_t *room)
{
    struct kit_job k = {.job = job, .version = v, .generation = 1, .processes = 4, .remote = job};
    return kit_record(&k, KIT_KEY, KIT_CLUSTER, room, KIT_RECORD_MAX);
}

static inline struct jobs_mark kit_mark(const uint8_t *signed_record, size_t size)
{
    struct jobs_mark mark;
    if (!jobs_mark_of(signed_record, size - JOBS_SIGNATURE_BYTES, &mark)) {
        abort();
    }
    return mark;
}

#endif
