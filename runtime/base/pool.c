/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pool.h"
#include "base/poison.h"

#include <errno.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE_MAX_OBJECT = 1 << 30, ALIGN_MAX = 4096, FILL = 0xdb };

struct pool_chunk {
    struct pool_chunk *next;
    size_t bytes;
};

static size_t round_up(size_t n, size_t align)
{
    return (n + align - 1) & ~(align - 1);
}

/*
 * Inspection. Behind each object lies a word, its guard, that says whether the object is taken or free, marked with the
 * pool's address. A free object is filled with a pattern behind its link; the bytes between an object and its guard
 * always are.
 */
#define GUARD_OUT UINT64_C(0x6f757420616e6420)
#define GUARD_HOME UINT64_C(0x686f6d6520736166)

static size_t guard_offset(const struct pool *pool)
{
    return round_up(pool->config.size > sizeof(struct pool_free) ? pool->config.size : sizeof(struct pool_free),
                    sizeof(uint64_t));
}

static uint64_t guard_of(const struct pool *pool, const unsigned char *object)
{
    uint64_t guard;
    memcpy(&guard, object + guard_offset(pool), sizeof guard);
    return guard ^ (uintptr_t)pool;
}

static void guard_set(const struct pool *pool, unsigned char *object, uint64_t state)
{
    uint64_t guard = state ^ (uintptr_t)pool;
    memcpy(object + guard_offset(pool), &guard, sizeof guard);
}

/* True when the pattern is intact from byte `from` of the object up to its guard. */
static bool fill_intact(const struct pool *pool, const unsigned char *object, size_t from)
{
    size_t length = guard_offset(pool) - from;
    /* Each byte is the pattern if the first one is, and each is equal to the next: one call for a whole frame. */
    return length == 0 || (object[from] == FILL && memcmp(object + from, object + from + 1, length - 1) == 0);
}

/* Checks that nobody wrote to the object while it was free (unless it is fresh), and marks it as taken. */
static void open_to_caller(const struct pool *pool, unsigned char *object, bool fresh)
{
    unpoison(object, pool->stride);
    CHECK(fresh || (guard_of(pool, object) == GUARD_HOME && fill_intact(pool, object, sizeof(struct pool_free))));
    memset(object, FILL, guard_offset(pool));
    guard_set(pool, object, GUARD_OUT);
    poison(object + pool->config.size, pool->stride - pool->config.size);
}

void pool_inspect(struct pool *pool, void *object)
{
    unpoison(object, pool->stride);
    CHECK(guard_of(pool, object) == GUARD_OUT && fill_intact(pool, object, pool->config.size));
}

void pool_seal(struct pool *pool, void *object)
{
    memset((unsigned char *)object + sizeof(struct pool_free), FILL, guard_offset(pool) - sizeof(struct pool_free));
    guard_set(pool, object, GUARD_HOME);
    poison(object, pool->stride);
}

/* Allocates one more chunk. Only when no object of the last one is fresh any more. */
static int grow(struct pool *pool, uint32_t count)
{
    uint32_t allowed = pool->config.limit - pool->made;
    count = count < allowed ? count : allowed;
    if (count == 0) {
        return -ENOSPC;
    }
    size_t align = pool->config.align > alignof(struct pool_chunk) ? pool->config.align : alignof(struct pool_chunk);
    size_t header = round_up(sizeof(struct pool_chunk), align);
    size_t bytes = header + round_up(count * pool->stride, align);
    struct pool_chunk *chunk = aligned_alloc(align, bytes);
    if (chunk == NULL) {
        return -ENOMEM;
    }
    *chunk = (struct pool_chunk){pool->chunks, bytes};
    pool->chunks = chunk;
    pool->made += count;
    pool->fresh = count;
    pool->fresh_at = (unsigned char *)chunk + header;
    poison(pool->fresh_at, bytes - header);
    return 0;
}

int pool_open(struct pool *pool, const struct pool_config *config)
{
    size_t align = config->align;
    CHECK(config->size != 0 && config->size <= SIZE_MAX_OBJECT);
    CHECK(align != 0 && align <= ALIGN_MAX && (align & (align - 1)) == 0);
    CHECK(config->chunk != 0 && config->reserve <= config->limit);
    *pool = (struct pool){.config = *config};
    size_t least_align = align > alignof(struct pool_free) ? align : alignof(struct pool_free);
    pool->stride = round_up(guard_offset(pool) + (POOL_INSPECTED ? sizeof(uint64_t) : 0), least_align);
    return config->reserve == 0 ? 0 : grow(pool, config->reserve);
}

void pool_close(struct pool *pool)
{
    CHECK(pool->outstanding == 0);
    while (pool->chunks != NULL) {
        struct pool_chunk *chunk = pool->chunks;
        pool->chunks = chunk->next;
        unpoison(chunk, chunk->bytes);
        free(chunk);
    }
    *pool = (struct pool){.config = pool->config};
}

void pool_fail_nth(struct pool *pool, uint32_t n)
{
    pool->fail_in = n;
}

size_t pool_bytes(const struct pool *pool)
{
    size_t bytes = 0;
    for (const struct pool_chunk *chunk = pool->chunks; chunk != NULL; chunk = chunk->next) {
        bytes += chunk->bytes;
    }
    return bytes;
}

void *pool_take_slow(struct pool *pool)
{
    if (pool->fail_in != 0 && --pool->fail_in == 0) {
        return NULL;
    }
    struct pool_free *home = pool->free;
    unsigned char *object = (unsigned char *)home;
    if (home != NULL) {
        unpoison(home, sizeof *home);
        pool->free = home->next;
    } else {
        if (pool->fresh == 0 && grow(pool, pool->config.chunk) != 0) {
            return NULL;
        }
        object = pool->fresh_at;
        pool->fresh_at += pool->stride;
        pool->fresh--;
    }
    if (POOL_INSPECTED) {
        open_to_caller(pool, object, home == NULL);
    } else {
        unpoison(object, pool->stride);
    }
    pool->outstanding++;
    if (pool->outstanding > pool->high_water) {
        pool->high_water = pool->outstanding;
    }
    return object;
}
