/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tp_talker.h - a service that sends every kind of message of the transport to all servers at random, and notes it in
 * the ledger.
 */
#ifndef SIM_TP_TALKER_H
#define SIM_TP_TALKER_H

#include "cubeway/service.h"

enum { TALKER_JOB = 2000, TALKER_PORT = 9, TALKER_OUT = 24 };

/* The plan of all instances of a world; to be set before the world is opened. */
struct talker_plan {
    uint64_t seed;
    cw_time quiet;      /* no instance sends anything new from then on, by the clock of the world */
    cw_span pause_most; /* the longest pause between two messages of one server */
    uint64_t bytes_most;
    cw_time (*now)(void *context); /* the clock of the world: servers' clocks may be wrong */
    void *context;
    struct {
        size_t memory, peer_memory, piece_window, window;
        uint64_t message;
        unsigned peers, messages, incoming;
    } limits; /* 0: the default */
};
extern struct talker_plan talker_plan;

extern const cw_service talker_service;

#endif
