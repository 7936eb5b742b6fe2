/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pool.h"
#include "base/prng.h"
#include "suite.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* The linker sends the pool's allocations here (CMakeLists.txt): how many there were, and whether there is memory. */
static uint32_t chunks_made;
static bool memory_out;
void *__real_aligned_alloc(size_t align, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size)
{
    if (memory_out) {
        return NULL;
    }
    chunks_made++;
    return __real_aligned_alloc(align, size);
}

static const struct pool_config SMALL = {.size = 40, .align = 8, .chunk = 4, .limit = 10};

START_TEST(last_given_is_first_taken)
{
    struct pool pool;
    ck_assert_int_eq(pool_open(&pool, &SMALL), 0);
    void *a = pool_take(&pool), *b = pool_take(&pool);
    ck_assert_ptr_nonnull(a);
    ck_assert_ptr_nonnull(b);
    ck_assert(a != b);
    pool_give(&pool, a);
    pool_give(&pool, b);
    ck_assert_ptr_eq(pool_take(&pool), b);
    ck_assert_ptr_eq(pool_take(&pool), a);
    pool_give(&pool, b);
    pool_give(&pool, a);
    pool_close(&pool);
}
END_TEST

START_TEST(grows_by_chunks_up_to_the_limit)
{
    struct pool pool;
    void *out[10];
    chunks_made = 0;
    ck_assert_int_eq(pool_open(&pool, &SMALL), 0);
    ck_assert_uint_eq(chunks_made, 0);
    ck_assert_uint_eq(pool_bytes(&pool), 0);
    for (uint32_t i = 0; i < 10; i++) {
        out[i] = pool_take(&pool);
        ck_assert_ptr_nonnull(out[i]);
        memset(out[i], (int)i, SMALL.size);
        ck_assert_uint_eq(chunks_made, i / 4 + 1);
        ck_assert_uint_eq(pool_outstanding(&pool), i + 1);
    }
    ck_assert_ptr_null(pool_take(&pool));
    ck_assert_uint_ge(pool_bytes(&pool), 10 * SMALL.size);
    for (uint32_t i = 0; i < 10; i++) {
        for (size_t j = 0; j < SMALL.size; j++) {
            ck_assert_msg(((unsigned char *)out[i])[j] == i, "objects overlap");
        }
    }
    pool_give(&pool, out[3]);
    out[3] = pool_take(&pool);
    ck_assert_ptr_nonnull(out[3]);
    for (uint32_t i = 0; i < 10; i++) {
        pool_give(&pool, out[i]);
    }
    ck_assert_uint_eq(pool_outstanding(&pool), 0);
    ck_assert_uint_eq(pool_high_water(&pool), 10);
    ck_assert_uint_eq(chunks_made, 3);
    pool_close(&pool);
}
END_TEST

START_TEST(a_reserved_pool_never_allocates)
{
    struct pool pool;
    struct pool_config config = {.size = 64, .align = 64, .chunk = 7, .reserve = 1000, .limit = 1000};
    void *out[1000];
    chunks_made = 0;
    ck_assert_int_eq(pool_open(&pool, &config), 0);
    for (int i = 0; i < 1000; i++) {
        out[i] = pool_take(&pool);
        ck_assert_ptr_nonnull(out[i]);
        ck_assert_uint_eq((uintptr_t)out[i] % 64, 0);
    }
    ck_assert_ptr_null(pool_take(&pool));
    for (int i = 0; i < 1000; i++) {
        pool_give(&pool, out[i]);
    }
    ck_assert_uint_eq(chunks_made, 1);
    pool_close(&pool);
}
END_TEST

/* Every size and alignment: objects lie apart, aligned, and each byte of them may be used. */
START_TEST(all_shapes)
{
    for (size_t size = 1; size < 80; size += 3) {
        for (size_t align = 1; align <= 4096; align *= 4) {
            struct pool pool;
            unsigned char *out[9];
            ck_assert_int_eq(pool_open(&pool, &(struct pool_config){size, align, 4, 2, 9}), 0);
            for (int i = 0; i < 9; i++) {
                out[i] = pool_take(&pool);
                ck_assert_ptr_nonnull(out[i]);
                ck_assert((uintptr_t)out[i] % align == 0);
                memset(out[i], i, size);
            }
            for (int i = 0; i < 9; i++) {
                ck_assert(out[i][0] == i);
                ck_assert(out[i][size - 1] == i);
                pool_give(&pool, out[i]);
            }
            pool_close(&pool);
        }
    }
}
END_TEST

/* Random traffic against a table of who is out. */
START_TEST(agrees_with_a_table)
{
    enum { LIMIT = 100 };
    struct pool pool;
    uint64_t *out[LIMIT];
    uint32_t count = 0, high = 0;
    struct prng p = prng_stream(20, 0, 0);
    ck_assert_int_eq(pool_open(&pool, &(struct pool_config){24, 8, 16, 20, LIMIT}), 0);
    for (uint64_t step = 0; step < 200000; step++) {
        bool swell = step / 500 % 2 == 0;
        if (prng_chance(&p, swell ? 3 : 1, 4)) {
            uint64_t *object = pool_take(&pool);
            ck_assert_msg((object == NULL) == (count == LIMIT), "step %lu", (unsigned long)step);
            if (object != NULL) {
                object[0] = object[1] = object[2] = (uintptr_t)object;
                out[count++] = object;
                high = count > high ? count : high;
            }
        } else if (count != 0) {
            uint64_t i = prng_below(&p, count);
            uint64_t *object = out[i];
            uintptr_t self = (uintptr_t)object;
            ck_assert_msg(object[0] == self && object[1] == self && object[2] == self, "two had the same object");
            pool_give(&pool, object);
            out[i] = out[--count];
        }
        if (pool_outstanding(&pool) != count || pool_high_water(&pool) != high) {
            ck_abort_msg("step %lu: counts", (unsigned long)step);
        }
    }
    while (count != 0) {
        pool_give(&pool, out[--count]);
    }
    pool_close(&pool);
}
END_TEST

START_TEST(no_memory_is_an_error)
{
    struct pool pool;
    memory_out = true;
    struct pool_config reserved = SMALL;
    reserved.reserve = 1;
    ck_assert_int_eq(pool_open(&pool, &reserved), -ENOMEM);
    ck_assert_int_eq(pool_open(&pool, &SMALL), 0);
    ck_assert_ptr_null(pool_take(&pool));
    memory_out = false;
    void *object = pool_take(&pool);
    ck_assert_ptr_nonnull(object);
    pool_give(&pool, object);
    pool_close(&pool);
}
END_TEST

/* A user of a pool with an error path at every step: a chain of parts, all or none. */
struct part {
    struct part *next;
};

static void drop_chain(struct pool *pool, struct part *chain)
{
    while (chain != NULL) {
        struct part *next = chain->next;
        pool_give(pool, chain);
        chain = next;
    }
}

static int build_chain(struct pool *pool, int parts, struct part **out)
{
    struct part *chain = NULL;
    for (int i = 0; i < parts; i++) {
        struct part *part = pool_take(pool);
        if (part == NULL) {
            drop_chain(pool, chain);
            return -ENOMEM;
        }
        part->next = chain;
        chain = part;
    }
    *out = chain;
    return 0;
}

/* Fail each allocation in turn until none is left to fail. */
START_TEST(each_take_fails_in_turn)
{
    struct pool pool, other;
    ck_assert_int_eq(pool_open(&pool, &SMALL), 0);
    ck_assert_int_eq(pool_open(&other, &SMALL), 0);
    uint32_t failures = 0;
    bool done = false;
    for (uint32_t n = 1; !done; n++) {
        struct part *chain = NULL;
        pool_fail_nth(&pool, n);
        int r = build_chain(&pool, 6, &chain);
        done = pool_fail_pending(&pool);
        ck_assert_int_eq(r, done ? 0 : -ENOMEM);
        ck_assert_uint_eq(pool_outstanding(&pool), done ? 6 : 0);
        drop_chain(&pool, chain);
        failures += !done;
        /* it happens once, and to this pool only */
        if (done) {
            pool_fail_nth(&pool, 0);
        }
        void *again = pool_take(&pool), *beside = pool_take(&other);
        ck_assert_ptr_nonnull(again);
        ck_assert_ptr_nonnull(beside);
        ck_assert(!pool_fail_pending(&pool));
        pool_give(&pool, again);
        pool_give(&other, beside);
    }
    ck_assert_uint_eq(failures, 6);
    pool_close(&pool);
    pool_close(&other);
}
END_TEST

START_TEST(an_object_not_home_stops_close)
{
    struct pool pool;
    ck_assert_int_eq(pool_open(&pool, &SMALL), 0);
    (void)pool_take(&pool);
    pool_close(&pool);
}
END_TEST

START_TEST(more_given_than_taken_stops)
{
    struct pool pool;
    ck_assert_int_eq(pool_open(&pool, &SMALL), 0);
    void *object = pool_take(&pool);
    pool_give(&pool, object);
    pool_give(&pool, object);
}
END_TEST

#ifdef CW_CHECK_SLOW
START_TEST(a_double_give_stops)
{
    struct pool pool;
    ck_assert_int_eq(pool_open(&pool, &SMALL), 0);
    void *object = pool_take(&pool);
    (void)pool_take(&pool);
    pool_give(&pool, object);
    pool_give(&pool, object);
}
END_TEST

START_TEST(a_give_to_the_wrong_pool_stops)
{
    struct pool a, b;
    ck_assert_int_eq(pool_open(&a, &SMALL), 0);
    ck_assert_int_eq(pool_open(&b, &SMALL), 0);
    void *object = pool_take(&a);
    (void)pool_take(&b);
    pool_give(&b, object);
}
END_TEST

/* Past AddressSanitizer's eyes, which would stop the program a moment earlier. */
__attribute__((no_sanitize("address"))) static void scribble(volatile unsigned char *byte)
{
    *byte = 1;
}

START_TEST(a_write_after_give_stops)
{
    struct pool pool;
    ck_assert_int_eq(pool_open(&pool, &SMALL), 0);
    unsigned char *object = pool_take(&pool);
    pool_give(&pool, object);
    scribble(object + SMALL.size - 1);
    (void)pool_take(&pool);
}
END_TEST

START_TEST(a_write_past_the_end_stops)
{
    struct pool pool;
    ck_assert_int_eq(pool_open(&pool, &SMALL), 0);
    unsigned char *object = pool_take(&pool);
    scribble(object + SMALL.size);
    pool_give(&pool, object);
}
END_TEST

/* Of a size that is padded, too: the first byte behind the object, not the first behind the padding. */
START_TEST(a_write_into_the_padding_stops)
{
    struct pool pool;
    ck_assert_int_eq(pool_open(&pool, &(struct pool_config){13, 1, 4, 0, 4}), 0);
    unsigned char *object = pool_take(&pool);
    pool_give(&pool, object);
    object = pool_take(&pool);
    scribble(object + 13);
    pool_give(&pool, object);
}
END_TEST
#endif

static const struct suite_test tests[] = {
    SUITE_TEST(last_given_is_first_taken),
    SUITE_TEST(grows_by_chunks_up_to_the_limit),
    SUITE_TEST(a_reserved_pool_never_allocates),
    SUITE_TEST(all_shapes),
    SUITE_TEST(agrees_with_a_table),
    SUITE_TEST(no_memory_is_an_error),
    SUITE_TEST(each_take_fails_in_turn),
    SUITE_ABORTS(an_object_not_home_stops_close),
    SUITE_ABORTS(more_given_than_taken_stops),
#ifdef CW_CHECK_SLOW
    SUITE_ABORTS(a_double_give_stops),
    SUITE_ABORTS(a_give_to_the_wrong_pool_stops),
    SUITE_ABORTS(a_write_after_give_stops),
    SUITE_ABORTS(a_write_past_the_end_stops),
    SUITE_ABORTS(a_write_into_the_padding_stops),
#endif
};
SUITE_MAIN("pool", tests)
