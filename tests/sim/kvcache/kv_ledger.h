/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kv_ledger.h - what a world asked of the cache and was told, question by question; and how that becomes a history
 * (kv_history.h).
 *
 * Values carry the names of the questions that made them. A word's value is a row of records: SET, ADD, REPLACE and CAS
 * write one, APPEND puts another behind. A record begins with a number that says which question wrote it and how long
 * it is; the value of a hit is what the question of its last record made, out of what the record before it stands for.
 * A counter's value is a number: SETs and creations write unique large ones, INCR and DECR step by unique ones, so that
 * a number says which question made it; one without an answer is found out by search.
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
    KV_NUMBER_BITS =
        /* of chance in what counters are set to, 2^60 and more; none wraps or stops at 0 by steps so much smaller */
    60,
    KV_DELTA_BITS = 47,
};

struct kv_entry {
    enum kv_op op; /* 0: not asked, after all */
    uint32_t key;
    bool counter, answered;
    enum kv_status status;
    uint64_t want;    /* CAS: the one it meant */
    uint64_t cas;     /* of the answer */
    uint64_t number;  /* of a counter: what it set, or by how much it steps */
    uint64_t initial; /* of a counter: what a missing one becomes; 0: nothing */
    uint64_t seen;    /* of a counter: in the answer, or found out */
    uint64_t value;   /* it saw, by a hit */
    uint64_t before;  /* what its value was made of, by later hits */
    int64_t begun, ended;
    cw_span expiry;
    unsigned server;
    enum kv_source source;
};

struct kv_ledger {
    size_t count;
    unsigned extras, keys;                /* of the world: to be shown */
    uint64_t asked[KV_OPS], done[KV_OPS]; /* by what was asked; with an answer that says something */
    uint64_t hits[3], misses, writes, indeterminate, refused;
    int64_t longest_write; /* acknowledged: how long it took */
    char wrong[SEEDS_WRONG_BYTES];
    struct kv_entry entry[KV_LEDGER_MAX];
};

/* NULL: it is full. Made of zeros, but for its place. */
struct kv_entry *kv_ledger_new(struct kv_ledger *l);
/* The value of that entry's making: 1 and on. */
uint64_t kv_ledger_value(const struct kv_ledger *l, const struct kv_entry *e);

/* The record that the entry writes, `fill` bytes behind its head; gives its length. */
size_t kv_record_write(const struct kv_ledger *l, const struct kv_entry *e, uint16_t fill, uint8_t *out);
/* Its value has nothing of the one before. */
bool kv_makes_anew(enum kv_op op);
/* It gives the value that is there another expiry. */
bool kv_renews(enum kv_op op);
/* Number of a counter as the cache writes it: its length. */
size_t kv_number_write(uint64_t number, char out[static 24]);

/* The answer. What cannot be is said in l->wrong. */
void kv_ledger_answer(struct kv_ledger *l, struct kv_entry *e, const struct kv_result *r, int64_t now);

/* Are all answers such as one register for each key may give? False: *why says which are not. Uses up the ledger. */
bool kv_ledger_check(struct kv_ledger *l, char *why, size_t room);

#endif
