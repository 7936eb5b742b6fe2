/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.h - objects of one size, taken and given back in a few instructions, all of them counted.
 *
 *   pool_open    allocates room for config.reserve objects: a pool whose reserve is its limit does not allocate again
 *   pool_take    gives an object, uninitialised; NULL at the limit, without memory, or when a test ordered it
 *   pool_give    takes the object back; the object given last is taken first, as it may still be in the cache
 *   pool_close   all objects must have been given back, or the program stops
 *
 * Growth: when no object is free and the limit allows it, the pool allocates a chunk of config.chunk objects; the last
 * chunk may be smaller, so that the limit is exact. Chunks are released by pool_close() only. Objects of a fresh chunk
 * are handed out in the order of their addresses and not touched before, so that a generous limit costs no memory until
 * it is needed, and thousands of simulated nodes can share one pool. The pool counts for all who share it together; who
 * of them may hold how much is for them to count.
 *
 * Debug builds inspect every give and take: writing to an object after giving it, writing past its end, giving it twice
 * and giving it to the wrong pool stop the program; under AddressSanitizer reading after the give does, too. A pool
 * belongs to one thread and must not be moved while it is open.
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
    uint32_t reserve; /* objects allocated at open, at most limit */
    uint32_t limit;   /* objects that may be taken at one time */
};

/* A free object holds the link to the next one. */
struct pool_free {
    struct pool_free *next;
};

struct pool_chunk;

struct pool {
    struct pool_free *free;  /* objects that were given back, the last one first */
    uint32_t outstanding;    /* objects that are taken now */
    uint32_t high_water;     /* the most objects that were taken at one time */
    uint32_t fail_in;        /* which take fails: 1 is the next one, 0 none */
    uint32_t made;           /* objects in all chunks */
    uint32_t fresh;          /* objects of the newest chunk that have not been taken yet */
    unsigned char *fresh_at; /* the first of these */
    size_t stride;           /* bytes from one object to the next */
    struct pool_chunk *chunks;
    struct pool_config config;
};

/*
 * Makes *pool; *config is copied. A config outside the ranges above is the caller's mistake. -ENOMEM: there is nothing
 * to close.
 */
CW_MUST_CHECK int pool_open(struct pool *pool, const struct pool_config *config);

/* Releases all memory. All objects must have been given back. */
void pool_close(struct pool *pool);

/*
 * For tests: the n-th take from now (1 is the next) gives NULL as if memory had run out, once; 0 withdraws the order.
 * A test that makes each take fail in turn, until none fails any more, sees every error path:
 *
 *   for (uint32_t n = 1; !done; n++) { pool_fail_nth(&pool, n); run(); done = pool_fail_pending(&pool); }
 */
void pool_fail_nth(struct pool *pool, uint32_t n);

/* True as long as the failure that was ordered has not happened. */
static inline bool pool_fail_pending(const struct pool *pool)
{
    return pool->fail_in != 0;
}

/* How many objects are taken now. */
static inline uint32_t pool_outstanding(const struct pool *pool)
{
    return pool->outstanding;
}

/* The most objects that were taken at one time. */
static inline uint32_t pool_high_water(const struct pool *pool)
{
    return pool->high_water;
}

/* How many bytes of memory the pool holds. */
size_t pool_bytes(const struct pool *pool);

#ifdef CW_CHECK_SLOW
#define POOL_INSPECTED 1
#else
#define POOL_INSPECTED 0
#endif

/* For pool_take(): a fresh object, growth, a failure that a test ordered, inspection. */
void *pool_take_slow(struct pool *pool);
/* For pool_give() in debug builds: before and after the object is put into the free list. */
void pool_inspect(struct pool *pool, void *object);
void pool_seal(struct pool *pool, void *object);

/* Gives an object, its contents undefined; NULL when there is none to be had. */
static inline void *pool_take(struct pool *pool)
{
    struct pool_free *object = pool->free;
    if (__builtin_expect(POOL_INSPECTED || object == NULL || pool->fail_in != 0, 0)) {
        return pool_take_slow(pool);
    }
    pool->free = object->next;
    /* The next take reads this. Of many that go round, as in a stream of frames, it is long out of the first cache. */
    __builtin_prefetch(pool->free, 1);
    pool->outstanding++;
    if (pool->outstanding > pool->high_water) {
        pool->high_water = pool->outstanding;
    }
    return object;
}

/* Takes back an object of this pool. */
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
