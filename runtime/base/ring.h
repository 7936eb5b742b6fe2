/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.h - pointers from one thread to one other thread, in order, each exactly once, without locks.
 *
 * Exactly one thread pushes, the producer, and exactly one pops, the consumer. What the producer wrote to an object
 * before it pushed the object's pointer, the consumer sees after it popped that; ownership of the object goes with the
 * pointer. Nobody waits: push takes what fits, pop gives what is there.
 *
 * Indices run freely and wrap at 2^32 (capacity is a power of two), so that all slots can be used, and tail - head is
 * the number of pointers inside. Each side keeps its own index, and the value of the other side's index that it read
 * last, on a cache line of its own, and reads the other's index again only when that value does not suffice: a busy
 * ring costs less than one cache miss an item.
 */
#ifndef BASE_RING_H
#define BASE_RING_H

#include "base/check.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Two lines of 64: x86 fetches lines in pairs, so neighbours 64 bytes apart would still disturb each other. */
enum { RING_LINE = 128 };
#define RING_CAPACITY_MAX (UINT32_C(1) << 31)

struct ring {
    alignas(RING_LINE) void **slots;
    uint32_t capacity;

    alignas(RING_LINE) _Atomic uint32_t tail; /* written by the producer only */
    uint32_t head_seen;                       /* head, when the producer read it last */

    alignas(RING_LINE) _Atomic uint32_t head; /* written by the consumer only */
    uint32_t tail_seen;                       /* tail, when the consumer read it last */
};

/* How many bytes of memory, aligned to RING_LINE, a ring for so many pointers needs. */
static inline size_t ring_size(uint32_t capacity)
{
    return (size_t)capacity * sizeof(void *);
}

/*
 * Borrows ring_size(capacity) bytes of memory for as long as the ring is used; capacity is a power of two up to
 * RING_CAPACITY_MAX. To be called before either side starts. There is no close: whoever stops both sides has to look
 * after the pointers that are still inside.
 */
static inline void ring_init(struct ring *ring, void *memory, uint32_t capacity)
{
    CHECK(capacity != 0 && (capacity & (capacity - 1)) == 0 && (uintptr_t)memory % sizeof(void *) == 0);
    ring->slots = memory;
    ring->capacity = capacity;
    ring->head_seen = 0;
    ring->tail_seen = 0;
    atomic_init(&ring->tail, 0);
    atomic_init(&ring->head, 0);
}

/* For the producer. Takes the first of count pointers (none is NULL), as many as find room, and gives their number. */
static inline uint32_t ring_push_batch(struct ring *ring, void *const *items, uint32_t count)
{
    uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    uint32_t room = ring->capacity - (tail - ring->head_seen);
    if (room < count) {
        ring->head_seen = atomic_load_explicit(&ring->head, memory_order_acquire);
        room = ring->capacity - (tail - ring->head_seen);
        count = room < count ? room : count;
    }
    if (count == 0) {
        return 0;
    }
    uint32_t at = tail & (ring->capacity - 1);
    uint32_t straight = ring->capacity - at;
    straight = straight < count ? straight : count;
    memcpy(ring->slots + at, items, straight * sizeof *items);
    memcpy(ring->slots, items + straight, (count - straight) * sizeof *items);
    atomic_store_explicit(&ring->tail, tail + count, memory_order_release);
    return count;
}

/* For the consumer. Writes the oldest pointers, at most count, to items, in order, and gives their number. */
static inline uint32_t ring_pop_batch(struct ring *ring, void **items, uint32_t count)
{
    uint32_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    uint32_t here = ring->tail_seen - head;
    if (here < count) {
        ring->tail_seen = atomic_load_explicit(&ring->tail, memory_order_acquire);
        here = ring->tail_seen - head;
        count = here < count ? here : count;
    }
    if (count == 0) {
        return 0;
    }
    uint32_t at = head & (ring->capacity - 1);
    uint32_t straight = ring->capacity - at;
    straight = straight < count ? straight : count;
    memcpy(items, ring->slots + at, straight * sizeof *items);
    memcpy(items + straight, ring->slots, (count - straight) * sizeof *items);
    atomic_store_explicit(&ring->head, head + count, memory_order_release);
    return count;
}

/* For the producer. Takes item; false: the ring is full, and item stays with the caller. */
static inline bool ring_push(struct ring *ring, void *item)
{
    CHECK(item != NULL);
    uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    if (tail - ring->head_seen == ring->capacity) {
        ring->head_seen = atomic_load_explicit(&ring->head, memory_order_acquire);
        if (tail - ring->head_seen == ring->capacity) {
            return false;
        }
    }
    ring->slots[tail & (ring->capacity - 1)] = item;
    atomic_store_explicit(&ring->tail, tail + 1, memory_order_release);
    return true;
}

/* For the consumer. Gives the oldest pointer; NULL when the ring is empty. */
static inline void *ring_pop(struct ring *ring)
{
    uint32_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    if (head == ring->tail_seen) {
        ring->tail_seen = atomic_load_explicit(&ring->tail, memory_order_acquire);
        if (head == ring->tail_seen) {
            return NULL;
        }
    }
    void *item = ring->slots[head & (ring->capacity - 1)];
    atomic_store_explicit(&ring->head, head + 1, memory_order_release);
    return item;
}

/* How many pointers are inside. Exact when both sides rest; otherwise the other side may have changed it by now. */
static inline uint32_t ring_count(const struct ring *ring)
{
    uint32_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
    return atomic_load_explicit(&ring->tail, memory_order_acquire) - head;
}

#endif
