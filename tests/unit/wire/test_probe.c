/* SPDX-License-Identifier: Apache-2.0 */
#include "bits.h"
#include "control_codecs.h"
#include "suite.h"

static const struct probe sample = {
    .session = 7,
    .cluster = 9,
    .heard = 0xabcdef01,
    .id = 0x0102030405060708,
    .port = 3,
    .label = 2,
    .flags = PROBE_PLACED | PROBE_TAKEN,
    .dims = {3, 256, 1},
    .at = {2, 255, 0},
    .name = "rack7",
};

START_TEST(golden)
{
    uint8_t want[PROBE_BYTES] = {0}, bytes[PROBE_BYTES];
    struct bits b = {want, 0};
    bits_put(&b, 16, 0x2404); /* version 2, control, probe */
    bits_put(&b, 16, 56);
    bits_put(&b, 32, 7);
    bits_put(&b, 32, 9);
    bits_put(&b, 32, 0xabcdef01);
    bits_put(&b, 64, 0x0102030405060708);
    bits_put(&b, 32, 0x03020300);
    bits_put(&b, 32, 0x02ff0000);
    bits_put(&b, 32, 0x02ff0000);
    memcpy(want + 36, "rack7", 5);
    probe_encode(&sample, bytes);
    ck_assert_mem_eq(bytes, want, sizeof want);
    ck_assert_int_eq(codec_try_exact(&codec_probe, bytes, sizeof bytes), WIRE_OK);
}
END_TEST

START_TEST(random_values_truncations_and_flips)
{
    struct dice d = {5};
    for (unsigned i = 0; i < 500; i++) {
        struct probe p = dice_probe(&d);
        uint8_t bytes[PROBE_BYTES];
        probe_encode(&p, bytes);
        ck_assert_int_eq(codec_try_exact(&codec_probe, bytes, sizeof bytes), WIRE_OK);
        codec_try_truncations(&codec_probe, bytes, sizeof bytes);
        ck_assert_uint_ge(codec_try_flips(&codec_probe, bytes, sizeof bytes),
                          32 + 24 + 32); /* head, reserved bytes, end */
    }
}
END_TEST

static enum wire_reason with(size_t at, uint8_t value)
{
    uint8_t bytes[PROBE_BYTES];
    probe_encode(&sample, bytes);
    bytes[at] = value;
    return codec_try(&codec_probe, bytes, sizeof bytes);
}

START_TEST(ranges)
{
    ck_assert_int_eq(with(24, 6), WIRE_BAD_VALUE); /* port */
    ck_assert_int_eq(with(25, 6), WIRE_OK);        /* takes no part */
    ck_assert_int_eq(with(25, 7), WIRE_BAD_VALUE);
    ck_assert_int_eq(with(26, 0), WIRE_BAD_VALUE);              /* dims without PLACED */
    ck_assert_int_eq(with(26, PROBE_TAKEN), WIRE_BAD_VALUE);    /* only who has a place knows */
    ck_assert_int_eq(with(26, PROBE_FLAGS + 1), WIRE_RESERVED); /* no such flag */
    ck_assert_int_eq(with(32, 3), WIRE_BAD_VALUE);              /* outside the dims */
    ck_assert_int_eq(with(35, 1), WIRE_RESERVED);
    ck_assert_int_eq(with(55, 1), WIRE_RESERVED);
    ck_assert_int_eq(with(38, 0x1b), WIRE_BAD_VALUE); /* an escape in a name would reach a terminal */
    ck_assert_int_eq(with(42, 'x'), WIRE_BAD_VALUE);  /* behind the end of the name */
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(golden),
    SUITE_TEST(random_values_truncations_and_flips),
    SUITE_TEST(ranges),
};
SUITE_MAIN("probe", tests)
