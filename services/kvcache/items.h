/* SPDX-License-Identifier: Apache-2.0 */
/*
 * items.h - values in memory, found by their id and the whole key of their job, within so many bytes.
 *
 * When the bytes are used up, what goes is chosen by S3-FIFO (Yang, Zhang, Qiu, Yue, Rashmi: "FIFO queues are all you
 * need for cache eviction", SOSP 2023): a small queue for what is new, a tenth of the memory; a main queue for what was
 * asked for again; and the marks of what left the small one lately. One pass over many keys that are asked for once, a
 * scan, costs the main queue nothing; a hit writes two bits.
 *
 * Every call does bounded work but for the eviction it causes, which is paid for by what was put in before. The table
 * grows by steps: no call moves more than a few chains. Memory by malloc; knows no clock: time comes in.
 */
#ifndef SERVICES_KVCACHE_ITEMS_H
#define SERVICES_KVCACHE_ITEMS_H

#include "base/list.h"
#include "cubeway/time.h"
#include "cubeway/types.h"

struct item {
    struct list_node queue;
    struct item *chain;
    cw_key id;      /* memId: SHA-1 of job and key; routes, and is hashed here by its last bytes */
    uint32_t stamp; /* the user's, as is marks */
    cw_time expires;
    uint64_t cas;
    uint64_t epoch; /* cw_epoch() when it was learned: the user's */
    cw_job job;
    uint32_t flags;
    uint32_t length; /* of the value */
    uint8_t key_length;
    uint8_t uses; /* asked for again, 0..3 */
    bool main;    /* in the main queue */
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

/* The bytes of memory that it counts for. */
size_t item_cost(const struct item *i);

/* What names an item. Borrows. */
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
    struct item **chain; /* 2^n, and while the table grows the old one, of which chains below `moved` are empty */
    size_t mask;
    struct item **old;
    size_t old_mask, moved;
    struct item_queue small, main;
    uint64_t *ghost; /* marks of what left the small queue: fingerprint and when, one place each */
    size_t ghost_mask;
    uint32_t ghost_clock; /* items that left it so far */
    size_t bytes_max, count;
    uint64_t evicted, expired;                         /* so far */
    void (*left)(void *context, const struct item *i); /* may be NULL: an item goes by eviction or expiry */
    void *context;
};

/*
 * bytes_max counts items with their headers and what malloc adds, and the table. -ENOMEM, -EINVAL (below
 * ITEMS_BYTES_LEAST).
 */
enum { ITEMS_BYTES_LEAST = 64 * 1024 };
CW_MUST_CHECK int items_open(struct items *t, size_t bytes_max);
void items_close(struct items *t);

/*
 * Borrows the item, until the next call that may remove one; NULL: not here, or expired by now (then it goes). Counts
 * as a use.
 */
struct item *items_find(struct items *t, const struct item_name *name, cw_time now);
/* As items_find(), but no use: nothing changes. An expired one is still here. */
const struct item *items_look(struct items *t, const struct item_name *name);
/*
 * Room for a value under that name: an item of nobody's yet, for the caller to write its value, and flags, cas, stamp,
 * marks (0) and expires (never) if it likes; then items_place() takes it. The name's key is copied. So what is written
 * may come from a value of the table: nothing has left it by then. NULL: it would take more than half of all bytes, or
 * there is no memory.
 */
CW_MUST_CHECK struct item *items_new(const struct items *t, const struct item_name *name, size_t length);
/* Takes i into the table. The one of its name before it goes, and what has to for its bytes. */
void items_place(struct items *t, struct item *i, cw_time now);
/*
 * i is in the table, and is to have another value of the same length, which the caller writes where the one before is:
 * as new as any, with flags, cas, epoch, stamp and marks 0, never expiring. Nothing leaves.
 */
void items_renew(struct items *t, struct item *i);
/* Takes i. */
void items_remove(struct items *t, struct item *i);
/* Removes all that the question says go; how many. Linear. */
size_t items_sweep(struct items *t, bool (*goes)(void *context, const struct item *i), void *context);
/*
 * The same by steps: looks at so many chains from *cursor on, which begins as 0. True when that was the last, and
 * *cursor is 0 again; what is put meanwhile may be looked at or not, and what is there twice when the table grows. The
 * question may change what is not the table's.
 */
bool items_sweep_some(struct items *t, size_t *cursor, size_t chains, bool (*goes)(void *context, struct item *i),
                      void *context);
/* Items, queues and table. */
size_t items_bytes(const struct items *t);

#endif
