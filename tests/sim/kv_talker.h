/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kv_talker.h - a service that asks the cache of its server for everything at random, on few keys, and writes down what it was told.
 */
#ifndef SIM_KV_TALKER_H
#define SIM_KV_TALKER_H

#include "cubeway/service.h"
#include "kv_history.h"

enum { KV_TALKER_JOB = 2001 };

/* For all instances of a world; set before it is opened. */
struct kv_talker_plan {
    cw_time quiet;                 /* nothing new is asked from then on, by the clock of the world */
    cw_span pause_most;            /* between two questions of one server */
    unsigned keys, extras, writes; /* writes in 100 questions */
    unsigned large;                /* in 1,000 writes: a value that fits no packet */
    cw_span attempt;               /* before a question is asked again */
    size_t value_bytes;            /* of memory: 0 as it is */
    cw_time (*now)(void *context);
    void *context;
};
extern struct kv_talker_plan kv_talker_plan;

/* Shared with whoever judges it. */
struct kv_ledger {
    size_t count; /* of events */
    uint64_t values, asked, hits[3], misses, acked, indeterminate, refused;
    char wrong[400];
    struct kv_event event[KV_HISTORY_MAX];
};
extern struct kv_ledger *kv_ledger;

extern const cw_service kv_talker_service;

#endif
