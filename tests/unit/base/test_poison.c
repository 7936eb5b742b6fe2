/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/poison.h"
#include "base/pool.h"
#include "suite.h"

#include <string.h>

/* Whether AddressSanitizer would stop a read of these bytes; in other builds nothing ever would. */
static bool untouchable(const volatile void *p, size_t size)
{
#ifdef POISON_ON
    for (size_t i = 0; i < size; i++) {
        if (!__asan_address_is_poisoned((const volatile char *)p + i)) {
            return false;
        }
    }
    return true;
#else
    (void)p;
    (void)size;
    return false;
#endif
}

#ifdef POISON_ON
enum { ON = 1 };
#else
enum { ON = 0 };
#endif

START_TEST(poison_and_back)
{
    char bytes[64] = {0};
    poison(bytes, sizeof bytes);
    ck_assert_int_eq(untouchable(bytes, sizeof bytes), ON);
    unpoison(bytes, sizeof bytes);
    ck_assert(!untouchable(bytes, 1));
    ck_assert(!untouchable(bytes + 63, 1));
    memset(bytes, 1, sizeof bytes);
}
END_TEST

START_TEST(objects_at_home_are_untouchable)
{
    struct pool pool;
    ck_assert_int_eq(pool_open(&pool, &(struct pool_config){.size = 44, .align = 4, .chunk = 4, .limit = 4}), 0);
    char *object = pool_take(&pool);
    ck_assert(!untouchable(object, 1));
    ck_assert(!untouchable(object + 43, 1));
    ck_assert_int_eq(untouchable(object + 44, 4), ON);
    pool_give(&pool, object);
    ck_assert_int_eq(untouchable(object, 44), ON);
    pool_close(&pool);
}
END_TEST

START_TEST(gaps_of_an_arena_are_untouchable)
{
    struct arena measure = arena_measure();
    (void)arena_carve(&measure, 5, 8, 8);
    (void)arena_carve(&measure, 7, 8, 8);
    ck_assert_uint_eq(arena_used(&measure), 12 * 8 + 2 * POISON_GAP);
    struct arena arena;
    ck_assert_int_eq(arena_open(&arena, arena_used(&measure)), 0);
    char *a = arena_carve(&arena, 5, 8, 8), *b = arena_carve(&arena, 7, 8, 8);
    ck_assert(!untouchable(a + 39, 1));
    ck_assert(!untouchable(b, 1));
    ck_assert(!untouchable(b + 55, 1));
    ck_assert_int_eq(untouchable(a + 40, POISON_GAP) && POISON_GAP != 0, ON);
    ck_assert_int_eq(untouchable(b + 56, POISON_GAP) && POISON_GAP != 0, ON);
    arena_close(&arena);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(poison_and_back),
    SUITE_TEST(objects_at_home_are_untouchable),
    SUITE_TEST(gaps_of_an_arena_are_untouchable),
};
SUITE_MAIN("poison", tests)
