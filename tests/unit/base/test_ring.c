/* SPDX-License-Identifier: Apache-2.0 */
#include "base/prng.h"
#include "base/ring.h"
#include "suite.h"

#include <pthread.h>
#include <sched.h>

enum { CAPACITY = 64, BATCH = 24 };

/* Item n of a stream is a pointer into this array; no memory behind it is touched. */
static char numbers[1 << 20];

static void *item(uint32_t n)
{
    return &numbers[n % sizeof numbers];
}

START_TEST(first_in_first_out)
{
    struct ring ring;
    void *slots[4];
    ck_assert_uint_eq(ring_size(4), sizeof slots);
    ring_init(&ring, slots, 4);
    ck_assert_ptr_null(ring_pop(&ring));
    for (uint32_t i = 0; i < 4; i++) {
        ck_assert_uint_eq(ring_count(&ring), i);
        ck_assert(ring_push(&ring, item(i)));
    }
    ck_assert(!ring_push(&ring, item(4)));
    for (uint32_t i = 0; i < 4; i++) {
        ck_assert_ptr_eq(ring_pop(&ring), item(i));
    }
    ck_assert_ptr_null(ring_pop(&ring));
}
END_TEST

START_TEST(one_slot)
{
    struct ring ring;
    void *slot[1];
    ring_init(&ring, slot, 1);
    for (uint32_t i = 0; i < 5; i++) {
        ck_assert(ring_push(&ring, item(i)));
        ck_assert(!ring_push(&ring, item(i)));
        ck_assert_ptr_eq(ring_pop(&ring), item(i));
    }
}
END_TEST

/*
 * One thread, random batches, indices that start just below the end of their range; a counter on each side is the
 * model.
 */
START_TEST(batches_and_index_wrap)
{
    static const uint32_t starts[] = {0, UINT32_MAX - 100, UINT32_MAX / 2};
    for (size_t s = 0; s < sizeof starts / sizeof *starts; s++) {
        struct ring ring;
        void *slots[CAPACITY], *batch[2 * CAPACITY];
        ring_init(&ring, slots, CAPACITY);
        ring.tail = ring.head = ring.head_seen = ring.tail_seen = starts[s];
        struct prng p = prng_stream(6, s, 0);
        uint32_t pushed = 0, popped = 0;
        for (int step = 0; step < 50000; step++) {
            uint32_t count = (uint32_t)prng_below(&p, 2 * CAPACITY);
            if (prng_chance(&p, 1, 2)) {
                uint32_t room = CAPACITY - (pushed - popped);
                for (uint32_t i = 0; i < count; i++) {
                    batch[i] = item(pushed + i);
                }
                uint32_t took =
                    prng_chance(&p, 1, 4) ? ring_push(&ring, item(pushed)) : ring_push_batch(&ring, batch, count);
                if (took > room || (took < room && took < count && took != 1)) {
                    ck_abort_msg("step %d: pushed %u of %u into room for %u", step, took, count, room);
                }
                pushed += took;
            } else {
                uint32_t took = ring_pop_batch(&ring, batch, count);
                if (took != (count < pushed - popped ? count : pushed - popped)) {
                    ck_abort_msg("step %d: popped %u of %u", step, took, pushed - popped);
                }
                for (uint32_t i = 0; i < took; i++, popped++) {
                    if (batch[i] != item(popped)) {
                        ck_abort_msg("step %d: wrong item", step);
                    }
                }
            }
            if (ring_count(&ring) != pushed - popped) {
                ck_abort_msg("step %d: count", step);
            }
        }
        ck_assert_uint_gt(popped, 200);
    }
}
END_TEST

/*
 * Two threads pass parcels round: the producer fills each before pushing it, the consumer reads and clears it and
 * sends it home over a second ring. Plain loads and stores only: the thread sanitizer sees any order the rings fail
 * to give.
 */
struct parcel {
    uint32_t number;
    uint32_t check;
};

struct trade {
    struct ring there, back;
    void *there_slots[CAPACITY], *back_slots[CAPACITY];
    struct parcel parcels[CAPACITY + CAPACITY / 2];
    uint32_t total;
    uint32_t wrong;
};

static void *consume(void *arg)
{
    struct trade *t = arg;
    void *batch[BATCH];
    struct prng p = prng_stream(7, 1, 0);
    for (uint32_t next = 0; next < t->total;) {
        uint32_t want = 1 + (uint32_t)prng_below(&p, BATCH);
        uint32_t count = want == 1 ? (batch[0] = ring_pop(&t->there)) != NULL : ring_pop_batch(&t->there, batch, want);
        if (count == 0) {
            sched_yield();
            continue;
        }
        for (uint32_t i = 0; i < count; i++, next++) {
            struct parcel *parcel = batch[i];
            t->wrong += parcel->number != next || parcel->check != ~next;
            *parcel = (struct parcel){0};
        }
        for (uint32_t sent = 0; sent < count;) {
            sent += ring_push_batch(&t->back, batch + sent, count - sent);
        }
    }
    return NULL;
}

START_TEST(two_threads)
{
    static struct trade t; /* aligned, and too big for a stack */
    ring_init(&t.there, t.there_slots, CAPACITY);
    ring_init(&t.back, t.back_slots, CAPACITY);
    t.total = 200000;
    void *stock[sizeof t.parcels / sizeof *t.parcels];
    uint32_t stocked = 0;
    for (; stocked < sizeof stock / sizeof *stock; stocked++) {
        stock[stocked] = &t.parcels[stocked];
    }
    pthread_t consumer;
    ck_assert_int_eq(pthread_create(&consumer, NULL, consume, &t), 0);
    struct prng p = prng_stream(7, 0, 0);
    for (uint32_t next = 0; next < t.total;) {
        uint32_t home = ring_pop_batch(&t.back, stock + stocked, (uint32_t)(sizeof stock / sizeof *stock) - stocked);
        for (uint32_t i = 0; i < home; i++, stocked++) {
            struct parcel *parcel = stock[stocked];
            if (parcel->number != 0 || parcel->check != 0) {
                ck_abort_msg("a parcel came home before the consumer had cleared it");
            }
        }
        uint32_t count = 1 + (uint32_t)prng_below(&p, BATCH);
        count = count < stocked ? count : stocked;
        count = count < t.total - next ? count : t.total - next;
        for (uint32_t i = 0; i < count; i++) {
            struct parcel *parcel = stock[stocked - count + i];
            *parcel = (struct parcel){next + i, ~(next + i)};
        }
        void **first = stock + stocked - count;
        uint32_t sent = count == 1 ? ring_push(&t.there, *first) : ring_push_batch(&t.there, first, count);
        for (uint32_t i = sent; i < count; i++) {
            *(struct parcel *)first[i] = (struct parcel){0};
            first[i - sent] = first[i];
        }
        stocked -= sent;
        next += sent;
        if (sent == 0) {
            sched_yield();
        }
    }
    /*
     * Takes all parcels before the join: they are more than the way back holds, and the consumer waits for room there.
     */
    while (stocked < sizeof stock / sizeof *stock) {
        stocked += ring_pop_batch(&t.back, stock + stocked, (uint32_t)(sizeof stock / sizeof *stock) - stocked);
        sched_yield();
    }
    ck_assert_int_eq(pthread_join(consumer, NULL), 0);
    ck_assert_uint_eq(t.wrong, 0);
    ck_assert_uint_eq(ring_count(&t.there), 0);
    ck_assert_uint_eq(stocked, sizeof stock / sizeof *stock);
}
END_TEST

START_TEST(capacity_is_a_power_of_two)
{
    struct ring ring;
    void *slots[3];
    ring_init(&ring, slots, 3);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(first_in_first_out),           SUITE_TEST(one_slot),
    SUITE_TEST(batches_and_index_wrap),       SUITE_TEST(two_threads),
    SUITE_ABORTS(capacity_is_a_power_of_two),
};
SUITE_MAIN("ring", tests)
