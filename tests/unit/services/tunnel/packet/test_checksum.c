/* SPDX-License-Identifier: Apache-2.0 */
#include "services/tunnel/packet/checksum.h"

#include "base/bytes.h"
#include "rng.h"
#include "suite.h"

/* RFC 1071, section 3. */
START_TEST(example_of_the_rfc)
{
    static const uint8_t bytes[] = {0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};
    ck_assert_uint_eq(checksum_fold(checksum_sum(bytes, sizeof bytes)), 0xddf2);
    ck_assert_uint_eq(checksum_fold(checksum_sum(bytes, 0)), 0);
    ck_assert_uint_eq(checksum_fold(checksum_sum(bytes, 3)), 0x0001 + 0xf200);
}
END_TEST

static uint16_t naive(const uint8_t *p, size_t size)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < size; i++) {
        sum += i % 2 == 0 ? (uint32_t)p[i] << 8 : p[i];
        sum = (sum & 0xffff) + (sum >> 16);
    }
    return (uint16_t)sum;
}

START_TEST(as_the_naive_one)
{
    static uint8_t bytes[70000];
    struct rng r = {1};
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = i < 66000 ? 0xff : (uint8_t)rng_next(&r); /* all carries that there can be */
    }
    for (unsigned i = 0; i < 300; i++) {
        size_t from = (size_t)rng_below(&r, 66500), size = (size_t)rng_below(&r, sizeof bytes - from);
        SUITE_HOLDS(checksum_fold(checksum_sum(bytes + from, size)) == naive(bytes + from, size), "%zu %zu", from,
                    size);
    }
}
END_TEST

/* The head of a packet as tcpdump shows it in many a book. */
START_TEST(head_of_ipv4)
{
    uint8_t head[20] = {0x45, 0, 0, 0x73, 0, 0, 0x40, 0, 0x40, 0x11, 0xb8, 0x61, 0xc0, 0xa8, 0, 1, 0xc0, 0xa8, 0, 0xc7};
    ck_assert_uint_eq(checksum_ipv4_head(head, 20), 0xb861);
    head[10] = 0x12;
    ck_assert_uint_eq(checksum_ipv4_head(head, 20), 0xb861);
    head[3]++;
    ck_assert_uint_eq(checksum_ipv4_head(head, 20), 0xb860);
}
END_TEST

START_TEST(completed)
{
    /* UDP from 1.2.3.4:5 to 6.7.8.9:10 with the payload "abc". */
    uint8_t p[31] = {0x45, 0, 0, 31, 0, 0, 0, 0, 1,  17, 0,  0, 1, 2,   3,
                     4,    6, 7, 8,  9, 0, 5, 0, 10, 0,  11, 0, 0, 'a', 'b'};
    p[30] = 'c';
    uint16_t pseudo = checksum_pseudo(p, 17, 11);
    ck_assert_uint_eq(pseudo, 0x0102 + 0x0304 + 0x0607 + 0x0809 + 17 + 11);
    put_be16(p + 26, pseudo);
    checksum_complete(p, sizeof p, 20, 6);
    ck_assert_uint_eq(checksum_fold(pseudo + checksum_sum(p + 20, 11)), 0xffff);
    /* A sum whose complement is zero is written as 0xffff. */
    uint8_t zero[4] = {0xff, 0xfe, 0, 1};
    checksum_complete(zero, 4, 0, 2);
    ck_assert_uint_eq(get_be16(zero + 2), 0xffff);
}
END_TEST

START_TEST(pseudo_head_of_ipv6)
{
    uint8_t p[40] = {0x60};
    for (unsigned i = 8; i < 40; i++) {
        p[i] = (uint8_t)i;
    }
    uint8_t head[40] = {0};
    for (unsigned i = 0; i < 32; i++) {
        head[i] = p[8 + i];
    }
    put_be32(head + 32, 70000);
    head[39] = 6;
    ck_assert_uint_eq(checksum_pseudo(p, 6, 70000), naive(head, 40));
}
END_TEST

START_TEST(no_room_for_the_field)
{
    uint8_t p[8] = {0};
    checksum_complete(p, 8, 4, 3);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(example_of_the_rfc), SUITE_TEST(as_the_naive_one),    SUITE_TEST(head_of_ipv4),
    SUITE_TEST(completed),          SUITE_TEST(pseudo_head_of_ipv6), SUITE_ABORTS(no_room_for_the_field),
};
SUITE_MAIN("checksum", tests)
