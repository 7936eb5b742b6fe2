/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.h - objects of one size, taken and given back in a few instructions, all counted.
 *
 *   pool_open    allocates room for config.reserve objects: a pool whose reserve is its limit never allocates again
 *   pool_take    gives an object, uninitialised; NULL at the limit, out of memory, or when a test asked for it
 *   pool_give    takes it back; the object given last is taken first (it is the one still in the cache)
 *   pool_close   every object must have come home, or the program stops
 *
 * Growth: when no object is free and the limit allows, the pool allocates one chunk of config.chunk objects (the
 * last one smaller, so that the limit is exact). Chunks are released only by pool_close(). Objects of a fresh chunk
 * are handed out in address order and untouched until then, so a generous limit costs no memory before it is
 * needed: thousands of simulated nodes can share one pool. The pool counts for all who share it; how much of it one
 * of them may hold is for them to count.
 *
 * Debug builds inspect every give and take: a write after give, a write past the end, a double give and a give to
 * the wrong pool stop the program; under AddressSanitizer even a read after give does. A pool belongs to one thread
 * and must not be moved while it is open.
 */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include "base/check.h"
#include "cubeway/types.h"

#include <stddef.h>
#include <stdint.h>

struct pool_config {
    size_t size;      /* of one object, 1..1 GiB */
    size_t align;     /* a power of two up to 4096 */
    uint32_t chunk;   /* objects allocated together, at least 1 */
    uint32_t reserve; /* objects allocated at open, up to limit */
    uint32_t limit;   /* objects that may be out at once */
};

/* An object at home holds the link to the next one. */
struct pool_free {
    struct pool_free *next;
};

struct pool_chunk;

struct pool {
    struct pool_free *free;  /* given back, last first */
    uint32_t outstanding;    /* objects out now */
    uint32_t high_water;     /* most that were ever out */
    uint32_t fail_in;        /* the take that will fail: 1 is the next, 0 none */
    uint32_t made;           /* objects in all chunks */
    uint32_t fresh;          /* objects of the newest chunk never yet taken */
    unsigned char *fresh_at; /* the first of them */
    size_t stride;           /* size rounded up for the link and the alignment */
    struct pool_chunk *chunks;
    struct pool_config config;
};

/*
 * Makes *pool; *config is copied. A config outside the ranges above is the caller's mistake. -ENOMEM leaves nothing
 * behind.
 */
CW_MUST_CHECK int pool_open(struct pool *pool, const struct pool_config *config);

/* Releases all memory. Every object must be home. */
void pool_close(struct pool *pool);

/*
 * Tests: the n-th take from now (1 is the next) returns NULL as if memory had run out, once; 0 takes the order
 * back. Failing each take in turn until nothing failed any more shows every error path:
 *
 *   for (uint32_t n = 1; !done; n++) { pool_fail_nth(&pool, n); run(); done = pool_fail_pending(&pool); }
 */
void pool_fail_nth(struct pool *pool, uint32_t n);

/* True while the failure ordered has not happened. */
static inline bool pool_fail_pending(const struct pool *pool)
{
    return pool->fail_in != 0;
}

/* Objects out now; most that were ever out; bytes of memory held. */
static inline uint32_t pool_outstanding(const struct pool *pool)
{
    return pool->outstanding;
}

static inline uint32_t pool_high_water(const struct pool *pool)
{
    return pool->high_water;
}

size_t pool_bytes(const struct pool *pool);

#ifdef CW_CHECK_SLOW
#define POOL_INSPECTED 1
#else
#define POOL_INSPECTED 0
#endif

/*
 * What is rare in take: a fresh object, growth, an ordered failure, inspection. And what debug builds do around a
 * give.
 */
void *pool_take_slow(struct pool *pool);
void pool_inspect(struct pool *pool, void *object);
void pool_seal(struct pool *pool, void *object);

/* Gives an object to the caller, contents undefined; NULL when there is none to be had. */
static inline void *pool_take(struct pool *pool)
{
    struct pool_free *object = pool->free;
    if (__builtin_expect(POOL_INSPECTED || object == NULL || pool->fail_in != 0, 0)) {
        return pool_take_slow(pool);
    }
    pool->free = object->next;
    pool->outstanding++;
    if (pool->outstanding > pool->high_water) {
        pool->high_water = pool->outstanding;
    }
    return object;
}

/* Takes an object back, which must have come from this pool. */
static inline void pool_give(struct pool *pool, void *object)
{
    CHECK(object != NULL && pool->outstanding != 0);
    if (POOL_INSPECTED) {
        pool_inspect(pool, object);
    }
    struct pool_free *home = object;
    home->next = pool->free;
    pool->free = home;
    pool->outstanding--;
    if (POOL_INSPECTED) {
        pool_seal(pool, object);
    }
}

#endif
