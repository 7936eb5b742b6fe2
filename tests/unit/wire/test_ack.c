/* SPDX-License-Identifier: Apache-2.0 */
#include "control_codecs.h"
#include "suite.h"

static const uint8_t golden_bytes[ITEM_ACK_BYTES] = {
    0x02, 0x00, 0x00, 0x20,                         /* ack, 32 bytes */
    0x01, 0x02, 0x03, 0x00,                         /* acker */
    0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, /* its incarnation */
    0x04, 0x05, 0x06, 0x00,                         /* origin */
    0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28, /* its incarnation */
    0x31, 0x32, 0x33, 0x34,                         /* seq */
};

START_TEST(golden)
{
    struct ack a;
    uint8_t bytes[ACK_BYTES];
    ck_assert_int_eq(ack_decode(golden_bytes + ITEM_HEAD_BYTES, &a), WIRE_OK);
    ck_assert_uint_eq(a.acker.x, 1);
    ck_assert_uint_eq(a.acker.z, 3);
    ck_assert_uint_eq(a.acker_incarnation, 0x1112131415161718);
    ck_assert_uint_eq(a.origin.x, 4);
    ck_assert_uint_eq(a.origin.z, 6);
    ck_assert_uint_eq(a.incarnation, 0x2122232425262728);
    ck_assert_uint_eq(a.seq, 0x31323334);
    ack_encode(&a, bytes);
    ck_assert_mem_eq(bytes, golden_bytes + ITEM_HEAD_BYTES, sizeof bytes);
    ck_assert_int_eq(codec_try_exact(&codec_item, golden_bytes, sizeof golden_bytes), WIRE_OK);
}
END_TEST

START_TEST(ranges_and_reserved_bits)
{
    static const struct {
        uint8_t at, size;
    } nonzero[] = {{8, 8}, {20, 8}, {28, 4}};
    uint8_t bytes[ITEM_ACK_BYTES];
    for (unsigned i = 0; i < 3; i++) {
        memcpy(bytes, golden_bytes, sizeof bytes);
        memset(bytes + nonzero[i].at, 0, nonzero[i].size);
        ck_assert_int_eq(codec_try(&codec_item, bytes, sizeof bytes), WIRE_BAD_VALUE);
    }
    for (unsigned bit = 0; bit < 8; bit++) {
        memcpy(bytes, golden_bytes, sizeof bytes);
        bytes[7] = (uint8_t)(1u << bit);
        ck_assert_int_eq(codec_try(&codec_item, bytes, sizeof bytes), WIRE_RESERVED);
        memcpy(bytes, golden_bytes, sizeof bytes);
        bytes[19] = (uint8_t)(1u << bit);
        ck_assert_int_eq(codec_try(&codec_item, bytes, sizeof bytes), WIRE_RESERVED);
    }
    codec_try_truncations(&codec_item, golden_bytes, sizeof golden_bytes);
    ck_assert_uint_ge(codec_try_flips(&codec_item, golden_bytes, sizeof golden_bytes), 32 + 15);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(golden), SUITE_TEST(ranges_and_reserved_bits)};
SUITE_MAIN("ack", tests)
