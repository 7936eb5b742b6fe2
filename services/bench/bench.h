/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench.h - the service that makes load, and says what came of it (CamCubeOS 4.2.1, 4.2.3 to 4.2.5).
 *
 *   all    every packet to another reachable server, chosen uniformly, at an exact rate
 *   keys   every packet to a random key, at an exact rate
 *   links  as many links to neighbours as asked for are kept full, the first `count` of +x -x +y -y +z -z
 *
 * An open loop: what cannot be sent when it is due is counted and not made up for. The first packet is sent at a random
 * part of the interval, so that servers are not in step. A packet says which run it is of, who sent it, its number and
 * when: so every receiver finds what is missing, twice there, or late. Numbers count per destination (all), per link
 * (links), or per sender (keys: duplicates only, since a receiver gets a few of many). Without numbers per destination
 * (all with track=0) they count what a sender makes at one instant, as after a pause, so that no two packets of a run
 * are equal. What is behind that record of BENCH_RECORD_BYTES is padding that is on the wire only.
 *
 * Commands (in brackets what may be left out, with its default):
 *   start mode=all rate=BITS/S [size=1024]           payload bits a second of this server; k, M, G may follow numbers
 *   start mode=keys rate=PACKETS/S [size=1024]
 *   start mode=links [count=6] [size=1024] [own=0]   own=1: through next_packet(), one packet at a time, not the queue
 *     and for all of them [run=N]                    must grow from run to run; else the clock's milliseconds
 *     and for all and keys [track=1]                 0: no numbers per server: saves 12 + W/8 bytes each, W 64..1024
 *   stop                                             sending; what arrives is still counted
 *   stats [links]                                    one row, or one for each link
 *   reset                                            the statistics; streams go on
 */
#ifndef SERVICES_BENCH_BENCH_H
#define SERVICES_BENCH_BENCH_H

#include "cubeway/service.h"

enum { BENCH_JOB = 2, BENCH_RECORD_BYTES = 32, BENCH_API_VERSION = 2 };

enum bench_mode { BENCH_IDLE, BENCH_ALL, BENCH_KEYS, BENCH_LINKS };

struct bench_plan {
    enum bench_mode mode; /* BENCH_ALL.. */
    uint64_t rate;        /* all: bits/s of payload; keys: packets/s. 1..10^15 */
    uint32_t size;        /* bytes of payload, BENCH_RECORD_BYTES..cw_mtu() */
    uint32_t count;       /* links: how many, 1..6 */
    uint32_t run;         /* 0: from the clock */
    bool own;             /* links: by the service's own queue */
    bool untracked;
};

/* Counted since the last reset. The load offered is sent + refused + unreachable + skipped. */
struct bench_stats {
    uint64_t sent;
    uint64_t refused;     /* no room in the queue or in memory */
    uint64_t unreachable; /* nobody in view, or link down */
    uint64_t skipped;     /* given up, because the server was too late with them */
    uint64_t received, bytes;
    uint64_t lost; /* numbers passed over and not seen since; also what is still under way, but not a stream's end */
    uint64_t duplicated; /* of those received */
    uint64_t reordered;  /* came after a higher number of their stream; not for keys */
    uint64_t old;        /* too late to tell whether duplicated or reordered */
    uint64_t malformed;
    uint64_t hops_sum, hops_max;
    int64_t latency_sum_ns, latency_min_ns, latency_max_ns; /* sender's clock to ours: one clock, or no meaning */
};

struct bench_link_stats {
    uint64_t sent, received, bytes, lost, duplicated, reordered, old;
};

/* What other services and compositions on the same server may call; peer is bench's instance, from cw_find(). */
struct bench_api {
    size_t size;
    /* Begins to send, instead of what was sent until now. -EINVAL, -ENOMEM, -ENETUNREACH: a torus of one. */
    int (*start)(cw_svc *peer, const struct bench_plan *plan);
    void (*stop)(cw_svc *peer);
    void (*reset)(cw_svc *peer);
    void (*stats)(cw_svc *peer, struct bench_stats *out);
    void (*link_stats)(cw_svc *peer, cw_link link, struct bench_link_stats *out);
    /* Calls told() for every packet of a run that arrives from now on, within its upcall; lends rx. NULL ends it. */
    void (*watch)(cw_svc *peer, void (*told)(void *context, const cw_rx *rx, uint32_t number), void *context);
};

extern const cw_service bench_service;

#endif
