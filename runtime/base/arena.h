/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.h - one block of memory, carved once and released as a whole.
 *
 * The same layout function runs twice: over a measuring arena, which gives NULL and only counts, and over an open arena
 * of exactly the size that was measured. So no size is guessed, a failed allocation leaves nothing half built, and how
 * much memory a configuration takes can be known without allocating it:
 *
 *   struct arena arena = arena_measure();
 *   layout(&arena, config, NULL);
 *   if (arena_open(&arena, arena_used(&arena)) == 0) { layout(&arena, config, node); }
 *
 * Carving is O(1); what it gives is aligned and zeroed, and pages that nobody touches cost nothing. Carving past the
 * size is our own mistake (the two passes differed) and stops the program. Nothing is released before arena_close().
 * Under AddressSanitizer a gap follows each carving, which nobody may touch, so sizes are a little larger there.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "cubeway/types.h"

#include <stdbool.h>
#include <stddef.h>

/* The strictest alignment that can be asked for: that of a ring (ring.h). */
enum { ARENA_ALIGN = 128 };

struct arena {
    unsigned char *base; /* aligned to ARENA_ALIGN; NULL while measuring */
    size_t used, size;
    void *block; /* what was allocated: base lies in it */
};

/* A measuring arena: it has no memory and need not be closed. */
struct arena arena_measure(void);

/* Makes *arena an arena of one block of size bytes. -ENOMEM: *arena is then a measuring one. */
CW_MUST_CHECK int arena_open(struct arena *arena, size_t size);

/* Releases the block and all that was carved from it. */
void arena_close(struct arena *arena);

/*
 * Lends count objects of size bytes each, zeroed, aligned to align, a power of two up to ARENA_ALIGN; NULL: measuring.
 */
void *arena_carve(struct arena *arena, size_t count, size_t size, size_t align);

static inline bool arena_is_measuring(const struct arena *arena)
{
    return arena->base == NULL;
}

/* How many bytes were carved so far, with those that alignment took. */
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
