/* SPDX-License-Identifier: Apache-2.0 */
#include "share/shared.h"
#include "suite.h"

#include <string.h>

static _Alignas(SHARE_LINE) unsigned char memory[512];

START_TEST(words_come_out_as_they_went_in)
{
    struct share_out out = share_out_of(memory, sizeof memory);
    struct share_in in = share_in_of(memory, sizeof memory);
    uint64_t words[3] = {1, UINT64_MAX, 0x0123456789abcdef}, back[3];
    share_store_32(&out, 508, 0xdeadbeef);
    ck_assert_uint_eq(share_load_32(&in, 508), 0xdeadbeef);
    share_store_32_release(&out, 4, 7);
    ck_assert_uint_eq(share_load_32_acquire(&in, 4), 7);
    share_store_64(&out, 504, 42);
    ck_assert_uint_eq(share_load_64(&in, 504), 42);
    share_store_64_release(&out, 8, 43);
    ck_assert_uint_eq(share_load_64_acquire(&in, 8), 43);
    share_store_words(&out, 488, words, 3);
    share_load_words(&in, 488, back, 3);
    ck_assert_mem_eq(words, back, sizeof words);
    share_fence();
    share_fence_loads();
    share_fence_stores();
}
END_TEST

/* Every place and length: as memcpy does it, and nothing beside. */
START_TEST(bytes_of_any_place)
{
    unsigned char from[64], to[80];
    struct share_out out = share_out_of(memory, sizeof memory);
    struct share_in in = share_in_of(memory, sizeof memory);
    for (unsigned i = 0; i < sizeof from; i++) {
        from[i] = (unsigned char)(i * 5 + 1);
    }
    for (size_t at = 0; at < 24; at++) {
        for (size_t length = 0; length <= 40; length++) {
            memset(memory, 0xee, sizeof memory);
            memset(to, 0xdd, sizeof to);
            share_store_bytes(&out, at, from, length);
            share_load_bytes(&in, at, to, length);
            SUITE_HOLDS(memcmp(to, from, length) == 0 && to[length] == 0xdd, "at %zu, %zu bytes", at, length);
            SUITE_HOLDS(memory[at + length] == 0xee && (at == 0 || memory[at - 1] == 0xee), "at %zu", at);
            SUITE_HOLDS(share_lend(&in, at, length) == memory + at, "at %zu", at);
        }
    }
}
END_TEST

START_TEST(inside_without_a_sum_that_wraps)
{
    ck_assert(share_inside(64, 0, 64, 8));
    ck_assert(share_inside(64, 64, 0, 8));
    ck_assert(!share_inside(64, 65, 0, 1));
    ck_assert(!share_inside(64, 60, 8, 4));
    ck_assert(!share_inside(64, 4, 8, 8));
    ck_assert(!share_inside(64, SIZE_MAX, 2, 1));
    ck_assert(!share_inside(64, 2, SIZE_MAX, 1));
}
END_TEST

START_TEST(outside_is_our_own_mistake)
{
    struct share_in in = share_in_of(memory, 64);
    (void)share_load_64(&in, 64);
}
END_TEST

START_TEST(across_the_end_is_one)
{
    struct share_out out = share_out_of(memory, 64);
    share_store_bytes(&out, 60, "12345", 5);
}
END_TEST

START_TEST(so_are_many_words)
{
    uint64_t words[2];
    struct share_in in = share_in_of(memory, 64);
    share_load_words(&in, 8, words, SIZE_MAX / 8 + 2);
}
END_TEST

START_TEST(areas_are_aligned)
{
    (void)share_in_of(memory + 64, 64);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(words_come_out_as_they_went_in),
    SUITE_TEST(bytes_of_any_place),
    SUITE_TEST(inside_without_a_sum_that_wraps),
    SUITE_ABORTS(outside_is_our_own_mistake),
    SUITE_ABORTS(across_the_end_is_one),
    SUITE_ABORTS(so_are_many_words),
    SUITE_ABORTS(areas_are_aligned),
};
SUITE_MAIN("shared", tests)
