/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared.h - memory that a daemon and an attached process share: the only loads and stores of it.
 *
 * A piece of shared memory has one writer. Its writer has it as a `struct share_out`, which can only be stored to;
 * everybody else as a `struct share_in`, which can only be loaded from. So no side ever reads back what it wrote, and
 * none writes what is another's. The member `shared_bytes` is named in this file and in no other of the product, and no
 * other file of runtime/share has atomics: house.shared holds that.
 *
 * The other side may be hostile and change its memory at any instant, between any two loads, also of the same word.
 * Three habits follow for whoever calls these functions:
 *   - A word is loaded once for a decision, into a variable of one's own, and only that variable is judged and used
 *     (invariant 38).
 *   - An offset is never taken from shared memory: it is made of indices of one's own and of constants. Bounds are
 *     CHECKed here nevertheless: an offset outside is our own mistake, not the other side's.
 *   - How often a loop runs is bounded by numbers of one's own.
 *
 * The orders, and why they suffice
 *   - The slots of a ring are loaded and stored *relaxed*: they are passed on by an index. Its writer stores the index
 *     with *release* behind them, its reader loads it with *acquire* before them: what was stored before the index is
 *     seen by who has seen the index (C17 5.1.2.4). A slot is used again after the reader's own index was loaded with
 *     acquire, which the reader stored with release behind its last load of the slot.
 *   - Words of 64 bits are loaded and stored whole, in a single access, so that no half of one is ever seen. Nothing
 *     larger is promised to be of one instant; a seqlock says when several words are (view.h).
 *   - Who goes to sleep stores that it rests and looks once more; who publishes stores the index and looks whether the
 *     other rests. Each stores one word and then loads another, which a processor may do in the other order; then both
 *     may miss what the other stored. share_fence() between the two forbids it: of two sequentially consistent fences
 *     one is first, and who passes the second sees what was stored before the first (C17 7.17.4).
 *   - Bytes of messages are stored by memcpy. A reader that keeps to the indices sees them whole; one that does not
 *     reads rubbish, and it is its own.
 *
 * Not chosen: volatile (orders nothing), a lock in shared memory (its holder may stop), copying by memcpy from memory
 * that may change meanwhile: a compiler may load a byte twice there, and nothing forbids that it decides by the second.
 */
#ifndef SHARE_SHARED_H
#define SHARE_SHARED_H

#include "base/check.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Words of the two sides' hot lines stand so far apart (base/ring.h has the reason). Areas are aligned to it. */
enum { SHARE_LINE = 128 };

/* Memory that another side writes. */
struct share_in {
    const unsigned char *shared_bytes;
    size_t size;
};

/* Memory that only we write. */
struct share_out {
    unsigned char *shared_bytes;
    size_t size;
};

/* Borrows `size` bytes, aligned to SHARE_LINE, for as long as the result is used. */
static inline struct share_in share_in_of(const void *memory, size_t size)
{
    CHECK(memory != NULL && (uintptr_t)memory % SHARE_LINE == 0);
    return (struct share_in){memory, size};
}

static inline struct share_out share_out_of(void *memory, size_t size)
{
    CHECK(memory != NULL && (uintptr_t)memory % SHARE_LINE == 0);
    return (struct share_out){memory, size};
}

/*
 * Tests compile these files once more with CW_SHARE_WATCHED and supply three functions. The first is called before
 * each load: it may change any shared byte, as a hostile process at that instant. The second is given each store, of 1,
 * 4 or 8 bytes; when it says true it has kept it and carries it out later, as a store buffer does. No product has them.
 */
#if defined(CW_SHARE_WATCHED) || defined(CW_MUTANTS)
void share_watch_load(const void *at, size_t bytes);
bool share_watch_store(void *at, uint64_t value, size_t bytes);
void share_watch_fence(void);
enum { SHARE_IS_WATCHED = 1 };
#else
static inline void share_watch_load(const void *at, size_t bytes)
{
    (void)at;
    (void)bytes;
}

static inline bool share_watch_store(void *at, uint64_t value, size_t bytes)
{
    (void)at;
    (void)value;
    (void)bytes;
    return false;
}

static inline void share_watch_fence(void)
{
}
enum { SHARE_IS_WATCHED = 0 };
#endif

/* Is `length` bytes at `at`, with that alignment, inside of so many bytes? Without a sum that could wrap. */
static inline bool share_inside(size_t size, size_t at, size_t length, size_t alignment)
{
    return at <= size && length <= size - at && at % alignment == 0;
}

/* The same memory is met as words and as bytes; may_alias says so to the compiler. */
typedef uint32_t __attribute__((may_alias)) share_word32;
typedef uint64_t __attribute__((may_alias)) share_word64;

/* ---- Loads ---- */

static inline uint32_t share_load_32_in_order(const struct share_in *in, size_t at, memory_order order)
{
    CHECK(share_inside(in->size, at, sizeof(uint32_t), sizeof(uint32_t)));
    const void *word = in->shared_bytes + at;
    share_watch_load(word, sizeof(uint32_t));
    return atomic_load_explicit((const _Atomic share_word32 *)word, order);
}

static inline uint64_t share_load_64_in_order(const struct share_in *in, size_t at, memory_order order)
{
    CHECK(share_inside(in->size, at, sizeof(uint64_t), sizeof(uint64_t)));
    const void *word = in->shared_bytes + at;
    share_watch_load(word, sizeof(uint64_t));
    return atomic_load_explicit((const _Atomic share_word64 *)word, order);
}

static inline uint32_t share_load_32(const struct share_in *in, size_t at)
{
    return share_load_32_in_order(in, at, memory_order_relaxed);
}

static inline uint64_t share_load_64(const struct share_in *in, size_t at)
{
    return share_load_64_in_order(in, at, memory_order_relaxed);
}

/* What was stored before the word that is seen here is seen by all later loads. */
static inline uint32_t share_load_32_acquire(const struct share_in *in, size_t at)
{
    return share_load_32_in_order(in, at, memory_order_acquire);
}

static inline uint64_t share_load_64_acquire(const struct share_in *in, size_t at)
{
    return share_load_64_in_order(in, at, memory_order_acquire);
}

/* For the copies below: one load, relaxed, of a place that was found to be inside. */
static inline uint64_t share_load_word(const void *word)
{
    share_watch_load(word, sizeof(uint64_t));
    return atomic_load_explicit((const _Atomic share_word64 *)word, memory_order_relaxed);
}

static inline unsigned char share_load_byte(const void *byte)
{
    share_watch_load(byte, 1);
    return atomic_load_explicit((const _Atomic unsigned char *)byte, memory_order_relaxed);
}

/* Copies `count` words of 64 bits, each loaded once. at is a multiple of 8. */
static inline void share_load_words(const struct share_in *in, size_t at, uint64_t *to, size_t count)
{
    CHECK(count <= in->size / sizeof *to && share_inside(in->size, at, count * sizeof *to, sizeof *to));
    const unsigned char *from = in->shared_bytes + at;
    for (size_t i = 0; i < count; i++) {
        to[i] = share_load_word(from + i * sizeof *to);
    }
}

/* Copies bytes from anywhere, each loaded once. `to` is memory of our own. */
static inline void share_load_bytes(const struct share_in *in, size_t at, void *to, size_t length)
{
    CHECK(share_inside(in->size, at, length, 1));
    const unsigned char *from = in->shared_bytes + at;
    unsigned char *out = to;
    for (; length > 0 && (uintptr_t)from % sizeof(uint64_t) != 0; length--) {
        *out++ = share_load_byte(from++);
    }
    for (; length >= sizeof(uint64_t); length -= sizeof(uint64_t)) {
        uint64_t word = share_load_word(from);
        memcpy(out, &word, sizeof word);
        from += sizeof word;
        out += sizeof word;
    }
    for (; length > 0; length--) {
        *out++ = share_load_byte(from++);
    }
}

/*
 * Where these bytes lie, for who trusts their writer and only waits for its index: a process reads messages where the
 * daemon put them (inbox_read.c), and nobody else calls this; house.shared holds it.
 */
static inline const void *share_lend(const struct share_in *in, size_t at, size_t length)
{
    CHECK(share_inside(in->size, at, length, 1));
    return in->shared_bytes + at;
}

/* ---- Stores ---- */

static inline void share_store_32_in_order(const struct share_out *out, size_t at, uint32_t value, memory_order order)
{
    CHECK(share_inside(out->size, at, sizeof value, sizeof value));
    void *word = out->shared_bytes + at;
    if (!share_watch_store(word, value, sizeof value)) {
        atomic_store_explicit((_Atomic share_word32 *)word, value, order);
    }
}

static inline void share_store_64_in_order(const struct share_out *out, size_t at, uint64_t value, memory_order order)
{
    CHECK(share_inside(out->size, at, sizeof value, sizeof value));
    void *word = out->shared_bytes + at;
    if (!share_watch_store(word, value, sizeof value)) {
        atomic_store_explicit((_Atomic share_word64 *)word, value, order);
    }
}

static inline void share_store_32(const struct share_out *out, size_t at, uint32_t value)
{
    share_store_32_in_order(out, at, value, memory_order_relaxed);
}

static inline void share_store_64(const struct share_out *out, size_t at, uint64_t value)
{
    share_store_64_in_order(out, at, value, memory_order_relaxed);
}

/* Whoever sees this word with acquire sees all that was stored before. */
static inline void share_store_32_release(const struct share_out *out, size_t at, uint32_t value)
{
    share_store_32_in_order(out, at, value, memory_order_release);
}

static inline void share_store_64_release(const struct share_out *out, size_t at, uint64_t value)
{
    share_store_64_in_order(out, at, value, memory_order_release);
}

/* Stores `count` words of 64 bits, each whole. at is a multiple of 8. */
static inline void share_store_words(const struct share_out *out, size_t at, const uint64_t *from, size_t count)
{
    CHECK(count <= out->size / sizeof *from && share_inside(out->size, at, count * sizeof *from, sizeof *from));
    for (size_t i = 0; i < count; i++) {
        void *word = out->shared_bytes + at + i * sizeof *from;
        if (!share_watch_store(word, from[i], sizeof *from)) {
            atomic_store_explicit((_Atomic share_word64 *)word, from[i], memory_order_relaxed);
        }
    }
}

static inline void share_store_bytes(const struct share_out *out, size_t at, const void *from, size_t length)
{
    CHECK(share_inside(out->size, at, length, 1));
    const unsigned char *bytes = from;
    if (!SHARE_IS_WATCHED) {
        memcpy(out->shared_bytes + at, bytes, length);
        return;
    }
    for (size_t i = 0; i < length; i++) {
        if (!share_watch_store(out->shared_bytes + at + i, bytes[i], 1)) {
            out->shared_bytes[at + i] = bytes[i];
        }
    }
}

/* ---- Fences ---- */

/* The thread sanitizer does not see fences. It need not: all that may race here is atomic. */
#if defined(__SANITIZE_THREAD__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"
#endif

/* Between one's own store and the look that follows it: see above, "who goes to sleep". */
static inline void share_fence(void)
{
    share_watch_fence();
    atomic_thread_fence(memory_order_seq_cst);
}

/* Behind the loads of a seqlock's reader: none of them is later than the load of its number that follows. */
static inline void share_fence_loads(void)
{
    atomic_thread_fence(memory_order_acquire);
}

/* Before the stores of a seqlock's writer: none of them is seen before the odd number. */
static inline void share_fence_stores(void)
{
    atomic_thread_fence(memory_order_release);
}

#if defined(__SANITIZE_THREAD__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

#endif
