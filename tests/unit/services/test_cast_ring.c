/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/cast_ring.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

enum { PIECES = 1000, BYTES = 64 };

static int put(struct cast_ring *r, uint32_t index)
{
    uint8_t piece[BYTES];
    memset(piece, (int)(index % 251), sizeof piece);
    return cast_ring_put(r, index, piece, 1 + index % BYTES, index);
}

/* Against one bit and nothing else for each piece of the tree, in a random walk. */
START_TEST(as_a_plain_set)
{
    struct cast_ring r;
    bool there[PIECES + 1] = {false};
    uint32_t base = 0, x = 12345;
    ck_assert_int_eq(cast_ring_open(&r, 0, PIECES, BYTES), 0);
    ck_assert_uint_eq(cast_ring_memory(&r), CAST_WINDOW * BYTES);
    for (int step = 0; step < 60000; step++) {
        x = x * 1664525 + 1013904223;
        uint32_t index = base + (x >> 8) % 150;
        uint32_t whole = base;
        while (there[whole]) {
            whole++;
        }
        ck_assert_uint_eq(cast_ring_whole(&r), whole);
        if (x % 100 == 0) {
            cast_ring_advance(&r, whole);
            base = whole;
        } else if (x % 1003 == 0) {
            uint32_t back = base > index % 200 ? base - index % 200 : 0;
            cast_ring_rewind(&r, back);
            for (uint32_t i = 0; i < PIECES; i++) {
                there[i] = there[i] && i >= base && i - back < CAST_WINDOW;
            }
            base = back;
        } else {
            int want = index < PIECES && there[index]                   ? -EEXIST
                       : index >= PIECES || index - base >= CAST_WINDOW ? -ERANGE
                                                                        : 0;
            ck_assert_int_eq(put(&r, index), want);
            if (want == 0) {
                there[index] = true;
            }
        }
        size_t length;
        uint64_t sum;
        const uint8_t *bytes = cast_ring_get(&r, index, &length, &sum);
        bool want = index < PIECES && there[index] && index >= base;
        ck_assert(want == (bytes != NULL));
        ck_assert(!want || (length == 1 + index % BYTES && sum == index && bytes[length - 1] == index % 251));
    }
    ck_assert_uint_gt(base, 128);
    cast_ring_close(&r);
    ck_assert_uint_eq(cast_ring_memory(&r), 0);
}
END_TEST

START_TEST(what_it_refuses)
{
    struct cast_ring r;
    uint8_t piece[BYTES + 1] = {0};
    ck_assert_int_eq(cast_ring_open(&r, 10, PIECES, BYTES), 0);
    ck_assert_int_eq(put(&r, 9), -EEXIST);
    ck_assert_int_eq(cast_ring_put(&r, 10, piece, sizeof piece, 0), -EMSGSIZE);
    cast_ring_close(&r);
    ck_assert_int_eq(put(&r, 10), -ERANGE);
}
END_TEST

START_TEST(bits_move)
{
    for (uint32_t n = 0; n <= 130; n++) {
        for (uint32_t i = 0; i < 128; i += 7) {
            uint64_t down[2] = {0, 0}, up[2] = {0, 0};
            down[i / 64] = up[i / 64] = UINT64_C(1) << i % 64;
            cast_bits_down(down, n);
            cast_bits_up(up, n);
            ck_assert(i >= n ? cast_bits_has(down, i - n) : down[0] == 0 && down[1] == 0);
            ck_assert(i + n < 128 ? cast_bits_has(up, i + n) : up[0] == 0 && up[1] == 0);
        }
    }
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(as_a_plain_set), SUITE_TEST(what_it_refuses),
                                          SUITE_TEST(bits_move)};
SUITE_MAIN("cast_ring", tests)
