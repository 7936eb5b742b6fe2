/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expiry.h - a table of items that outsiders name by a number, the handle, and that end at a time: timers, calls,
 * rights to answer.
 *
 * Guarantee: a handle names one item during that item's life and no item afterwards, so a handle that is stale or made
 * up is recognised as such. (A number comes round again when one slot has been used 2^32 / capacity times.) Items
 * expire in the order of their times, and at equal times in the order in which the times were set, so that a run
 * repeats.
 *
 * An item has a struct expiry_item as its FIRST member. Memory is allocated in chunks as the table fills, and released
 * at close; the limit is chosen at open. The table knows no clock and calls nobody.
 */
#ifndef BASE_EXPIRY_H
#define BASE_EXPIRY_H

#include "base/heap.h"
#include "cubeway/time.h"
#include "cubeway/types.h"

/* A zeroed item is a free one. */
struct expiry_item {
    struct heap_entry due;
    uint64_t sequence; /* the number of its last setting of a time; while it is free: the index of the next free one */
    uint32_t handle;   /* 0 while the item is free */
    uint32_t next;     /* the handle that the item will have when it is taken next */
};

struct expiry {
    struct heap heap;      /* of the items that are taken; grows with the chunks */
    unsigned char **chunk; /* the items, by index */
    size_t size;           /* of an item, in bytes */
    uint32_t limit;        /* of items, chosen at open */
    uint32_t made;         /* slots that have memory */
    uint32_t fresh;        /* the first slot that has not been used yet */
    uint32_t taken;        /* items that are taken now */
    uint32_t index_bits;   /* the low bits of a handle, which are the slot's index; the rest is the generation */
    uint32_t salt;
    /* The free slots in a list, the longest free first: a slot rests as long as possible before it is used again. */
    uint32_t first_free, last_free;
    uint64_t sequence; /* settings so far */
    /* Shared by several tables (expiry_share()), and no later than the first end of any item in these; or NULL. */
    cw_time *earliest;
};

enum { EXPIRY_LIMIT_MAX = 65536 };

/*
 * Makes *t an empty table for at most limit items, 1..EXPIRY_LIMIT_MAX, of size bytes each. Handles of tables with
 * different salts begin at different numbers, so that handles of a server's former life are not taken for handles of
 * this one. -ENOMEM.
 */
CW_MUST_CHECK int expiry_open(struct expiry *t, size_t size, uint32_t limit, uint64_t salt);
void expiry_close(struct expiry *t);
/*
 * Borrows *earliest, which several tables may share. From now on, whenever an item is set to end before *earliest, that
 * is brought forward; the tables' owner puts it back, to the first of their expiry_wake(), when it likes. So "is
 * anything due?" is one comparison for all tables.
 */
void expiry_share(struct expiry *t, cw_time *earliest);
/* How many bytes of memory the table takes. */
size_t expiry_bytes(const struct expiry *t);

/*
 * Gives an item that expires at `at` (CW_NEVER: it does not), with the caller's members unspecified. NULL: the limit is
 * reached, or there is no memory.
 */
void *expiry_take(struct expiry *t, cw_time at);
/* Takes the item back: its handle is stale from now on. */
void expiry_give(struct expiry *t, void *item);
/* Borrows the item with that handle; NULL when there is none, or no longer one. */
void *expiry_find(const struct expiry *t, uint32_t handle);
/* True when an item with that handle is taken, or was taken at some time since expiry_open(). */
bool expiry_was_given(const struct expiry *t, uint32_t handle);
/* Sets another end for the item, which counts as set last. */
void expiry_move(struct expiry *t, void *item, cw_time at);

/* Borrows the item that expires first, if it is due at now; NULL otherwise. The item stays in the table. */
void *expiry_due(const struct expiry *t, cw_time now);
/* When the first item expires; CW_NEVER when there is none. */
cw_time expiry_wake(const struct expiry *t);

/*
 * Iteration over the items that are taken: *place begins at 0. Borrows the next item and moves *place behind it; NULL
 * behind the last. Items may be given back meanwhile.
 */
void *expiry_each(const struct expiry *t, uint32_t *place);

/* How many items are taken. */
static inline uint32_t expiry_count(const struct expiry *t)
{
    return t->taken;
}

#endif
