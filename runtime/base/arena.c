/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/check.h"
#include "base/poison.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

struct arena arena_measure(void)
{
    return (struct arena){.size = SIZE_MAX};
}

int arena_open(struct arena *arena, size_t size)
{
    *arena = arena_measure();
    if (size > SIZE_MAX - ARENA_ALIGN) {
        return -ENOMEM;
    }
    /* calloc gives large blocks as untouched zero pages. It aligns to less than we promise, hence the skip. */
    unsigned char *block = calloc(1, size + ARENA_ALIGN);
    if (block == NULL) {
        return -ENOMEM;
    }
    size_t skip = -(uintptr_t)block & (ARENA_ALIGN - 1);
    *arena = (struct arena){.base = block + skip, .size = size, .block = block};
    poison(arena->base, size);
    return 0;
}

void arena_close(struct arena *arena)
{
    if (!arena_is_measuring(arena)) {
        unpoison(arena->base, arena->size);
        free(arena->block);
    }
    *arena = arena_measure();
}

void *arena_carve(struct arena *arena, size_t count, size_t size, size_t align)
{
    CHECK(align != 0 && align <= ARENA_ALIGN && (align & (align - 1)) == 0);
    size_t bytes, gap = POISON_GAP;
    bool over = __builtin_mul_overflow(count, size, &bytes);
    size_t skip = -arena->used & (align - 1);
    size_t left = arena->size - arena->used;
    CHECK(!over && skip <= left && bytes <= left - skip && gap <= left - skip - bytes);
    size_t start = arena->used + skip;
    arena->used = start + bytes + gap;
    if (arena_is_measuring(arena)) {
        return NULL;
    }
    unpoison(arena->base + start, bytes);
    return arena->base + start;
}
