/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workload.h - traffic of the bench service on every running server, by its commands, so that a workload is the same here and on real
 * servers. Servers that start later get it when they start.
 */
#ifndef SIMULATOR_WORKLOAD_H
#define SIMULATOR_WORKLOAD_H

#include "simulator/world.h"

enum workload_kind {
    WORKLOAD_KEYS,       /* packets to random keys, `rate` per second and server */
    WORKLOAD_ALL_TO_ALL, /* packets to servers in turn or at random, at `load` of what the torus carries */
    WORKLOAD_NEIGHBOURS, /* every link of every server saturated */
    WORKLOAD_KINDS,
};

struct workload {
    enum workload_kind kind;
    uint32_t rate;     /* packets per second and server (keys; all-to-all: used when load_ppm is 0) */
    uint32_t load_ppm; /* of the bound 6L(N-1)/(3hN) of facts 7, or of a link (neighbours) */
    uint32_t bytes;    /* of a packet behind the Ethernet header, frame head included; 0: a full frame */
    cw_link links;     /* neighbours: bit set; 0: all */
};

/* Starts on all running servers now, and on each that starts from now on. -ENOENT when they have no bench service. */
CW_MUST_CHECK int workload_start(struct world *w, const struct workload *load);
/* Ends on all servers; packets under way go on. */
void workload_stop(struct world *w);

/* What the bench services counted, summed over servers that run now. */
struct workload_result {
    uint64_t sent, received, lost_order, duplicated;
    uint64_t bytes_received; /* payload */
};
void workload_collect(struct world *w, struct workload_result *out);

/* The offered rate of one server in packets per second that makes load_ppm of the bound, for packets of so many bytes. */
uint64_t workload_rate(const struct world *w, uint32_t load_ppm, uint32_t bytes);
/* 6L(N-1)/(3hN) in bits per second and server: what every server can receive at most (facts 7). */
uint64_t workload_bound(const struct torus *torus, uint64_t link_bits_per_second);

#endif
