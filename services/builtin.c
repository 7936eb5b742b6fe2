/* SPDX-License-Identifier: Apache-2.0 */
#include "services/builtin.h"

#include "nmu/book.h"
#include "services/aggregate/aggregate.h"
#include "services/aggregate/dense/dense.h"
#include "services/bench/bench.h"
#include "services/inquiry/inquiry.h"
#include "services/jobs/jobs.h"
#include "services/kvcache/kvcache.h"
#include "services/multicast/cast/head.h"
#include "services/multicast/multicast.h"
#include "services/ping/ping.h"
#include "services/store/entry/store.h"
#include "services/table.h"
#include "services/trace/trace.h"
#include "services/transport/transport.h"
#include "services/tunnel/packet/limits.h"
#include "services/tunnel/tunnel.h"

#include <string.h>

/* Behind them those that nobody runs unasked, whose jobs and grants are there all the same. */
static const cw_service *const services[] = {
    &ping_service,      &bench_service,     &trace_service,   &jobs_service,   &transport_service, &kvcache_service,
    &multicast_service, &aggregate_service, &inquiry_service, &tunnel_service, &store_service,
};
enum { ALL = sizeof services / sizeof *services, ON_DEMAND = 2, SERVICES = ALL - ON_DEMAND };

const cw_service *const *builtin_services(size_t *count)
{
    *count = SERVICES;
    return services;
}

const cw_service *const *builtin_all(size_t *count)
{
    *count = ALL;
    return services;
}

int builtin_network(cw_job job, const char *name, unsigned open, cw_service *out, char *why)
{
    return table_instance(&tunnel_service, job, name, open, out, why);
}

/* The port that each of them uses: 0. */
static const struct book_grant grants[] = {
    {.from = PING_JOB, .to = PING_JOB, .port = 0, .all_processes = true},
    {.from = BENCH_JOB, .to = BENCH_JOB, .port = 0, .all_processes = true},
    {.from = TRACE_JOB, .to = TRACE_JOB, .port = 0, .all_processes = true},
    {.from = JOBS_JOB, .to = JOBS_JOB, .port = JOBS_PORT, .all_processes = true},
    {.from = TRANSPORT_JOB, .to = TRANSPORT_JOB, .port = 0, .all_processes = true},
    {.from = KVCACHE_JOB, .to = KVCACHE_JOB, .port = 0, .all_processes = true},
    {.from = KVCACHE_JOB, .to = KVCACHE_JOB, .port = 1, .all_processes = true}, /* the cache's large values */
    {.from = MULTICAST_JOB, .to = MULTICAST_JOB, .port = MULTICAST_PORT, .all_processes = true},
    {.from = MULTICAST_JOB, .to = MULTICAST_JOB, .port = MULTICAST_PORT_GROUPS, .all_processes = true},
    {.from = MULTICAST_JOB, .to = MULTICAST_JOB, .port = 1, .all_processes = true}, /* how far its files are */
    {.from = AGGREGATE_JOB, .to = AGGREGATE_JOB, .port = AGGREGATE_PORT_EDGE, .all_processes = true},
    {.from = AGGREGATE_JOB, .to = AGGREGATE_JOB, .port = AGGREGATE_PORT_CALL, .all_processes = true},
    {.from = AGGREGATE_JOB, .to = AGGREGATE_JOB, .port = AGGREGATE_PORT_QUERY, .all_processes = true},
    {.from = AGGREGATE_JOB, .to = AGGREGATE_JOB, .port = AGGREGATE_PORT_ORDER, .all_processes = true},
    {.from = AGGREGATE_JOB, .to = AGGREGATE_JOB, .port = AGGREGATE_PORT_STREAM, .all_processes = true},
    {.from = AGGREGATE_JOB, .to = AGGREGATE_JOB, .port = AGGREGATE_PORT_STREAM_CALL, .all_processes = true},
    {.from = TUNNEL_JOB, .to = TUNNEL_JOB, .port = TUNNEL_PORT, .all_processes = true},
    {.from = STORE_JOB, .to = STORE_JOB, .port = STORE_PORT_LETTERS, .all_processes = true},
    {.from = STORE_JOB, .to = STORE_JOB, .port = STORE_PORT_READ, .all_processes = true},
    {.from = STORE_JOB, .to = STORE_JOB, .port = STORE_PORT_WRITE, .all_processes = true},
    {.from = STORE_JOB, .to = STORE_JOB, .port = STORE_PORT_MEMBERS, .all_processes = true},
    {.from = STORE_JOB, .to = STORE_JOB, .port = STORE_PORT_OPERATORS, .all_processes = true},
    {.from = INQUIRY_JOB, .to = INQUIRY_JOB, .port = INQUIRY_PORT, .all_processes = true},
};
enum { GRANTS = sizeof grants / sizeof *grants };

const struct book_grant *builtin_grants(size_t *count)
{
    *count = GRANTS;
    return grants;
}

int builtin_jobs(struct book *book)
{
    int rc = 0;
    for (size_t i = 0; i < ALL && rc == 0; i++) {
        rc = book_add(book, services[i]->job, services[i]->name);
    }
    for (size_t i = 0; i < GRANTS && rc == 0; i++) {
        rc = book_allow(book, &grants[i]);
    }
    return rc;
}

const cw_service *builtin_service(const char *name)
{
    for (size_t i = 0; i < ALL; i++) {
        if (strcmp(services[i]->name, name) == 0) {
            return services[i];
        }
    }
    return NULL;
}
