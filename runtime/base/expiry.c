/* SPDX-License-Identifier: Apache-2.0 */
#include "base/expiry.h"

#include "base/check.h"

#include <errno.h>
#include <stdlib.h>

enum { CHUNK_ITEMS = 32 };
#define NO_INDEX UINT32_MAX

static uint32_t chunks_for(uint32_t limit)
{
    return (limit + CHUNK_ITEMS - 1) / CHUNK_ITEMS;
}

static struct expiry_item *item_at(const struct expiry *t, uint32_t index)
{
    return (struct expiry_item *)(void *)(t->chunk[index / CHUNK_ITEMS] + (size_t)(index % CHUNK_ITEMS) * t->size);
}

static uint32_t index_of(const struct expiry *t, uint32_t handle)
{
    return handle & ((UINT32_C(1) << t->index_bits) - 1);
}

int expiry_open(struct expiry *t, size_t size, uint32_t limit, uint64_t salt)
{
    CHECK(size >= sizeof(struct expiry_item) && size % _Alignof(struct expiry_item) == 0);
    CHECK(limit >= 1 && limit <= EXPIRY_LIMIT_MAX);
    *t = (struct expiry){.size = size, .limit = limit, .salt = (uint32_t)(salt ^ salt >> 32), .first_free = NO_INDEX};
    while ((UINT64_C(1) << t->index_bits) < limit) {
        t->index_bits++;
    }
    t->chunk = calloc(chunks_for(limit), sizeof *t->chunk);
    if (t->chunk == NULL) {
        return -ENOMEM;
    }
    heap_init(&t->heap, NULL, 0);
    return 0;
}

void expiry_close(struct expiry *t)
{
    for (uint32_t i = 0; i < t->made / CHUNK_ITEMS; i++) {
        free(t->chunk[i]);
    }
    free(t->chunk);
    free(t->heap.slots);
    *t = (struct expiry){.limit = 0};
}

size_t expiry_bytes(const struct expiry *t)
{
    size_t heap = t->heap.capacity > 0 ? heap_size(t->heap.capacity) : 0;
    return t->made * t->size + heap + chunks_for(t->limit) * sizeof *t->chunk;
}

/* The next handle of a slot: one generation more, and not 0, which is no handle. */
static uint32_t handle_after(const struct expiry *t, uint32_t handle)
{
    uint32_t next = handle + (UINT32_C(1) << t->index_bits);
    return next != 0 ? next : next + (UINT32_C(1) << t->index_bits);
}

static uint32_t first_handle(const struct expiry *t, uint32_t index)
{
    /* Knuth's multiplicative hash of the salt: where the generations begin. */
    uint32_t generation = (t->salt + index) * UINT32_C(2654435761);
    uint32_t handle = generation << t->index_bits | index;
    return handle != 0 ? handle : handle_after(t, handle);
}

/* Makes the heap twice as large. The entries move in their order. */
static bool grow_heap(struct expiry *t)
{
    uint32_t capacity = t->heap.capacity > 0 ? 2 * t->heap.capacity : CHUNK_ITEMS;
    void *memory = malloc(heap_size(capacity));
    if (memory == NULL) {
        return false;
    }
    struct heap grown;
    heap_init(&grown, memory, capacity);
    for (struct heap_entry *e; t->heap.capacity > 0 && (e = heap_pop(&t->heap)) != NULL;) {
        int rc = heap_insert(&grown, e, e->at, container_of(e, struct expiry_item, due)->sequence);
        CHECK(rc == 0);
    }
    free(t->heap.slots);
    t->heap = grown;
    return true;
}

static struct expiry_item *fresh_item(struct expiry *t)
{
    if (t->fresh == t->limit || (t->fresh == t->heap.capacity && !grow_heap(t))) {
        return NULL;
    }
    if (t->fresh == t->made) {
        unsigned char *chunk = calloc(CHUNK_ITEMS, t->size);
        if (chunk == NULL) {
            return NULL;
        }
        t->chunk[t->made / CHUNK_ITEMS] = chunk;
        t->made += CHUNK_ITEMS;
    }
    struct expiry_item *item = item_at(t, t->fresh);
    item->next = first_handle(t, t->fresh++);
    return item;
}

static struct expiry_item *freed_item(struct expiry *t)
{
    struct expiry_item *item = item_at(t, t->first_free);
    t->first_free = (uint32_t)item->sequence;
    return item;
}

void expiry_share(struct expiry *t, cw_time *earliest)
{
    t->earliest = earliest;
    *earliest = cw_time_min(*earliest, expiry_wake(t));
}

static void bring_forward(struct expiry *t, cw_time at)
{
    if (t->earliest != NULL && cw_time_before(at, *t->earliest)) {
        *t->earliest = at;
    }
}

void *expiry_take(struct expiry *t, cw_time at)
{
    struct expiry_item *item = t->first_free != NO_INDEX ? freed_item(t) : fresh_item(t);
    if (item == NULL) {
        return NULL;
    }
    item->handle = item->next;
    item->sequence = ++t->sequence;
    int rc = heap_insert(&t->heap, &item->due, at, item->sequence);
    CHECK(rc == 0);
    t->taken++;
    bring_forward(t, at);
    return item;
}

void expiry_give(struct expiry *t, void *taken)
{
    struct expiry_item *item = taken;
    CHECK(item->handle != 0);
    uint32_t index = index_of(t, item->handle);
    heap_remove(&t->heap, &item->due);
    item->next = handle_after(t, item->handle);
    item->handle = 0;
    item->sequence = NO_INDEX;
    if (t->first_free == NO_INDEX) {
        t->first_free = index;
    } else {
        item_at(t, t->last_free)->sequence = index;
    }
    t->last_free = index;
    t->taken--;
}

void *expiry_find(const struct expiry *t, uint32_t handle)
{
    uint32_t index = index_of(t, handle);
    if (handle == 0 || index >= t->fresh) {
        return NULL;
    }
    struct expiry_item *item = item_at(t, index);
    return item->handle == handle ? item : NULL;
}

bool expiry_was_given(const struct expiry *t, uint32_t handle)
{
    uint32_t index = index_of(t, handle);
    if (handle == 0 || index >= t->fresh) {
        return false;
    }
    const struct expiry_item *item = item_at(t, index);
    uint32_t first = first_handle(t, index);
    return handle == item->handle || handle - first < (item->handle != 0 ? item->handle : item->next) - first;
}

void expiry_move(struct expiry *t, void *taken, cw_time at)
{
    struct expiry_item *item = taken;
    item->sequence = ++t->sequence;
    heap_adjust(&t->heap, &item->due, at, item->sequence);
    bring_forward(t, at);
}

void *expiry_due(const struct expiry *t, cw_time now)
{
    CHECK_SLOW(t->earliest == NULL || !cw_time_before(expiry_wake(t), *t->earliest));
    return cw_time_due(heap_min_time(&t->heap), now) ? container_of(heap_min(&t->heap), struct expiry_item, due) : NULL;
}

cw_time expiry_wake(const struct expiry *t)
{
    return heap_min_time(&t->heap);
}

void *expiry_each(const struct expiry *t, uint32_t *place)
{
    while (*place < t->fresh) {
        struct expiry_item *item = item_at(t, (*place)++);
        if (item->handle != 0) {
            return item;
        }
    }
    return NULL;
}
