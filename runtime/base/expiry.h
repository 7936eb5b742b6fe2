/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expiry.h - a table of things that somebody outside names by a number and that end at a time: timers, calls, rights to answer.
 *
 * Guarantee: a handle names one thing for its whole life and nothing after it. A stale or made-up handle is found to be so (after
 * 2^32 / capacity uses of one slot the number comes round again). Items expire in the order of (time, order of their last
 * setting), so that a run repeats.
 *
 * The item embeds a struct expiry_item as its FIRST member. Memory comes in chunks as the table fills and goes back at close; the limit is
 * chosen at open. Numbers only: knows no clock and calls nobody.
 */
#ifndef BASE_EXPIRY_H
#define BASE_EXPIRY_H

#include "base/heap.h"
#include "cubeway/time.h"
#include "cubeway/types.h"

/* A zeroed item is a free one. */
struct expiry_item {
    struct heap_entry due;
    uint64_t sequence; /* of its last setting; while it is free: the index of the next free one */
    uint32_t handle;   /* 0 while free */
    uint32_t next;     /* the handle it will have when it is taken next */
};

struct expiry {
    struct heap heap;      /* of all that are taken; grows with the chunks */
    unsigned char **chunk; /* items by index */
    size_t size;           /* of an item */
    uint32_t limit;
    uint32_t made;       /* slots that have memory */
    uint32_t fresh;      /* slots never used yet start here */
    uint32_t taken;      /* items out */
    uint32_t index_bits; /* of a handle; the rest is the generation */
    uint32_t salt;
    uint32_t first_free,
        last_free; /* a list, longest free first: a slot rests as long as possible before it is used again */
    uint64_t sequence;
    cw_time *earliest; /* of several tables: never after the first end of any; NULL */
};

enum { EXPIRY_LIMIT_MAX = 65536 };

/*
 * An empty table for at most limit (1..EXPIRY_LIMIT_MAX) items of size bytes (their first member is a struct expiry_item). Handles of
 * tables with different salts start differently, so that an old incarnation's are not taken for a new one's. -ENOMEM.
 */
CW_MUST_CHECK int expiry_open(struct expiry *t, size_t size, uint32_t limit, uint64_t salt);
void expiry_close(struct expiry *t);
/*
 * From now on *earliest (borrowed) is brought forward whenever an item is set to end before it; whoever shares it among tables
 * puts it back, to the first of their expiry_wake(), when it likes. So the question costs nothing where nothing was set.
 */
void expiry_share(struct expiry *t, cw_time *earliest);
size_t expiry_bytes(const struct expiry *t);

/* Gives an item that expires at `at` (CW_NEVER: never), its own members unspecified; NULL at the limit or out of memory. */
void *expiry_take(struct expiry *t, cw_time at);
/* Takes the item back: its handle is stale from now on. */
void expiry_give(struct expiry *t, void *item);
/* Borrows the item of that handle, NULL when there is none (any more). */
void *expiry_find(const struct expiry *t, uint32_t handle);
/* Moves the item's end; it counts as set last. */
void expiry_move(struct expiry *t, void *item, cw_time at);

/* Borrows the item that expires first if that is due at now; NULL otherwise. It stays in the table. */
void *expiry_due(const struct expiry *t, cw_time now);
/* When that is; CW_NEVER when there is none. */
cw_time expiry_wake(const struct expiry *t);

/* Borrows the first item at or after *place, counting from 0, and puts *place behind it; NULL: no more. Items may be given meanwhile. */
void *expiry_each(const struct expiry *t, uint32_t *place);

static inline uint32_t expiry_count(const struct expiry *t)
{
    return t->taken;
}

#endif
