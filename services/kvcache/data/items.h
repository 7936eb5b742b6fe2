/* SPDX-License-Identifier: Apache-2.0 */
/*
 * items.h - values in memory, found by id, job and whole key, within a number of bytes.
 *
 * When the bytes are used up, S3-FIFO chooses what goes (Yang, Zhang, Qiu, Yue, Rashmi: "FIFO queues are all you need
 * for cache eviction", SOSP 2023): a small queue, a tenth of the memory, for what is new; a main queue for what was
 * asked for again; and the marks of what left the small queue lately. One pass over many keys that are asked for once
 * (a scan) costs the main queue nothing; a hit writes two bits.
 *
 * Every call does bounded work, except for the evictions that it causes, which were paid for by what was put in before.
 * The table grows by steps: no call moves more than a few chains. Memory comes from malloc. The table knows no clock:
 * time comes in.
 */
#ifndef SERVICES_KVCACHE_DATA_ITEMS_H
#define SERVICES_KVCACHE_DATA_ITEMS_H

#include "base/list.h"
#include "cubeway/time.h"
#include "cubeway/types.h"

struct item {
    struct list_node queue;
    struct item *chain;
    cw_key id; /* memId: SHA-1 of job and key; its first bytes are the hash here, its last bytes route */
    /* stamp, epoch and marks are the user's: of a value, of a copy (root.c, copies.c). */
    uint32_t stamp;
    cw_time expires;
    uint64_t cas;
    uint64_t epoch; /* cw_epoch() when the value was learned */
    cw_job job;
    uint32_t flags;
    uint32_t length; /* of the value */
    uint8_t key_length;
    uint8_t uses; /* since it came into its queue, 0..3 */
    bool main;    /* in the main queue, not in the small one */
    uint8_t marks;
    uint8_t bytes[]; /* the key, then the value */
};

static inline const uint8_t *item_key(const struct item *i)
{
    return i->bytes;
}

static inline uint8_t *item_value(struct item *i)
{
    return i->bytes + i->key_length;
}

/* The bytes of memory that an item counts for. */
size_t item_cost(const struct item *i);

/* What names an item. Borrows the key. */
struct item_name {
    cw_key id;
    cw_job job;
    const uint8_t *key;
    uint8_t key_length;
};

struct item_queue {
    struct list list;
    size_t bytes;
};

struct items {
    /* 2^n chains. While the table grows, also the old ones, of which those below `moved` are empty. */
    struct item **chain;
    size_t mask;
    struct item **old;
    size_t old_mask, moved;
    struct item_queue small, main;
    uint64_t *ghost; /* marks of what left the small queue: fingerprint and when, one place for each fingerprint */
    size_t ghost_mask;
    uint32_t ghost_clock; /* items that left the small queue so far */
    size_t bytes_max, count;
    uint64_t evicted, expired; /* items so far */
    /* May be NULL. Called before an item goes by eviction or expiry. */
    void (*left)(void *context, const struct item *i);
    void *context;
};

enum { ITEMS_BYTES_LEAST = 64 * 1024 };
/*
 * bytes_max counts items with their headers and what malloc adds, and the table. -ENOMEM; -EINVAL (below
 * ITEMS_BYTES_LEAST).
 */
CW_MUST_CHECK int items_open(struct items *t, size_t bytes_max);
void items_close(struct items *t);

/*
 * Borrows the item, until the next call that may remove one. NULL: not here, or expired (then it goes). Counts as a
 * use.
 */
struct item *items_find(struct items *t, const struct item_name *name, cw_time now);
/* As items_find(), but it counts as no use and changes nothing. An item that expired is still found. */
const struct item *items_look(struct items *t, const struct item_name *name);
/*
 * Makes an item of that name, which is the caller's until items_place() takes it. The caller writes its value, and its
 * flags, cas, stamp, marks (0 at first) and expires (never). The name's key is copied. Nothing leaves the table before
 * items_place(), so that the value may be made from another value of the table. NULL: it would take more than half of
 * all bytes, or there is no memory.
 */
CW_MUST_CHECK struct item *items_new(const struct items *t, const struct item_name *name, size_t length);
/* Takes i into the table. The item that had its name goes, and so does what has to go for its bytes. */
void items_place(struct items *t, struct item *i, cw_time now);
/*
 * The item i of the table gets another value of the same length, which the caller writes over the one before. The item
 * is as new as one of items_new(): flags, cas, epoch, stamp and marks are 0, and it never expires. Nothing leaves.
 */
void items_renew(struct items *t, struct item *i);
/* Removes and frees i. */
void items_remove(struct items *t, struct item *i);
/* Removes all items for which `goes` is true; returns how many. Linear in the items. */
size_t items_sweep(struct items *t, bool (*goes)(void *context, const struct item *i), void *context);
/*
 * The same by steps: looks at so many chains from *cursor on, which begins as 0. Returns true after the last chain,
 * with *cursor 0 again. An item that is put meanwhile may be looked at or not, and one may be looked at twice when the
 * table grows. `goes` may change the members of an item that are the user's.
 */
bool items_sweep_some(struct items *t, size_t *cursor, size_t chains, bool (*goes)(void *context, struct item *i),
                      void *context);
/* Bytes of items, queues and table: what bytes_max bounds. */
size_t items_bytes(const struct items *t);

#endif
