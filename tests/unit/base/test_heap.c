/* SPDX-License-Identifier: Apache-2.0 */
#include "base/heap.h"
#include "base/prng.h"
#include "suite.h"

#include <errno.h>

enum { CAPACITY = 500 };

struct bench_of {
    struct heap heap;
    struct heap_slot memory[CAPACITY + HEAP_ROOT];
    struct heap_entry entries[CAPACITY + 1];
    uint64_t sequences[CAPACITY]; /* what each entry was last queued with */
};

static struct bench_of *bench_new(uint32_t capacity)
{
    struct bench_of *b = malloc(sizeof *b);
    ck_assert_ptr_nonnull(b);
    *b = (struct bench_of){.heap = {0}};
    ck_assert_uint_le(heap_size(capacity), sizeof b->memory);
    heap_init(&b->heap, b->memory, capacity);
    return b;
}

START_TEST(empty_heap)
{
    struct bench_of *b = bench_new(0);
    ck_assert_ptr_null(heap_min(&b->heap));
    ck_assert_ptr_null(heap_pop(&b->heap));
    ck_assert_int_eq(heap_min_time(&b->heap).ns, CW_NEVER.ns);
    ck_assert_uint_eq(heap_count(&b->heap), 0);
    ck_assert(heap_valid(&b->heap));
    ck_assert_int_eq(heap_insert(&b->heap, &b->entries[0], (cw_time){1}, 1), -ENOSPC);
    free(b);
}
END_TEST

START_TEST(full_heap_refuses_and_changes_nothing)
{
    struct bench_of *b = bench_new(3);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(heap_insert(&b->heap, &b->entries[i], (cw_time){9 - i}, 0), 0);
    }
    ck_assert_int_eq(heap_insert(&b->heap, &b->entries[3], (cw_time){1}, 0), -ENOSPC);
    ck_assert(!heap_is_queued(&b->entries[3]));
    ck_assert(heap_valid(&b->heap));
    ck_assert_ptr_eq(heap_min(&b->heap), &b->entries[2]);
    ck_assert_int_eq(heap_min_time(&b->heap).ns, 7);
    heap_remove(&b->heap, &b->entries[1]);
    ck_assert_int_eq(heap_insert(&b->heap, &b->entries[3], (cw_time){1}, 0), 0);
    ck_assert_ptr_eq(heap_pop(&b->heap), &b->entries[3]);
    free(b);
}
END_TEST

/* Equal times leave in the order of their sequence, however they came in. */
START_TEST(sequence_breaks_ties)
{
    struct bench_of *b = bench_new(CAPACITY);
    uint32_t order[CAPACITY];
    for (uint32_t i = 0; i < CAPACITY; i++) {
        order[i] = i;
    }
    struct prng p = prng_stream(2, 0, 0);
    prng_shuffle(&p, order, CAPACITY, sizeof *order);
    for (uint32_t i = 0; i < CAPACITY; i++) {
        /* far apart, so that a comparison in fewer than 64 bits would fail */
        uint64_t sequence = (uint64_t)order[i] << 55 | (CAPACITY - order[i]);
        ck_assert_int_eq(heap_insert(&b->heap, &b->entries[order[i]], (cw_time){-4}, sequence), 0);
    }
    ck_assert(heap_valid(&b->heap));
    for (uint32_t i = 0; i < CAPACITY; i++) {
        ck_assert_ptr_eq(heap_pop(&b->heap), &b->entries[i]);
    }
    free(b);
}
END_TEST

/* The least of all queued entries, by looking at each. */
static struct heap_entry *naive_min(struct bench_of *b)
{
    struct heap_entry *least = NULL;
    for (int i = 0; i < CAPACITY; i++) {
        struct heap_entry *e = &b->entries[i];
        if (!heap_is_queued(e)) {
            continue;
        }
        if (least == NULL || e->at.ns < least->at.ns ||
            (e->at.ns == least->at.ns && b->sequences[i] < b->sequences[least - b->entries])) {
            least = e;
        }
    }
    return least;
}

static void random_steps(uint64_t seed, int64_t times, uint32_t steps)
{
    struct bench_of *b = bench_new(CAPACITY);
    struct prng p = prng_stream(seed, 0, 0);
    uint32_t queued = 0;
    for (uint32_t step = 0; step < steps; step++) {
        /* the heap swells and shrinks in turn */
        bool swell = step / 2000 % 2 == 0;
        struct heap_entry *e = &b->entries[prng_below(&p, CAPACITY)];
        cw_time at = {(int64_t)prng_below(&p, (uint64_t)times) - times / 2};
        if (!heap_is_queued(e)) {
            if (swell || prng_chance(&p, 1, 4)) {
                b->sequences[e - b->entries] = step;
                queued += heap_insert(&b->heap, e, at, step) == 0;
            }
        } else if (prng_chance(&p, 1, 2)) {
            b->sequences[e - b->entries] = step;
            heap_adjust(&b->heap, e, at, step);
        } else if (!swell || prng_chance(&p, 1, 4)) {
            queued--;
            if (prng_chance(&p, 1, 2)) {
                heap_remove(&b->heap, e);
            } else {
                struct heap_entry *least = naive_min(b);
                if (heap_pop(&b->heap) != least || heap_is_queued(least)) {
                    ck_abort_msg("seed %lu step %u: pop", (unsigned long)seed, step);
                }
            }
        }
        struct heap_entry *least = naive_min(b);
        int64_t next = least == NULL ? CW_NEVER.ns : least->at.ns;
        if (heap_min(&b->heap) != least || heap_min_time(&b->heap).ns != next || heap_count(&b->heap) != queued ||
            !heap_valid(&b->heap)) {
            ck_abort_msg("seed %lu step %u: not what a look at each entry says", (unsigned long)seed, step);
        }
    }
    free(b);
}

START_TEST(agrees_with_a_look_at_each)
{
    random_steps(3, INT64_C(1) << 60, 30000);
    random_steps(4, 10, 30000); /* nearly all ties */
}
END_TEST

START_TEST(valid_sees_damage)
{
    struct bench_of *b = bench_new(CAPACITY);
    for (int i = 0; i < 20; i++) {
        ck_assert_int_eq(heap_insert(&b->heap, &b->entries[i], (cw_time){i}, 0), 0);
    }
    ck_assert(heap_valid(&b->heap));
    b->entries[7].at.ns = 0; /* behind the heap's back */
    ck_assert(!heap_valid(&b->heap));
    b->entries[7].at.ns = 7;
    b->entries[7].place++;
    ck_assert(!heap_valid(&b->heap));
    b->entries[7].place--;
    b->heap.slots[b->entries[7].place].at_ns = b->entries[7].at.ns = -1;
    ck_assert(!heap_valid(&b->heap));
    free(b);
}
END_TEST

START_TEST(an_entry_is_queued_once)
{
    struct bench_of *b = bench_new(4);
    ck_assert_int_eq(heap_insert(&b->heap, &b->entries[0], (cw_time){1}, 0), 0);
    (void)!heap_insert(&b->heap, &b->entries[0], (cw_time){2}, 0);
}
END_TEST

START_TEST(an_entry_not_queued_is_not_removed)
{
    struct bench_of *b = bench_new(4);
    heap_remove(&b->heap, &b->entries[0]);
}
END_TEST

START_TEST(an_entry_of_another_heap_is_not_removed)
{
    struct bench_of *a = bench_new(4), *b = bench_new(4);
    ck_assert_int_eq(heap_insert(&a->heap, &a->entries[0], (cw_time){1}, 0), 0);
    ck_assert_int_eq(heap_insert(&b->heap, &b->entries[0], (cw_time){1}, 0), 0);
    heap_remove(&a->heap, &b->entries[0]);
}
END_TEST

START_TEST(memory_must_be_aligned)
{
    struct bench_of *b = bench_new(4);
    heap_init(&b->heap, (char *)b->memory + 4, 4);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(empty_heap),
    SUITE_TEST(full_heap_refuses_and_changes_nothing),
    SUITE_TEST(sequence_breaks_ties),
    SUITE_TEST(agrees_with_a_look_at_each),
    SUITE_TEST(valid_sees_damage),
    SUITE_ABORTS(an_entry_is_queued_once),
    SUITE_ABORTS(an_entry_not_queued_is_not_removed),
    SUITE_ABORTS(an_entry_of_another_heap_is_not_removed),
    SUITE_ABORTS(memory_must_be_aligned),
};
SUITE_MAIN("heap", tests)
