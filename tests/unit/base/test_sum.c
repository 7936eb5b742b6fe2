/* SPDX-License-Identifier: Apache-2.0 */
#include "base/digest.h"
#include "base/prng.h"
#include "base/sum.h"
#include "suite.h"

#include <stdlib.h>
#include <string.h>

enum { SIZE = 9000 };

/* The header's words again, a byte at a time and without lanes: too simple to be wrong. */
static uint64_t naive(uint64_t seed, const uint8_t *bytes, size_t size)
{
    static const uint64_t factor[4] = {0xe220a8397b1dcdaf, 0x6e789e6aa1b965f5, 0x06c45d188009454f, 0xf88bb8a8724c81ed};
    uint64_t words[10] = {seed, size};
    for (size_t i = 0; i < 4; i++) {
        uint64_t state = i + 1, states = 0;
        for (size_t at = 8 * i; at < (size + 31) / 32 * 32; at += 32) {
            uint64_t word = 0;
            for (size_t j = 0; j < 8; j++) {
                word |= (uint64_t)(at + j < size ? bytes[at + j] : 0) << 8 * j;
            }
            state ^= word;
            state = (state << 27 | state >> 37) * factor[i];
            states += state;
        }
        words[2 + 2 * i] = state;
        words[3 + 2 * i] = states;
    }
    return digest_of_words(words, 10);
}

static uint8_t *random_bytes(struct prng *p, size_t size)
{
    uint8_t *bytes = malloc(size + 1);
    ck_assert_ptr_nonnull(bytes);
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)prng_below(p, 256);
    }
    return bytes;
}

START_TEST(is_what_the_header_says)
{
    struct prng p = prng_stream(1, 0, 0);
    uint8_t *bytes = random_bytes(&p, SIZE);
    for (size_t size = 0; size < 300; size++) {
        ck_assert_uint_eq(sum_of(size, bytes, size), naive(size, bytes, size));
    }
    for (int round = 0; round < 200; round++) {
        size_t size = prng_below(&p, SIZE - 8), at = prng_below(&p, 8);
        ck_assert_uint_eq(sum_of(7, bytes + at, size), naive(7, bytes + at, size)); /* and however it lies in memory */
    }
    free(bytes);
}
END_TEST

/* On every machine and in every build: these never change. */
START_TEST(known_answers)
{
    uint8_t bytes[100];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)i;
    }
    ck_assert_uint_eq(sum_of(0, bytes, 0), 0x2360ed13b3ae49c8);
    ck_assert_uint_eq(sum_of(0, bytes, 32), 0xd7ad4f9bc6d17dd1);
    ck_assert_uint_eq(sum_of(5, bytes, 100), 0xd1188a60b236b243);
}
END_TEST

START_TEST(every_bit_tells)
{
    struct prng p = prng_stream(2, 0, 0);
    uint8_t *bytes = random_bytes(&p, 1000);
    uint64_t good = sum_of(3, bytes, 1000);
    for (size_t bit = 0; bit < 8000; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        ck_assert_uint_ne(sum_of(3, bytes, 1000), good);
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    ck_assert_uint_eq(sum_of(3, bytes, 1000), good);
    free(bytes);
}
END_TEST

/*
 * Pairs of bits, among them those that cancel in a lane: the bit that a step rotates to the highest place, and the
 * highest bit of the lane's next word.
 */
START_TEST(two_bits_tell)
{
    struct prng p = prng_stream(3, 0, 0);
    uint8_t *bytes = random_bytes(&p, 256);
    uint64_t good = sum_of(0, bytes, 256);
    for (size_t a = 0; a < 2048; a++) {
        for (size_t b = a + 1; b < 2048 && b < a + 600; b++) {
            bytes[a / 8] ^= (uint8_t)(1 << a % 8);
            bytes[b / 8] ^= (uint8_t)(1 << b % 8);
            ck_assert_uint_ne(sum_of(0, bytes, 256), good);
            bytes[a / 8] ^= (uint8_t)(1 << a % 8);
            bytes[b / 8] ^= (uint8_t)(1 << b % 8);
        }
    }
    free(bytes);
}
END_TEST

START_TEST(place_order_and_size_tell)
{
    struct prng p = prng_stream(4, 0, 0);
    uint8_t *bytes = random_bytes(&p, SIZE);
    uint64_t good = sum_of(0, bytes, SIZE);
    ck_assert_uint_ne(sum_of(1, bytes, SIZE), good);
    for (size_t word = 0; word + 5 < SIZE / 8; word += 7) { /* words that change places: in one lane, and among lanes */
        for (size_t other = word + 1; other <= word + 4; other++) {
            uint8_t held[8];
            memcpy(held, bytes + 8 * word, 8);
            memcpy(bytes + 8 * word, bytes + 8 * other, 8);
            memcpy(bytes + 8 * other, held, 8);
            ck_assert_uint_ne(sum_of(0, bytes, SIZE), good);
            memcpy(bytes + 8 * other, bytes + 8 * word, 8);
            memcpy(bytes + 8 * word, held, 8);
        }
    }
    ck_assert_uint_eq(sum_of(0, bytes, SIZE), good);
    static const uint8_t zeros[100];
    for (size_t size = 0; size < 99; size++) {
        ck_assert_uint_ne(sum_of(0, zeros, size), sum_of(0, zeros, size + 1));
    }
    free(bytes);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(is_what_the_header_says),   SUITE_TEST(known_answers),
    SUITE_TEST(every_bit_tells),           SUITE_TEST(two_bits_tell),
    SUITE_TEST(place_order_and_size_tell),
};
SUITE_MAIN("sum", tests)
