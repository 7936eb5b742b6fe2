/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - what a run of a world has shown, as fields of a report. */
#ifndef SIMULATOR_CWSIM_REPORT_H
#define SIMULATOR_CWSIM_REPORT_H

#include "scenario/report.h"
#include "simulator/world.h"

/* A stretch of a run: the totals at its two ends, and what it cost. */
struct report_span {
    struct world_totals from, to;
    double wall_seconds;
    double start_seconds;     /* of the processor, until the stretch began */
    double processor_seconds; /* of the processor, while the load was on */
    uint64_t hops, events;    /* of that time */
};

/*
 * Adds, of the stretch: seed dims servers packets delivered dropped dropped_by_cause (nodes' causes and losses on wires
 * that are not 0) lost dropped_share misdelivered duplicated hops_mean hops_max sim_seconds wall_seconds packet_hops
 * packet_hops_per_second start_seconds processor_seconds packet_hops_per_processor_second events_per_processor_second
 * bytes_per_node memory_bytes events digest, of the stretch. Throughput (achieved_gbps bound_gbps ratio) is its own
 * call.
 */
void report_run(struct report *r, struct world *w, const struct report_span *span);

/*
 * Adds achieved_gbps, bound_gbps, ratio and goodput_gbps. achieved_gbps is the link time, per running server, that
 * delivered packets of wire_bytes each (gaps included) take, since the bound is one of link time; goodput_gbps is their
 * payload.
 */
void report_throughput(struct report *r, struct world *w, const struct report_span *span, unsigned servers,
                       uint32_t wire_bytes, uint64_t payload_bytes);

#endif
