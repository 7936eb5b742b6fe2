/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sealed_world.h - an NMU with something in every table, and its entries as memory: for tests that write where nobody
 * may.
 */
#ifndef NMU_SEALED_WORLD_H
#define NMU_SEALED_WORLD_H

#include "jobs.h"
#include "nmu/nmu.h"
#include "suite.h"

static const struct siphash_key world_key = {{UINT64_C(0x1234567890abcdef), UINT64_C(0xfedcba0987654321)}};

struct world_rows {
    enum sealed table;
    uint8_t *row;
    size_t size;
    uint32_t count;
};

/* Written apart from seals.c: what a reader of the tables' headers would list. */
static inline struct world_rows world_rows(const struct nmu *n, enum sealed table)
{
    const struct map *m = &n->tables.map;
    const struct privilege *p = &n->tables.privilege;
    switch (table) {
    case SEALED_ACCESS:
        return (struct world_rows){table, (uint8_t *)n->tables.access.entry, 24, n->tables.access.speakers};
    case SEALED_PRIVILEGE:
        return (struct world_rows){table, (uint8_t *)p->slot, 16, p->mask + 1};
    case SEALED_SET_LIST:
        return (struct world_rows){table, (uint8_t *)p->sets.list, 8, p->sets.owners};
    case SEALED_SET_SPAN:
        return (struct world_rows){table, (uint8_t *)p->sets.span, 12, p->sets.limit};
    case SEALED_JOB:
        return (struct world_rows){table, (uint8_t *)m->job, sizeof *m->job, m->jobs};
    case SEALED_DOOR:
        return (struct world_rows){table, (uint8_t *)m->door, 16, m->jobs};
    case SEALED_RANGE_LIST:
        return (struct world_rows){table, (uint8_t *)m->ranges.list, 8, m->ranges.owners};
    case SEALED_RANGE_SPAN:
        return (struct world_rows){table, (uint8_t *)m->ranges.span, 12, m->ranges.limit};
    case SEALED_JOB_SLOT:
    case SEALED_TABLES:
        break;
    }
    return (struct world_rows){SEALED_JOB_SLOT, (uint8_t *)m->slot, 4, m->slot_mask + 1};
}

static inline int world_put(struct nmu *n, const struct plain_job *job)
{
    uint8_t bytes[JOBS_BYTES];
    struct job_record record = plain_record(job, bytes, sizeof bytes);
    return nmu_job_put(n, &record);
}

/* Jobs 1 (resident, on two places; may reach 2 in sets, 3 wholly) to 4. */
static inline struct plain_job world_job(cw_job job)
{
    struct plain_job j = {.job = job, .version = 1, .generation = 1, .ranges = job == 2 ? 3 : 1};
    for (unsigned i = 0; i < j.ranges; i++) {
        j.range[i] = (struct job_range){4 * i, 3, 100 * job + 10 * i};
    }
    if (job == 1) {
        j.grants = 3;
        j.grant[0] = (struct plain_grant){.job = 2, .all_ports = true, .spans = 3, .span = {{0, 1}, {4, 5}, {9, 9}}};
        j.grant[1] = (struct plain_grant){.job = 2, .ports = 2, .port = {0, 1}, .spans = 2, .span = {{2, 2}, {6, 6}}};
        j.grant[2] = (struct plain_grant){.job = 3, .all_processes = true, .ports = 2, .port = {0, 2}};
    }
    return j;
}

static inline void world_fill(struct nmu *n)
{
    ck_assert_int_eq(nmu_reside(n, 0, 1, 0, 0), 0);
    ck_assert_int_eq(nmu_reside(n, 2, 1, 1, 1), 0);
    for (cw_job job = 1; job <= 3; job++) {
        struct plain_job j = world_job(job);
        ck_assert_int_eq(world_put(n, &j), 1);
    }
}

static inline void world_open(struct nmu *n, bool sealed)
{
    struct nmu_config c = nmu_config_default();
    c.speakers = 4;
    c.jobs = 5;
    c.privileges = c.spans = c.ranges = 8;
    c.responses = 1;
    ck_assert_int_eq(nmu_open(n, &c), 0);
    size_t plain = nmu_bytes(n);
    if (sealed) {
        ck_assert_int_eq(nmu_seal(n, &world_key), 0);
        ck_assert_uint_gt(nmu_bytes(n), plain);
    }
    world_fill(n);
}

#endif
