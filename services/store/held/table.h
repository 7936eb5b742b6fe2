/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h - the registers of one shard at one member, and their digest: for each of 256 buckets the sum modulo 2^128 of
 * SipHash-128(name, tag) of its registers. Two members whose sums agree hold the same registers, by name and tag. The
 * hash is keyed by the class's number, so that nobody outside makes two states of one sum; the sums cost a subtraction
 * and an addition for each write. A deleted name is a register, too.
 *
 * A table without registers takes no memory beside its struct.
 */
#ifndef SERVICES_STORE_HELD_TABLE_H
#define SERVICES_STORE_HELD_TABLE_H

#include "base/siphash.h"
#include "cubeway/store.h"
#include "services/store/held/ballot.h"
#include "services/store/held/tally.h"

enum { STORE_BUCKETS = 256, STORE_OPS = 6 };
/* Of no job's names: those that transactions stand under, intent.h. */
enum { STORE_INTENT_JOB = 0 };

/* A name of a job's. Borrowed bytes. */
struct store_name {
    cw_job job;
    const uint8_t *bytes;
    size_t length;
};

/* An operation that the register remembers, so that it is not done twice (store rule 23). */
struct store_noted {
    uint64_t asker, number; /* its id */
    uint64_t n;             /* of the write that noted it */
    uint64_t version;       /* what its asker is told */
    uint8_t status;         /* cw_store_status */
    uint8_t which;          /* of a transaction that was refused: the guard */
};

/* What one name holds: made by store_register_new(), and not changed once it is in a table. */
struct store_register {
    struct store_register *next, *before; /* of its bucket */
    struct store_register *same;          /* the next one of its slot */
    struct siphash_tag hash;              /* of its name */
    struct store_tag tag;
    uint64_t version; /* n of the write that made the value, or deleted it */
    uint32_t flags;
    uint32_t ttl_ms; /* the value goes so long after it was put; 0: it stays */
    cw_job job;
    bool deleted;
    uint8_t ops; /* of noted[], the oldest first */
    uint16_t name_length;
    uint32_t value_length;
    struct store_noted noted[STORE_OPS];
    /* Of the member that leads, for itself. */
    bool doubtful;   /* the members that promised did not agree on it */
    uint32_t seen;   /* number of the comparison that has met it */
    int64_t expires; /* when it goes, by this server's clock; 0: not known yet, or never */
    void *under_way; /* the write that put it here, while not all have answered */
    uint8_t bytes[]; /* name, value */
};

struct store_sum {
    uint64_t word[2];
};

/* The registers in the order in which they came; above some number also by their hashes, in slots. */
struct store_bucket {
    struct store_sum sum;
    struct store_register *first, *last;
    struct store_register **slot;
    uint32_t count, slots; /* slots: 0, or a power of two */
};

struct store_table {
    struct siphash_key key;
    struct store_bucket *bucket; /* NULL: there are no registers */
    size_t registers, bytes;     /* bytes of memory of the registers */
    size_t intents, ttls;        /* of these: intents of transactions, and values that go by themselves */
    struct store_tally *tally;   /* by job; NULL: nobody wants to know. The owner's to set */
};

/* A register of that name, otherwise zero but for its value; room for both. NULL: no memory. Freed with free(). */
struct store_register *store_register_new(const struct store_name *name, size_t value_length);
size_t store_register_bytes(const struct store_register *r);
static inline struct store_name store_register_name(const struct store_register *r)
{
    return (struct store_name){r->job, r->bytes, r->name_length};
}
static inline const uint8_t *store_register_value(const struct store_register *r)
{
    return r->bytes + r->name_length;
}
bool store_name_equal(const struct store_name *a, const struct store_name *b);

void store_table_open(struct store_table *t, uint64_t class_id);
void store_table_close(struct store_table *t);
/* NULL: there is none. Borrowed until the next store_table_put() of the name. */
struct store_register *store_table_find(const struct store_table *t, const struct store_name *name);
/*
 * Takes r, which takes the place of the register of the same name, or is added as the last of its bucket. -ENOMEM: no
 * memory for the buckets, and r is still the caller's.
 */
CW_MUST_CHECK int store_table_put(struct store_table *t, struct store_register *r);
/* Forgets the register of that name. False: there was none. */
bool store_table_drop(struct store_table *t, const struct store_name *name);
struct store_sum store_table_sum(const struct store_table *t, unsigned bucket);
/* The sum of all buckets. */
struct store_sum store_table_root(const struct store_table *t);
/* Register i of a bucket, the first is 0; NULL: there are fewer. Registers keep their places. */
struct store_register *store_table_at(const struct store_table *t, unsigned bucket, uint32_t i);
unsigned store_table_bucket(const struct store_table *t, const struct store_name *name);

static inline bool store_sum_equal(struct store_sum a, struct store_sum b)
{
    return a.word[0] == b.word[0] && a.word[1] == b.word[1];
}

#endif
