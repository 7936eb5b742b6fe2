/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_job_record.c - any bytes as a job record. What is accepted is read to its last field, written again (it must be
 * the same bytes), and taken in by an NMU whose tables are too small for many: whatever the answer, the counts agree,
 * and it can be taken out again.
 */
#include "nmu/nmu.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool holds)
{
    if (!holds) {
        abort();
    }
}

static void copy_grant(struct job_record_writer *w, const struct job_grant *g)
{
    struct job_span span[JOB_RECORD_GRANT_SPANS_MAX];
    cw_port port[JOB_RECORD_GRANT_PORTS_MAX];
    for (unsigned i = 0; i < g->spans; i++) {
        span[i] = job_grant_span(g, i);
    }
    for (unsigned i = 0; i < g->ports; i++) {
        port[i] = job_grant_port(g, i);
    }
    job_record_put_grant(w, g->job, g->all_processes ? NULL : span, g->spans, g->all_ports ? NULL : port, g->ports);
}

static void write_again(const struct job_record *r, const uint8_t *data, size_t size)
{
    uint8_t *room = malloc(size);
    demand(room != NULL);
    struct job_record_writer w;
    job_record_begin(&w, room, size, r);
    for (unsigned i = 0; i < r->ranges; i++) {
        struct job_range range = job_record_range(r, i);
        job_record_put_range(&w, &range);
    }
    for (unsigned i = 0; i < r->ports; i++) {
        struct job_port port = job_record_port(r, i);
        job_record_put_port(&w, port.port, port.name);
    }
    const uint8_t *at = r->grant_bytes;
    for (unsigned i = 0; i < r->grants; i++) {
        struct job_grant g = job_record_next_grant(&at);
        copy_grant(&w, &g);
    }
    size_t again;
    demand(job_record_finish(&w, &again) == WIRE_OK && again == size && memcmp(room, data, size) == 0);
    free(room);
}

static void take_in(const struct job_record *r)
{
    struct nmu_config c = nmu_config_default();
    c.jobs = c.privileges = c.spans = c.ranges = 8;
    c.responses = 1;
    struct nmu n;
    demand(nmu_open(&n, &c) == 0);
    demand(nmu_reside(&n, 0, r->job, 1, 0) == 0);
    int rc = nmu_job_put(&n, r);
    const struct map_job *job = nmu_job(&n, r->job);
    demand(job->version == (rc == 1 ? r->version : 0) && job->rules == n.tables.privilege.used);
    const uint8_t *at = r->grant_bytes;
    for (unsigned i = 0; i < r->grants; i++) {
        struct job_grant g = job_record_next_grant(&at);
        struct nmu_to to = {.job = g.job, .port = g.ports > 0 ? job_grant_port(&g, 0) : 9};
        to.process = g.spans > 0 ? job_grant_span(&g, g.spans - 1u).last : 9;
        struct nmu_pass pass;
        enum nmu_cause cause = nmu_ask(&n, 0, &to, &pass);
        /* Only the own job's record is here. */
        bool may = cause == NMU_ALLOWED || cause == NMU_NO_PROCESS;
        demand(rc == 1 ? (g.job == r->job ? may : cause == NMU_NO_JOB) : cause == NMU_NO_RECORD);
    }
    nmu_vacate(&n, 0);
    demand(n.tables.privilege.used == 0 && n.tables.privilege.sets.used == 0 && n.tables.map.used == 0 &&
           n.tables.map.ranges.used == 0);
    nmu_close(&n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct job_record r;
    if (job_record_decode(data, size, &r) == WIRE_OK) {
        write_again(&r, data, size);
        take_in(&r);
    }
    return 0;
}
