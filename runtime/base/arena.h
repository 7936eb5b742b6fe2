/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.h - one block of memory, carved once and released whole.
 *
 * The same layout function runs twice: over a measuring arena, which gives NULL and only counts, and over an open
 * one of exactly the size measured. So nothing is guessed, a failed allocation leaves nothing half built, and how
 * much memory a configuration takes is known without taking it:
 *
 *   struct arena arena = arena_measure();
 *   layout(&arena, config, NULL);
 *   if (arena_open(&arena, arena_used(&arena)) == 0) { layout(&arena, config, node); }
 *
 * Carving is O(1), aligned, and the memory is zeroed; pages not touched cost nothing. Carving past the size is our
 * mistake (the two passes differed) and stops the program. Nothing is released before arena_close(). Under
 * AddressSanitizer a gap behind each carving must not be touched, so sizes are a little larger there.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "cubeway/types.h"

#include <stdbool.h>
#include <stddef.h>

/* Strictest alignment that can be asked for: a ring's line. */
enum { ARENA_ALIGN = 128 };

struct arena {
    unsigned char *base; /* aligned to ARENA_ALIGN; NULL while measuring */
    size_t used, size;
    void *block; /* what was allocated */
};

/* An arena without memory: it holds nothing and need not be closed. */
struct arena arena_measure(void);

/* Makes *arena one block of size bytes. -ENOMEM: *arena is then a measuring one. */
CW_MUST_CHECK int arena_open(struct arena *arena, size_t size);

/* Releases the block and all that was carved from it. */
void arena_close(struct arena *arena);

/* Lends count objects of size bytes, zeroed, aligned to a power of two up to ARENA_ALIGN; NULL when measuring. */
void *arena_carve(struct arena *arena, size_t count, size_t size, size_t align);

static inline bool arena_is_measuring(const struct arena *arena)
{
    return arena->base == NULL;
}

/* Bytes carved so far, alignment included. */
static inline size_t arena_used(const struct arena *arena)
{
    return arena->used;
}

/* True when an open arena was carved to the last byte: both passes agreed. */
static inline bool arena_is_full(const struct arena *arena)
{
    return arena->used == arena->size;
}

#endif
