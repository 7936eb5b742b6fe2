/* SPDX-License-Identifier: Apache-2.0 */
#include "base/heap.h"

#include <errno.h>

/* Time above sequence in one signed number: one comparison, no branch. */
static __int128 key_of(const struct heap_slot *slot)
{
    return (__int128)((unsigned __int128)slot->at_ns << 64 | slot->sequence);
}

static bool slot_before(const struct heap_slot *a, const struct heap_slot *b)
{
    return key_of(a) < key_of(b);
}

static uint32_t parent_of(uint32_t i)
{
    return (i + 2) >> 2;
}

static uint32_t first_child_of(uint32_t i)
{
    return (i << 2) - 2;
}

static void place(struct heap *heap, uint32_t i, struct heap_slot slot)
{
    heap->slots[i] = slot;
    slot.entry->place = i;
}

/* Puts the slot into the hole i or above it; parents that are due later than it move down. */
static void sift_up(struct heap *heap, uint32_t i, struct heap_slot slot)
{
    while (i != HEAP_ROOT) {
        uint32_t parent = parent_of(i);
        if (!slot_before(&slot, &heap->slots[parent])) {
            break;
        }
        place(heap, i, heap->slots[parent]);
        i = parent;
    }
    place(heap, i, slot);
}

/* The least of the children from c on (there is at least one). */
static uint32_t least_child(const struct heap *heap, uint32_t c)
{
    const struct heap_slot *slots = heap->slots;
    if (__builtin_expect(c + 4 <= heap->end, 1)) {
        uint32_t left = c + (slot_before(&slots[c + 1], &slots[c]) ? 1 : 0);
        uint32_t right = c + 2 + (slot_before(&slots[c + 3], &slots[c + 2]) ? 1 : 0);
        return slot_before(&slots[right], &slots[left]) ? right : left;
    }
    uint32_t least = c;
    while (++c < heap->end) {
        least = slot_before(&slots[c], &slots[least]) ? c : least;
    }
    return least;
}

/*
 * Fills the hole i: the least children move up until the hole is at the bottom; the slot goes there, and then up again
 * as far as it must. A slot from the end of the heap nearly always belongs at the bottom, so that asking at each level
 * whether it may stay would be in vain (Wegener, "Bottom-up heapsort", 1993). This is right for any slot and any hole.
 */
static void refill(struct heap *heap, uint32_t i, struct heap_slot slot)
{
    for (uint32_t c = first_child_of(i); c < heap->end; c = first_child_of(i)) {
        c = least_child(heap, c);
        place(heap, i, heap->slots[c]);
        i = c;
    }
    sift_up(heap, i, slot);
}

size_t heap_size(uint32_t capacity)
{
    CHECK(capacity <= HEAP_CAPACITY_MAX);
    return ((size_t)capacity + HEAP_ROOT) * sizeof(struct heap_slot);
}

void heap_init(struct heap *heap, void *memory, uint32_t capacity)
{
    CHECK(capacity <= HEAP_CAPACITY_MAX && (uintptr_t)memory % _Alignof(struct heap_slot) == 0);
    *heap = (struct heap){.slots = memory, .end = HEAP_ROOT, .capacity = capacity};
}

int heap_insert(struct heap *heap, struct heap_entry *entry, cw_time at, uint64_t sequence)
{
    CHECK(!heap_is_queued(entry));
    if (heap_count(heap) == heap->capacity) {
        return -ENOSPC;
    }
    entry->at = at;
    sift_up(heap, heap->end++, (struct heap_slot){at.ns, sequence, entry});
    return 0;
}

/* The place of an entry that is queued in this very heap. */
static uint32_t place_of(const struct heap *heap, const struct heap_entry *entry)
{
    uint32_t i = entry->place;
    CHECK(i - HEAP_ROOT < heap_count(heap) && heap->slots[i].entry == entry);
    return i;
}

void heap_adjust(struct heap *heap, struct heap_entry *entry, cw_time at, uint64_t sequence)
{
    uint32_t i = place_of(heap, entry);
    entry->at = at;
    refill(heap, i, (struct heap_slot){at.ns, sequence, entry});
}

void heap_remove(struct heap *heap, struct heap_entry *entry)
{
    uint32_t i = place_of(heap, entry);
    entry->place = 0;
    heap->end--;
    if (i != heap->end) {
        refill(heap, i, heap->slots[heap->end]);
    }
}

struct heap_entry *heap_pop(struct heap *heap)
{
    struct heap_entry *least = heap_min(heap);
    if (least != NULL) {
        heap_remove(heap, least);
    }
    return least;
}

bool heap_valid(const struct heap *heap)
{
    if (heap->end < HEAP_ROOT || heap_count(heap) > heap->capacity) {
        return false;
    }
    for (uint32_t i = HEAP_ROOT; i < heap->end; i++) {
        const struct heap_slot *slot = &heap->slots[i];
        if (slot->entry->place != i || slot->entry->at.ns != slot->at_ns) {
            return false;
        }
        if (i != HEAP_ROOT && slot_before(slot, &heap->slots[parent_of(i)])) {
            return false;
        }
    }
    return true;
}
