/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workload.h - traffic that the bench service makes on every running server. It is started by the service's commands,
 * so that a workload is the same here and on real servers. Servers that start later get it when they start.
 */
#ifndef SIMULATOR_WORKLOAD_H
#define SIMULATOR_WORKLOAD_H

#include "scenario/plan.h"
#include "simulator/world.h"

/*
 * Starts the workload on all running servers, and on each server that starts from now on. -ENOENT: they have no bench
 * service; or what that service said.
 */
CW_MUST_CHECK int workload_start(struct world *w, const struct workload *load);
/* Ends the workload on all servers; packets under way go on. */
void workload_stop(struct world *w);
/* Statistics begin anew on all running servers. */
void workload_reset(struct world *w);

/* What the bench services have counted, summed over the servers that run now (least and most: of one server). */
struct workload_result {
    uint64_t sent, refused, unreachable, skipped;
    uint64_t received, bytes; /* payload */
    uint64_t lost, duplicated, reordered, old;
    uint64_t hops_sum, hops_max;
    int64_t latency_sum_ns, latency_min_ns, latency_max_ns;
    uint64_t bytes_least, bytes_most; /* received by one server */
};
void workload_collect(struct world *w, struct workload_result *out);

/* Payload bits per second that one server must send, in packets of so many bytes, to make load_ppm of the bound. */
uint64_t workload_rate(const struct world *w, uint32_t load_ppm, uint32_t bytes);
/*
 * The bound: 2L(N-1)/(N max h(axis)), in a cube 6L(N-1)/(3hN): the most bits per second, as they are on the wire, that
 * every server can receive at the same time.
 */
uint64_t workload_bound(const struct torus *torus, uint64_t link_bits_per_second);

#endif
