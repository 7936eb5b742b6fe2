/* SPDX-License-Identifier: Apache-2.0 */
#include "bits.h"
#include "control_codecs.h"
#include "suite.h"

static const struct cabling sample = {
    .id = 0x1122334455667788,
    .version = 5,
    .flags = CABLING_PLACED,
    .dims = {3, 4, 5},
    .at = {2, 1, 0},
    .solution = 0xaabbccddeeff0011,
    .name = "abcdefghijklmnop",
    .port = {{1, 5, 0}, {2, 4, 1}, {3, 3, PROBE_UNLABELLED}, {0, 0, CABLING_NO_PORT}, {0, 0, 4}, {6, 0, 5}},
};

START_TEST(golden)
{
    uint8_t want[CABLING_HEAD_BYTES + CABLING_ENTRY_BYTES] = {0}, bytes[sizeof want];
    struct bits b = {want, 0};
    bits_put(&b, 16, 0x2405);
    bits_put(&b, 16, sizeof want);
    bits_put(&b, 32, 1);
    bits_put(&b, 32, 2);
    bits_put(&b, 32, 0);
    bits_put(&b, 64, 0x1122334455667788);
    bits_put(&b, 32, 5);
    bits_put(&b, 32, 0x01020304);
    bits_put(&b, 32, 0x02010000);
    bits_put(&b, 64, 0xaabbccddeeff0011);
    for (unsigned i = 0; i < 16; i++) {
        bits_put(&b, 8, 'a' + i);
    }
    bits_put(&b, 48, 0x051463704050);
    bits_put(&b, 16, 0);
    for (unsigned i = 0; i < 6; i++) {
        bits_put(&b, 64, sample.port[i].far_id);
    }
    memset(bytes, 0x5a, sizeof bytes);
    cabling_put(&sample, bytes, 0);
    ck_assert_uint_eq(cabling_finish(1, 2, 1, bytes), sizeof bytes);
    ck_assert_mem_eq(bytes, want, sizeof want);
}
END_TEST

START_TEST(random_lists_truncations_and_flips)
{
    struct dice d = {6};
    for (unsigned i = 0; i < 60; i++) {
        uint8_t bytes[CABLING_HEAD_BYTES + 4 * CABLING_ENTRY_BYTES];
        bool acks = i % 2 != 0;
        const struct codec *codec = acks ? &codec_cabling_ack : &codec_cabling;
        size_t size = dice_cablings(&d, 1 + i % 4, acks, bytes);
        ck_assert_int_eq(codec_try_exact(codec, bytes, size), WIRE_OK);
        codec_try_truncations(codec, bytes, size);
        ck_assert_uint_ge(codec_try_flips(codec, bytes, size), 64);
        ck_assert_int_eq(codec_try(acks ? &codec_cabling : &codec_cabling_ack, bytes, size), WIRE_BAD_KIND);
    }
}
END_TEST

static enum wire_reason with(size_t at, uint8_t value)
{
    uint8_t bytes[CABLING_HEAD_BYTES + CABLING_ENTRY_BYTES];
    cabling_put(&sample, bytes, 0);
    cabling_finish(1, 2, 1, bytes);
    bytes[at] = value;
    return codec_try(&codec_cabling, bytes, sizeof bytes);
}

START_TEST(ranges)
{
    enum { E = CABLING_HEAD_BYTES };
    ck_assert_int_eq(with(11, 0), WIRE_BAD_VALUE); /* heard nobody */
    ck_assert_int_eq(with(15, 1), WIRE_RESERVED);
    ck_assert_int_eq(with(E + 11, 0), WIRE_BAD_VALUE);            /* version */
    ck_assert_int_eq(with(E + 12, 3), WIRE_BAD_VALUE);            /* placed and told */
    ck_assert_int_eq(with(E + 12, CABLING_TOLD), WIRE_BAD_VALUE); /* told, and yet a coordinate */
    ck_assert_int_eq(with(E + 16, 3), WIRE_BAD_VALUE);            /* outside the dims */
    ck_assert_int_eq(with(E + 19, 1), WIRE_RESERVED);
    ck_assert_int_eq(with(E + 28, 0), WIRE_BAD_VALUE);    /* a name that begins with its end */
    ck_assert_int_eq(with(E + 44, 0x15), WIRE_BAD_VALUE); /* two ports with one direction */
    ck_assert_int_eq(with(E + 44, 0x85), WIRE_BAD_VALUE); /* no such label */
    ck_assert_int_eq(with(E + 44, 0x06), WIRE_BAD_VALUE); /* no such port */
    ck_assert_int_eq(with(E + 48, 0x41), WIRE_BAD_VALUE); /* silent, but a port there */
    ck_assert_int_eq(with(E + 44, 0x75), WIRE_BAD_VALUE); /* no port, but a server there */
    ck_assert_int_eq(with(E + 51, 1), WIRE_RESERVED);
    ck_assert_int_eq(with(E + 103, 1), WIRE_RESERVED);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(golden),
    SUITE_TEST(random_lists_truncations_and_flips),
    SUITE_TEST(ranges),
};
SUITE_MAIN("cabling", tests)
