/* SPDX-License-Identifier: Apache-2.0 */
#include "control_codecs.h"
#include "suite.h"

static const uint8_t golden_bytes[RECORD_BYTES] = {
    0x04, 0x05, 0x06, 0x02,                         /* origin 4,5,6; ACTIVE */
    0x00, 0x06, 0x10, 0x20, 0x30, 0x40, 0x50, 0x60, /* incarnation */
    0x00, 0x00, 0x01, 0x00,                         /* seq */
    0x29, 0x02, 0xb0, 0x07,                         /* up {0, 3, 5}, pending {1}, boot nonce */
    0x00, 0x11, 0x11, 0x22, 0x00, 0x00,             /* neighbours 0, 1, - */
    0x33, 0x44, 0x00, 0x00, 0x00, 0x00,             /* 3, -, 5: up, and its incarnation ends in 16 zero bits */
};

static const struct record golden_record = {
    .incarnation = 0x0006102030405060,
    .seq = 0x100,
    .origin = {4, 5, 6},
    .flags = RECORD_ACTIVE,
    .up = 0x29,
    .pending = 0x02,
    .boot_nonce = 0xb007,
    .neighbour = {0x0011, 0x1122, 0, 0x3344, 0, 0},
};

START_TEST(golden)
{
    uint8_t bytes[RECORD_BYTES];
    struct record r;
    record_encode(&golden_record, bytes);
    ck_assert_mem_eq(bytes, golden_bytes, sizeof bytes);
    ck_assert_int_eq(record_decode(golden_bytes, &r), WIRE_OK);
    ck_assert_mem_eq(&r, &golden_record, sizeof r); /* no padding: bytes are the value */
}
END_TEST

START_TEST(random_values_come_back)
{
    struct dice d = {4};
    for (unsigned i = 0; i < 2000; i++) {
        struct record r = dice_record(&d);
        struct record again;
        uint8_t bytes[RECORD_BYTES];
        record_encode(&r, bytes);
        if (record_decode(bytes, &again) != WIRE_OK || memcmp(&r, &again, sizeof r) != 0) {
            ck_abort_msg("record %u", i);
        }
    }
}
END_TEST

START_TEST(flips)
{
    struct dice d = {5};
    for (unsigned i = 0; i < 50; i++) {
        struct record r = dice_record(&d);
        uint8_t bytes[RECORD_BYTES];
        record_encode(&r, bytes);
        unsigned refused = codec_try_flips(&codec_record, bytes, sizeof bytes);
        unsigned idle = CW_LINK_COUNT - (unsigned)__builtin_popcount(r.up | r.pending);
        /* 6 reserved flags, 4 reserved link bits, and every bit of the words of idle links. */
        ck_assert_uint_ge(refused, 6 + 4 + 16 * idle);
    }
}
END_TEST

START_TEST(reserved_bits)
{
    static const struct {
        uint8_t at, bits;
    } reserved[] = {{3, 0xfc}, {16, 0xc0}, {17, 0xc0}};
    for (unsigned i = 0; i < sizeof reserved / sizeof *reserved; i++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            uint8_t bytes[RECORD_BYTES];
            memcpy(bytes, golden_bytes, sizeof bytes);
            bytes[reserved[i].at] |= (uint8_t)(1u << bit);
            if (reserved[i].bits >> bit & 1) {
                ck_assert_int_eq(codec_try(&codec_record, bytes, sizeof bytes), WIRE_RESERVED);
            }
        }
    }
}
END_TEST

START_TEST(ranges)
{
    uint8_t bytes[RECORD_BYTES];
    memcpy(bytes, golden_bytes, sizeof bytes);
    memset(bytes + 4, 0, 8);
    ck_assert_int_eq(codec_try(&codec_record, bytes, sizeof bytes), WIRE_BAD_VALUE);
    memcpy(bytes, golden_bytes, sizeof bytes);
    memset(bytes + 12, 0, 4);
    ck_assert_int_eq(codec_try(&codec_record, bytes, sizeof bytes), WIRE_BAD_VALUE);
}
END_TEST

/* All 64 * 64 pairs of sets, all six words: a word needs its link in a set, and the sets are disjoint. */
START_TEST(sets_and_words)
{
    for (unsigned up = 0; up < 64; up++) {
        for (unsigned pending = 0; pending < 64; pending++) {
            for (unsigned word = 0; word < CW_LINK_COUNT; word++) {
                uint8_t bytes[RECORD_BYTES] = {[11] = 1, [15] = 1, [16] = (uint8_t)up, [17] = (uint8_t)pending};
                bytes[20 + 2 * word] = 1;
                bool good = (up & pending) == 0 && ((up | pending) >> word & 1);
                if ((codec_try(&codec_record, bytes, sizeof bytes) == WIRE_OK) != good) {
                    ck_abort_msg("up %02x pending %02x word %u", up, pending, word);
                }
            }
        }
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(golden), SUITE_TEST(random_values_come_back), SUITE_TEST(flips), SUITE_TEST(reserved_bits),
    SUITE_TEST(ranges), SUITE_TEST(sets_and_words),
};
SUITE_MAIN("record", tests)
