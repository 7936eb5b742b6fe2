/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kv_load.h - the cache under load in a simulated torus: who asks for what, what handling costs, and what came of it.
 *
 * Closed loops: whoever asks has so many questions under way, and asks the next one when one is answered. Either every
 * server asks for clients of its own, or generators outside ask servers at random. All values are stored before it
 * begins; no question writes.
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
    unsigned keys;       /* that are asked for */
    double theta;        /* the n-th of them with a chance in proportion to 1 / n^theta; 0: all alike */
    unsigned bytes;      /* of each value */
    unsigned at_once;    /* questions under way: of each server; with generators, of all of them together */

    unsigned generators; /* outside, and each question goes to a server drawn at random. 0: the servers ask */
    bool links;          /* each generator gets its answers through a link of 1 Gb/s; otherwise they take no time */
    cw_span outside;     /* there and back between a generator and a server, without the time on that link */

    cw_span front;        /* processor time of a question at the server that was asked; not 0 */
    cw_span frame;        /* and of a frame at a server that it reaches */
    uint32_t byte_ps;     /* ... and of each of its bytes */
    cw_span hop;          /* delay of a frame in a server, in parallel with others */
    uint32_t hop_byte_ps; /* ... and for each byte */

    cw_span warm, measure;
};

struct kv_load_result {
    uint64_t answered, here, copy, root, misses, failed;
    double rate;                            /* answers a second */
    double median_rate;                     /* ... to the clients of the median server */
    double mean_us, p50_us, p95_us, p99_us; /* from asked to answered */
    double hops;                            /* links that packets crossed, for each answer, all packets and both ways */
    double worst;   /* answers given to others by the server that gave most of them, over the mean server */
    double busiest; /* share of the time that the busiest processor worked */
    double busy;    /* the mean of all */
    uint64_t fetches, drops, retries;
    uint64_t digest;
};

/* Ends the program, with a reason, when an invariant breaks or nobody is answered. */
void kv_load_run(const struct kv_load *load, struct kv_load_result *out);

#endif
