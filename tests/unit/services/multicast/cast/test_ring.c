/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/cast/ring.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static struct cast_ring r;

static int put(uint32_t index, size_t length)
{
    uint8_t bytes[16];
    memset(bytes, (int)index, sizeof bytes);
    const struct cast_head h = {
        .index = index, .piece = 1000 + index, .sum = index, .rest = bytes, .rest_bytes = length};
    return cast_ring_put(&r, &h);
}

static void is_there(uint32_t index, size_t length)
{
    struct cast_head h = {.kind = CAST_DATA};
    const uint8_t *bytes = cast_ring_get(&r, index, &h);
    ck_assert_ptr_nonnull(bytes);
    ck_assert(bytes == h.rest && h.rest_bytes == length && h.index == index && h.piece == 1000 + index);
    ck_assert(h.sum == index && bytes[0] == (uint8_t)index && bytes[length - 1] == (uint8_t)index);
}

START_TEST(a_window)
{
    cast_ring_init(&r, 5, 16);
    ck_assert_uint_eq(cast_ring_memory(&r), 0);
    ck_assert_int_eq(put(4, 16), -EEXIST);
    ck_assert_int_eq(put(5 + CAST_WINDOW, 16), -ERANGE);
    ck_assert_int_eq(put(6, 17), -EMSGSIZE);
    ck_assert_int_eq(put(6, 0), -EMSGSIZE);
    ck_assert_int_eq(put(6, 16), 0);
    ck_assert_uint_eq(cast_ring_memory(&r), 16 * CAST_WINDOW);
    ck_assert_int_eq(put(6, 16), -EEXIST);
    ck_assert_uint_eq(cast_ring_whole(&r), 5);
    ck_assert_int_eq(put(5, 3), 0);
    ck_assert_uint_eq(cast_ring_whole(&r), 7);
    is_there(5, 3);
    is_there(6, 16);
    struct cast_head h;
    ck_assert_ptr_null(cast_ring_get(&r, 7, &h));
    cast_ring_close(&r);
    ck_assert(!cast_ring_has(&r, 6) && cast_ring_whole(&r) == 7 && cast_ring_memory(&r) == 0);
}
END_TEST

/* What is below the base is here until it is written over. */
START_TEST(history)
{
    cast_ring_init(&r, 0, 16);
    for (uint32_t i = 0; i < 100; i++) {
        ck_assert_int_eq(put(i, 16), 0);
    }
    cast_ring_advance(&r, 100);
    ck_assert(cast_ring_oldest(&r) == 0 && cast_ring_whole(&r) == 100);
    is_there(3, 16);
    for (uint32_t i = 100; i < 150; i++) {
        ck_assert_int_eq(put(i, 16), 0);
    }
    ck_assert_uint_eq(cast_ring_oldest(&r), 150 - CAST_WINDOW);
    ck_assert(!cast_ring_has(&r, 21) && cast_ring_has(&r, 22));
    cast_ring_close(&r);
}
END_TEST

START_TEST(skips)
{
    cast_ring_init(&r, 0, 16);
    ck_assert(put(0, 1) == 0 && put(2, 1) == 0 && put(5, 1) == 0);
    ck_assert_uint_eq(cast_ring_skip(&r, 0), 0);
    ck_assert_uint_eq(cast_ring_skip(&r, 4), 2);
    ck_assert(r.base == 4 && cast_ring_whole(&r) == 4 && cast_ring_oldest(&r) == 4 && cast_ring_has(&r, 5));
    ck_assert_int_eq(put(4, 1), 0);
    ck_assert_uint_eq(cast_ring_whole(&r), 6);
    ck_assert_uint_eq(cast_ring_skip(&r, 1000), 994);
    ck_assert(r.base == 1000 && r.have[0] == 0 && r.have[1] == 0);
    cast_ring_close(&r);
}
END_TEST

/* Against one bool for each. */
START_TEST(bits)
{
    for (uint32_t n = 0; n <= 130; n++) {
        uint64_t down[2] = {0x8123456789abcdef, 0xfedcba9876543210}, up[2] = {down[0], down[1]};
        const uint64_t was[2] = {down[0], down[1]};
        uint64_t first[2];
        cast_bits_down(down, n);
        cast_bits_up(up, n);
        cast_bits_first(first, n);
        for (uint32_t i = 0; i < CAST_WINDOW; i++) {
            ck_assert(cast_bits_has(down, i) == (i + n < CAST_WINDOW && cast_bits_has(was, i + n)));
            ck_assert(cast_bits_has(up, i) == (i >= n && cast_bits_has(was, i - n)));
            ck_assert(cast_bits_has(first, i) == (i < n));
        }
        uint64_t one[2] = {0, 0};
        ck_assert_uint_eq(cast_bits_lowest(one), CAST_WINDOW);
        cast_bits_add(one, n % CAST_WINDOW);
        ck_assert_uint_eq(cast_bits_lowest(one), n % CAST_WINDOW);
    }
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(a_window), SUITE_TEST(history), SUITE_TEST(skips),
                                          SUITE_TEST(bits)};
SUITE_MAIN("cast_ring", tests)
