/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buffer.h - bytes that come at one end and go at the other: what a client has sent and was not read yet, what it has
 * not taken yet. One piece of memory, so that one system call takes all of it. All zero is an empty buffer. Not
 * thread-safe.
 */
#ifndef SERVICES_KVCACHE_MEMCACHED_BUFFER_H
#define SERVICES_KVCACHE_MEMCACHED_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mc_buffer {
    uint8_t *bytes;
    size_t first, end, room; /* bytes[first..end) are in it */
};

enum { MC_BUFFER_LEAST = 2048, MC_BUFFER_KEEP = 8 * 1024 };

static inline size_t mc_buffer_length(const struct mc_buffer *b)
{
    return b->end - b->first;
}

static inline const uint8_t *mc_buffer_bytes(const struct mc_buffer *b)
{
    return b->bytes != NULL ? b->bytes + b->first : NULL;
}

/*
 * Borrows so many writable bytes at the end, until the next call; mc_buffer_put() says how many were written. NULL: no
 * memory.
 */
uint8_t *mc_buffer_space(struct mc_buffer *b, size_t length);
static inline void mc_buffer_put(struct mc_buffer *b, size_t length)
{
    b->end += length;
}

/* Copies them to the end; false: no memory, and nothing of them is in it. */
bool mc_buffer_add(struct mc_buffer *b, const void *bytes, size_t length);
/* The first so many are gone. Empty, it keeps no more than MC_BUFFER_KEEP bytes of memory. */
void mc_buffer_take(struct mc_buffer *b, size_t length);
/* Empty, without memory. */
void mc_buffer_drop(struct mc_buffer *b);

#endif
