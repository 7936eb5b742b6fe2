/* SPDX-License-Identifier: Apache-2.0 */
#include "control_codecs.h"
#include "suite.h"

static const uint8_t golden_bytes[GOODBYE_BYTES] = {
    0x24, 0x02, 0x00, 0x14,                         /* version 2, control, goodbye, 20 bytes */
    0x00, 0x00, 0x00, 0x07,                         /* session */
    0x00, 0x06, 0x10, 0x20, 0x30, 0x40, 0x50, 0x60, /* incarnation */
    0x02, 0x00, 0x01, 0x02,                         /* server 2,0,1; died */
};

START_TEST(golden)
{
    uint8_t bytes[GOODBYE_BYTES];
    struct goodbye g;
    ck_assert_int_eq(goodbye_decode(golden_bytes, sizeof golden_bytes, &g), WIRE_OK);
    ck_assert_uint_eq(g.session, 7);
    ck_assert_uint_eq(g.incarnation, 0x0006102030405060);
    ck_assert_uint_eq(g.server.x, 2);
    ck_assert_uint_eq(g.server.y, 0);
    ck_assert_uint_eq(g.server.z, 1);
    ck_assert_uint_eq(g.reason, GOODBYE_DIED);
    goodbye_encode(&g, bytes);
    ck_assert_mem_eq(bytes, golden_bytes, sizeof bytes);
}
END_TEST

START_TEST(random_values_truncations_and_flips)
{
    struct dice d = {3};
    for (unsigned i = 0; i < 500; i++) {
        struct goodbye g = dice_goodbye(&d);
        uint8_t bytes[GOODBYE_BYTES];
        goodbye_encode(&g, bytes);
        ck_assert_int_eq(codec_try_exact(&codec_goodbye, bytes, sizeof bytes), WIRE_OK);
        codec_try_truncations(&codec_goodbye, bytes, sizeof bytes);
        ck_assert_uint_ge(codec_try_flips(&codec_goodbye, bytes, sizeof bytes), 32 + 6); /* head; high bits of reason */
    }
}
END_TEST

START_TEST(ranges)
{
    uint8_t bytes[GOODBYE_BYTES];
    for (unsigned reason = 0; reason < 256; reason++) {
        memcpy(bytes, golden_bytes, sizeof bytes);
        bytes[19] = (uint8_t)reason;
        ck_assert_int_eq(codec_try(&codec_goodbye, bytes, sizeof bytes),
                         reason >= 1 && reason <= 3 ? WIRE_OK : WIRE_BAD_VALUE);
    }
    memcpy(bytes, golden_bytes, sizeof bytes);
    memset(bytes + 8, 0, 8);
    ck_assert_int_eq(codec_try(&codec_goodbye, bytes, sizeof bytes), WIRE_BAD_VALUE);
    memcpy(bytes, golden_bytes, sizeof bytes);
    bytes[7] = 0;
    ck_assert_int_eq(codec_try(&codec_goodbye, bytes, sizeof bytes), WIRE_BAD_VALUE);
    memcpy(bytes, golden_bytes, sizeof bytes);
    bytes[1] = CONTROL_HELLO;
    ck_assert_int_eq(codec_try(&codec_goodbye, bytes, sizeof bytes), WIRE_BAD_LENGTH);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(golden),
    SUITE_TEST(random_values_truncations_and_flips),
    SUITE_TEST(ranges),
};
SUITE_MAIN("goodbye", tests)
