/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kv_talker.h - a service that asks the cache of its server for everything at random, on few keys, and has the ledger
 * write down what it was told.
 */
#ifndef SIM_KV_TALKER_H
#define SIM_KV_TALKER_H

#include "cubeway/service.h"
#include "kv_ledger.h"

enum { KV_TALKER_JOB = 2001, KV_TALKER_KEYS = 64 };

/* For all instances of a world; set before it is opened. */
struct kv_talker_plan {
    cw_time quiet;      /* nothing new is asked from then on, by the clock of the world */
    cw_span pause_most; /* between two questions of one server */
    unsigned keys;      /* up to KV_TALKER_KEYS; each fourth of several is a counter */
    unsigned extras;
    unsigned writes;   /* in 100 questions */
    unsigned flushes;  /* in 10,000: all values dropped, which is a DELETE of every key */
    bool plain;        /* writes are SET and DELETE; else every operation */
    unsigned large;    /* in 1,000 writes: a value that fits no packet */
    unsigned expiring; /* in 100 values: expire within expiry_most */
    cw_span expiry_most;
    cw_span attempt;    /* before a question is asked again */
    cw_span age;        /* of copies; 0: as it is */
    size_t value_bytes; /* of memory; 0: as it is */
    cw_time (*now)(void *context);
    void *context;
};
extern struct kv_talker_plan kv_talker_plan;
/* Shared with whoever judges it. */
extern struct kv_ledger *kv_ledger;

extern const cw_service kv_talker_service;

#endif
