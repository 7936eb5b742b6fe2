/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap.h - what is due next. heap_min() is always the entry with the least (at, sequence): entries of equal time leave
 * in the order of their sequence, so that the order depends on what was inserted and not on the heap's history.
 *
 *   insert, adjust, remove   O(log4 n), no allocation
 *   min                      O(1)
 *
 * The heap is intrusive: the caller embeds a struct heap_entry, and gets back to its own object with container_of().
 * The heap borrows an entry while that is queued, and for its whole life the memory that heap_init() was lent. Its
 * capacity is fixed, so that a full heap is a limit that somebody chose (-ENOSPC) and not a failed allocation in the
 * middle of a run. Two entries of equal time and sequence are the caller's mistake; their order is then unspecified.
 */
#ifndef BASE_HEAP_H
#define BASE_HEAP_H

#include "base/check.h"
#include "base/container.h"
#include "cubeway/time.h"
#include "cubeway/types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Members may be read by anybody and are written by the functions below. A zeroed entry is one that is not queued. */
struct heap_entry {
    cw_time at;
    uint32_t place; /* index into heap.slots, 0 when not queued */
};

/*
 * The whole key lies beside the pointer, so that sifting reads no entry, and a tie costs no more than any other
 * comparison (measured: with only the time in the slot, a heap full of equal times takes half as long again). The four
 * children of i, 4i-2 .. 4i+1, share two or three cache lines; aligning them gained nothing.
 */
struct heap_slot {
    int64_t at_ns;
    uint64_t sequence;
    struct heap_entry *entry;
};

enum { HEAP_ROOT = 1 };
#define HEAP_CAPACITY_MAX (UINT32_C(1) << 30)

struct heap {
    struct heap_slot *slots;
    uint32_t end; /* index behind the last slot; HEAP_ROOT when empty */
    uint32_t capacity;
};

/* How many bytes of memory, aligned for pointers, a heap for so many entries needs; at most HEAP_CAPACITY_MAX. */
size_t heap_size(uint32_t capacity);

/* Borrows heap_size(capacity) bytes of memory for as long as the heap is used. There is nothing to close. */
void heap_init(struct heap *heap, void *memory, uint32_t capacity);

/*
 * Borrows the entry, which must not be queued, until it is removed. -ENOSPC when the heap is full; the entry is then
 * untouched.
 */
CW_MUST_CHECK int heap_insert(struct heap *heap, struct heap_entry *entry, cw_time at, uint64_t sequence);

/* Gives a queued entry another time and sequence. Cannot fail. */
void heap_adjust(struct heap *heap, struct heap_entry *entry, cw_time at, uint64_t sequence);

/* Gives a queued entry back. */
void heap_remove(struct heap *heap, struct heap_entry *entry);

/* Removes the least entry and gives it back; NULL when the heap is empty. */
struct heap_entry *heap_pop(struct heap *heap);

/*
 * For tests and CHECK_SLOW: walks all entries; true when parents and children are in order and each entry knows its
 * place.
 */
bool heap_valid(const struct heap *heap);

static inline uint32_t heap_count(const struct heap *heap)
{
    return heap->end - HEAP_ROOT;
}

static inline bool heap_is_queued(const struct heap_entry *entry)
{
    return entry->place != 0;
}

/* The least entry, still queued; NULL when the heap is empty. */
static inline struct heap_entry *heap_min(const struct heap *heap)
{
    return heap->end == HEAP_ROOT ? NULL : heap->slots[HEAP_ROOT].entry;
}

/* When the least entry is due; CW_NEVER when the heap is empty. Does not touch the entry. */
static inline cw_time heap_min_time(const struct heap *heap)
{
    return heap->end == HEAP_ROOT ? CW_NEVER : (cw_time){heap->slots[HEAP_ROOT].at_ns};
}

#endif
