/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/prng.h"
#include "suite.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

enum { PARTS = 200 };

/* A layout like a node's: many parts of many sizes. The same seed gives the same parts. */
static void layout(struct arena *arena, uint64_t seed, unsigned char *parts[PARTS], size_t bytes[PARTS])
{
    struct prng p = prng_stream(seed, 0, 0);
    for (int i = 0; i < PARTS; i++) {
        size_t count = prng_below(&p, 30), size = prng_below(&p, 40), align = (size_t)1 << prng_below(&p, 8);
        bytes[i] = count * size;
        parts[i] = arena_carve(arena, count, size, align);
        if ((uintptr_t)parts[i] % align != 0) {
            ck_abort_msg("part %d is not aligned to %zu", i, align);
        }
    }
}

START_TEST(two_passes_agree_and_parts_are_apart)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        unsigned char *parts[PARTS];
        size_t bytes[PARTS];
        struct arena measure = arena_measure();
        ck_assert(arena_is_measuring(&measure));
        layout(&measure, seed, parts, bytes);
        for (int i = 0; i < PARTS; i++) {
            ck_assert_ptr_null(parts[i]);
        }
        struct arena arena;
        ck_assert_int_eq(arena_open(&arena, arena_used(&measure)), 0);
        ck_assert(!arena_is_measuring(&arena));
        ck_assert(!arena_is_full(&arena));
        layout(&arena, seed, parts, bytes);
        ck_assert(arena_is_full(&arena));
        ck_assert_uint_eq(arena_used(&arena), arena_used(&measure));
        for (int i = 0; i < PARTS; i++) {
            for (size_t j = 0; j < bytes[i]; j++) {
                if (parts[i][j] != 0) {
                    ck_abort_msg("part %d is not zeroed", i);
                }
            }
            memset(parts[i], i + 1, bytes[i]);
        }
        for (int i = 0; i < PARTS; i++) {
            for (size_t j = 0; j < bytes[i]; j++) {
                if (parts[i][j] != i + 1) {
                    ck_abort_msg("part %d and another overlap", i);
                }
            }
        }
        arena_close(&arena);
        ck_assert(arena_is_measuring(&arena));
    }
}
END_TEST

START_TEST(strictest_alignment)
{
    struct arena arena;
    ck_assert_int_eq(arena_open(&arena, 1024), 0);
    (void)arena_carve(&arena, 1, 1, 1);
    ck_assert_uint_eq((uintptr_t)arena_carve(&arena, 1, ARENA_ALIGN, ARENA_ALIGN) % ARENA_ALIGN, 0);
    arena_close(&arena);
}
END_TEST

START_TEST(too_large_is_an_error_and_leaves_nothing)
{
    struct arena arena;
    ck_assert_int_eq(arena_open(&arena, SIZE_MAX - 5), -ENOMEM);
    ck_assert(arena_is_measuring(&arena));
    arena_close(&arena);
}
END_TEST

START_TEST(carving_past_the_size_stops)
{
    struct arena arena;
    ck_assert_int_eq(arena_open(&arena, 64), 0);
    (void)arena_carve(&arena, 1, 65, 1);
}
END_TEST

START_TEST(overflow_stops_even_while_measuring)
{
    struct arena arena = arena_measure();
    (void)arena_carve(&arena, SIZE_MAX / 2, 3, 8);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(two_passes_agree_and_parts_are_apart),     SUITE_TEST(strictest_alignment),
    SUITE_TEST(too_large_is_an_error_and_leaves_nothing), SUITE_ABORTS(carving_past_the_size_stops),
    SUITE_ABORTS(overflow_stops_even_while_measuring),
};
SUITE_MAIN("arena", tests)
