/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_talker.h - a service that asks the store of its server for everything at random, on few names, and notes the
 * answers in a ledger that the judging process shares.
 */
#ifndef SIM_STORE_TALKER_H
#define SIM_STORE_TALKER_H

#include "cubeway/store.h"
#include "seeds.h"

enum { STORE_TALKER_JOB = 2002, STORE_TALKER_KEYS = 16, STORE_LEDGER_MOST = 200000, STORE_TALKER_API = 1 };

/* A question. Its place in the ledger, from 1 on, is the value that it puts. */
struct store_entry {
    /* 0: in the end it was not asked. Each name that a list was to tell of is an entry of its own, as if of a head. */
    cw_store_op op;
    bool listed;
    uint32_t key;
    bool conditional, answered;
    cw_store_status status;
    uint64_t wants, version, value; /* wants: the version; value: the one that it read */
    int64_t begun, ended, ttl;
    unsigned server;
    /* Of a transaction, of which each guard and step is an entry: that of the first, from 1 on; 0: it is of none. */
    uint32_t txn, step;
};

struct store_ledger {
    char wrong[SEEDS_WRONG_BYTES];
    size_t count;
    /* lists: pages that were told; and changes */
    uint64_t ended[CW_STORE_STATUSES], silent, refused, lists, changes;
    uint64_t txns[CW_STORE_STATUSES];  /* of `ended`, transactions */
    uint64_t served, unserved, epochs; /* shards that were counted at the end, and changes of their members */
    struct store_entry entry[STORE_LEDGER_MOST];
};
extern struct store_ledger *store_ledger;

/* The plan of all instances of a world. */
struct store_talker_plan {
    bool talks;         /* they ask */
    cw_span pause_most; /* the longest pause between two questions of one server */
    unsigned keys;
    unsigned writes; /* how many of 100 questions write */
    unsigned value_most;
    unsigned longs; /* one of so many puts fits no packet; 0: none is */
    size_t hand_max;
    uint64_t quota; /* bytes that the talkers' job may hold at a server; 0: as many as it likes */
    bool tagged;    /* all names are in one shard; */
    bool watched;   /* and every server watches them */
    unsigned ttls;  /* one of so many puts has a ttl; 0: none has */
    cw_span ttl_most;
    unsigned lists; /* one of so many questions lists names; 0: none does */
    unsigned txns;  /* one of so many is a transaction; 0: none is */
    cw_span attempt, tick, patience, slow, hearing, settle, away, timeout; /* of the stores */
    cw_time (*now)(void *context);
    void *context;
};
extern struct store_talker_plan store_talker_plan;
/* A value of that number, and the number that a value is of: UINT64_MAX: of none. */
void store_talker_write(uint8_t *value, size_t length, uint64_t number);
uint64_t store_talker_read(const uint8_t *value, size_t length);
/* Writes name `key` of the plan, and gives its length. */
size_t store_talker_name(unsigned key, char out[static 24]);

/* Asks at that server's store, from outside an upcall: the name's value, noted like all questions. */
extern const cw_service store_talker_service;
/* For a visit of a talker: the version that it was told last of name `key` by watching; 0: of none. */
uint64_t store_talker_told(cw_svc *svc, unsigned key);
/* The history that the ledger tells, judged. */
bool store_ledger_check(struct store_ledger *l, char *why, size_t room);

#endif
