/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kv_talker.h - a service that asks the cache of its server for all operations at random, on few keys, and notes the
 * answers in the ledger.
 */
#ifndef SIM_KV_TALKER_H
#define SIM_KV_TALKER_H

#include "cubeway/service.h"
#include "kv_ledger.h"

enum { KV_TALKER_JOB = 2001, KV_TALKER_KEYS = 64 };

/* The plan of all instances of a world; to be set before the world is opened. */
struct kv_talker_plan {
    cw_time quiet;      /* no instance asks anything new from then on, by the clock of the world */
    cw_span pause_most; /* the longest pause between two questions of one server */
    unsigned keys;      /* up to KV_TALKER_KEYS; when there are several, each fourth is a counter */
    unsigned extras;
    unsigned writes;   /* how many of 100 questions write */
    unsigned flushes;  /* how many of 10,000 questions flush, which is a DELETE of every key */
    bool plain;        /* writes are only SET and DELETE; else all operations */
    unsigned large;    /* how many of 1,000 writes have a value that fits no packet */
    unsigned expiring; /* how many of 100 values expire, within expiry_most */
    cw_span expiry_most;
    cw_span attempt;    /* how long a question waits before it is asked again */
    cw_span age;        /* the longest life of a copy; 0: the default */
    size_t value_bytes; /* memory for values; 0: the default */
    cw_time (*now)(void *context);
    void *context;
};
extern struct kv_talker_plan kv_talker_plan;
/* The ledger, shared with the process that judges it. */
extern struct kv_ledger *kv_ledger;

extern const cw_service kv_talker_service;

#endif
