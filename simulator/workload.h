/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workload.h - traffic of the bench service on every running server, by its commands, so that a workload is the same
 * here and on real servers. Servers that start later get it when they start.
 */
#ifndef SIMULATOR_WORKLOAD_H
#define SIMULATOR_WORKLOAD_H

#include "scenario/plan.h"
#include "simulator/world.h"

/*
 * Starts on all running servers now, and on each that starts from now on. -ENOENT when they have no bench service, or
 * what it said.
 */
CW_MUST_CHECK int workload_start(struct world *w, const struct workload *load);
/* Ends on all servers; packets under way go on. */
void workload_stop(struct world *w);
/* Statistics begin anew on all servers that run. */
void workload_reset(struct world *w);

/* What the bench services counted, summed over servers that run now (least and most: over all). */
struct workload_result {
    uint64_t sent, refused, unreachable, skipped;
    uint64_t received, bytes; /* payload */
    uint64_t lost, duplicated, reordered, old;
    uint64_t hops_sum, hops_max;
    int64_t latency_sum_ns, latency_min_ns, latency_max_ns;
    uint64_t bytes_least, bytes_most; /* received by one server */
};
void workload_collect(struct world *w, struct workload_result *out);

/* Payload bits per second of one server that make load_ppm of the bound, in frames of so many bytes. */
uint64_t workload_rate(const struct world *w, uint32_t load_ppm, uint32_t bytes);
/*
 * 2L(N-1)/(N max h(axis)), 6L(N-1)/(3hN) in a cube: bits per second on the wire that each server can receive at most.
 */
uint64_t workload_bound(const struct torus *torus, uint64_t link_bits_per_second);

#endif
