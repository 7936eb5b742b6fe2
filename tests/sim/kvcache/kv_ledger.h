/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kv_ledger.h - the questions that a world asked the cache, each with its answer; and how they become a history
 * (kv_history.h).
 *
 * Values carry the names of the questions that made them. A word's value is a row of records: SET, ADD, REPLACE and CAS
 * write one, APPEND puts another behind. A record begins with a number that says which question wrote the record, and
 * how long the record is. So the last record of a hit's value says which question made the value, and the record before
 * the last says of which value it was made. A counter's value is a number. SETs and creations write unique large
 * numbers, INCR and DECR step by unique ones, so that a number says which question made it; those of questions without
 * an answer are found by search.
 */
#ifndef SIM_KV_LEDGER_H
#define SIM_KV_LEDGER_H

#include "kv_history.h"
#include "seeds.h"
#include "services/kvcache/kvcache.h"

enum {
    KV_LEDGER_MAX = 600000,
    KV_RECORD_HEAD = 8,
    KV_RECORD_FILL_MAX = 65535,
    /*
     * Counters are set to 2^60 and more, with so many bits of chance; no step is large enough to wrap one or stop it at
     * 0.
     */
    KV_NUMBER_BITS = 60,
    KV_DELTA_BITS = 47,
};

struct kv_entry {
    enum kv_op op; /* 0: in the end it was not asked, and does not count */
    uint32_t key;
    bool counter, answered;
    enum kv_status status;
    uint64_t want;    /* CAS: the cas number that it named */
    uint64_t cas;     /* the cas number in the answer */
    uint64_t number;  /* of a counter: the number that it set, or by how much it steps */
    uint64_t initial; /* of a counter: the number with which it creates a missing one; 0: it does not */
    uint64_t seen;    /* of a counter: the number in the answer, or found by search */
    uint64_t value;   /* the value that it saw, when it was a hit */
    uint64_t before;  /* the value of which its own value was made, as later hits show */
    int64_t begun, ended;
    cw_span expiry;
    unsigned server;
    enum kv_source source;
};

struct kv_ledger {
    size_t count;
    unsigned extras, keys; /* of the world: to be shown */
    uint64_t asked[KV_OPS],
        done[KV_OPS]; /* questions by operation: all, and those with an answer that says something */
    uint64_t hits[3], misses, writes, indeterminate, refused;
    int64_t longest_write; /* the longest time that an acknowledged write took, ns */
    char wrong[SEEDS_WRONG_BYTES];
    struct kv_entry entry[KV_LEDGER_MAX];
};

/* A new entry, zeroed. NULL: the ledger is full. */
struct kv_entry *kv_ledger_new(struct kv_ledger *l);
/* The value that this entry makes: a number from 1 on. */
uint64_t kv_ledger_value(const struct kv_ledger *l, const struct kv_entry *e);

/* Writes the record of the entry, with `fill` bytes after its head. Returns its length. */
size_t kv_record_write(const struct kv_ledger *l, const struct kv_entry *e, uint16_t fill, uint8_t *out);
/* True when the value that it makes has nothing of the value before. */
bool kv_makes_anew(enum kv_op op);
/* True when it gives the value that is there another expiry. */
bool kv_renews(enum kv_op op);
/* Writes the number of a counter as the cache does. Returns its length. */
size_t kv_number_write(uint64_t number, char out[static 24]);

/* Notes the answer. An answer that cannot be is reported in l->wrong. */
void kv_ledger_answer(struct kv_ledger *l, struct kv_entry *e, const struct kv_result *r, int64_t now);

/* True when one register for each key could have given all answers; else *why says which not. Uses up the ledger. */
bool kv_ledger_check(struct kv_ledger *l, char *why, size_t room);

#endif
