/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kv_load.h - the cache under load in a simulated torus: which questions are asked, what handling them costs, and how
 * they were answered.
 *
 * The loops are closed: an asker has a fixed number of questions under way, and asks the next one when one is answered.
 * Either every server asks for clients of its own, or generators outside of the torus ask servers at random. All values
 * are stored before the measurement; no question writes.
 */
#ifndef BENCH_KV_LOAD_H
#define BENCH_KV_LOAD_H

#include "cubeway/time.h"
#include "cubeway/types.h"

#include <stdbool.h>

struct kv_load {
    cw_dims dims;
    uint64_t seed;       /* keys have other names with another seed, hence other roots */
    unsigned extras;     /* k */
    unsigned copies_mib; /* memory for copies of each server */
    unsigned keys;       /* how many different keys are asked for */
    double theta;        /* the n-th key is asked for with a chance in proportion to 1 / n^theta; 0: all alike */
    unsigned bytes;      /* of each value */
    unsigned at_once;    /* questions under way: of each server; with generators, of all of them together */

    unsigned generators; /* how many; each of their questions goes to a server drawn at random. 0: the servers ask */
    bool links;          /* each generator gets its answers through a link of 1 Gb/s; otherwise they take no time */
    cw_span outside;     /* there and back between a generator and a server, without the time on that link */

    cw_span front;        /* processor time of a question at the server that was asked; not 0 */
    cw_span frame;        /* processor time of a frame at each server that it reaches */
    uint32_t byte_ps;     /* processor time of each of its bytes there, in ps */
    cw_span hop;          /* delay of a frame in a server; frames are delayed in parallel */
    uint32_t hop_byte_ps; /* delay for each of its bytes, in ps */

    cw_span warm, measure;
};

struct kv_load_result {
    uint64_t answered, here, copy, root, misses, failed;
    double rate;                            /* answers a second */
    double median_rate;                     /* answers a second to the clients of the median server */
    double mean_us, p50_us, p95_us, p99_us; /* from asked to answered */
    double hops;                            /* links that packets crossed, for each answer, all packets and both ways */
    double worst;   /* answers given to others by the server that gave most of them, over the mean server */
    double busiest; /* share of the time that the busiest processor worked */
    double busy;    /* the mean of that share over all processors */
    uint64_t fetches, drops, retries;
    uint64_t digest;
};

/* Runs the load. Ends the program, with a reason, when an invariant breaks or no question is answered. */
void kv_load_run(const struct kv_load *load, struct kv_load_result *out);

#endif
