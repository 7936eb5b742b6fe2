/* SPDX-License-Identifier: Apache-2.0 */
#include "control_codecs.h"
#include "suite.h"

static const uint8_t golden_bytes[HELLO_BYTES] = {
    0x24, 0x01, 0x00, 0x48,                         /* version 2, control, hello, 72 bytes */
    0x5e, 0x55, 0x10, 0x01,                         /* session */
    0xc1, 0x05, 0x7e, 0x12,                         /* cluster */
    0xc0, 0x4f, 0x16, 0x00,                         /* config hash */
    0x01, 0x02, 0x03, 0xc5,                         /* server 1,2,3; SYNCED | UP; port 5 */
    0x5e, 0x55, 0x20, 0x02,                         /* heard session */
    0x00, 0x06, 0x10, 0x20, 0x30, 0x40, 0x50, 0x60, /* incarnation */
    0x00, 0x00, 0x00, 0x00, 0x3b, 0x9a, 0xca, 0x00, /* clock: 1 s */
    0x00, 0x00, 0x00, 0x00, 0x1d, 0xcd, 0x65, 0x00, /* echo: 0.5 s */
    0x00, 0x00, 0x00, 0x09,                         /* position */
    0xff, 0xff, 0xff, 0xfe,                         /* ack */
    0xd1, 0x9e, 0x57, 0x00, 0x00, 0x00, 0x00, 0xee, /* digest */
    0x12, 0x34, 0xfe, 0xdc,                         /* number; the receiver's newest */
    0xff, 0xfd, 0x00, 0x00,                         /* the one before the one before it did not come */
};

static const struct hello golden_hello = {
    .session = 0x5e551001,
    .cluster = 0xc1057e12,
    .config_hash = 0xc04f1600,
    .server = {1, 2, 3},
    .flags = HELLO_SYNCED | HELLO_UP,
    .port = CW_LINK_ZM,
    .heard = 0x5e552002,
    .incarnation = 0x0006102030405060,
    .clock = {1000000000},
    .echo = {500000000},
    .position = 9,
    .ack = 0xfffffffe,
    .digest = 0xd19e5700000000ee,
    .number = 0x1234,
    .newest = 0xfedc,
    .before = 0xfffd,
};

START_TEST(golden)
{
    uint8_t bytes[HELLO_BYTES];
    struct hello h;
    hello_encode(&golden_hello, bytes);
    ck_assert_mem_eq(bytes, golden_bytes, sizeof bytes);
    ck_assert_int_eq(hello_decode(golden_bytes, sizeof golden_bytes, &h), WIRE_OK);
    ck_assert_uint_eq(h.session, golden_hello.session);
    ck_assert_uint_eq(h.cluster, golden_hello.cluster);
    ck_assert_uint_eq(h.config_hash, golden_hello.config_hash);
    ck_assert_mem_eq(&h.server, &golden_hello.server, sizeof h.server);
    ck_assert_uint_eq(h.flags, golden_hello.flags);
    ck_assert_uint_eq(h.port, golden_hello.port);
    ck_assert_uint_eq(h.heard, golden_hello.heard);
    ck_assert_uint_eq(h.incarnation, golden_hello.incarnation);
    ck_assert_int_eq(h.clock.ns, golden_hello.clock.ns);
    ck_assert_int_eq(h.echo.ns, golden_hello.echo.ns);
    ck_assert_uint_eq(h.position, golden_hello.position);
    ck_assert_uint_eq(h.ack, golden_hello.ack);
    ck_assert_uint_eq(h.digest, golden_hello.digest);
    ck_assert_uint_eq(h.number, golden_hello.number);
    ck_assert_uint_eq(h.newest, golden_hello.newest);
    ck_assert_uint_eq(h.before, golden_hello.before);
}
END_TEST

START_TEST(random_values_come_back)
{
    struct dice d = {1};
    for (unsigned i = 0; i < 2000; i++) {
        struct hello h = dice_hello(&d);
        uint8_t bytes[HELLO_BYTES];
        hello_encode(&h, bytes);
        if (codec_try_exact(&codec_hello, bytes, sizeof bytes) != WIRE_OK) {
            ck_abort_msg("hello %u refused", i);
        }
    }
}
END_TEST

START_TEST(truncations_and_flips)
{
    struct dice d = {2};
    codec_try_truncations(&codec_hello, golden_bytes, sizeof golden_bytes);
    for (unsigned i = 0; i < 20; i++) {
        struct hello h = dice_hello(&d);
        uint8_t bytes[HELLO_BYTES];
        hello_encode(&h, bytes);
        /* Version, kind and length cannot flip (24 bits), nor the type (8). */
        ck_assert_uint_ge(codec_try_flips(&codec_hello, bytes, sizeof bytes), 32);
    }
}
END_TEST

/* The golden hello with one field set to value. */
static void judged(size_t at, size_t size, uint64_t value, enum wire_reason expected)
{
    uint8_t bytes[HELLO_BYTES];
    memcpy(bytes, golden_bytes, sizeof bytes);
    for (size_t i = 0; i < size; i++) {
        bytes[at + i] = (uint8_t)(value >> 8 * (size - 1 - i));
    }
    ck_assert_str_eq(wire_reason_name(codec_try(&codec_hello, bytes, sizeof bytes)), wire_reason_name(expected));
}

/* A hello of somebody who has heard nothing names no hello that it heard. */
START_TEST(heard_nothing)
{
    uint8_t bytes[HELLO_BYTES];
    struct hello deaf = golden_hello;
    deaf.heard = 0;
    deaf.newest = deaf.before = 0;
    hello_encode(&deaf, bytes);
    ck_assert_int_eq(codec_try(&codec_hello, bytes, sizeof bytes), WIRE_OK);
    for (unsigned at = 66; at < 70; at++) {
        bytes[at] = 1;
        ck_assert_int_eq(codec_try(&codec_hello, bytes, sizeof bytes), WIRE_BAD_VALUE);
        bytes[at] = 0;
    }
}
END_TEST

START_TEST(ranges)
{
    judged(1, 1, CONTROL_GOODBYE, WIRE_BAD_LENGTH);
    judged(1, 1, CONTROL_STREAM, WIRE_BAD_KIND);
    judged(4, 4, 0, WIRE_BAD_VALUE);
    for (unsigned port = CW_LINK_COUNT; port < 16; port++) {
        judged(19, 1, 0xc0 | port, WIRE_BAD_VALUE);
    }
    judged(24, 8, 0, WIRE_BAD_VALUE);
    judged(32, 8, 0, WIRE_BAD_VALUE);
    judged(32, 8, INT64_MAX, WIRE_BAD_VALUE);
    judged(32, 8, (uint64_t)INT64_MAX + 1, WIRE_BAD_VALUE);
    judged(40, 8, INT64_MAX, WIRE_BAD_VALUE);
    judged(40, 8, UINT64_MAX, WIRE_BAD_VALUE);
    judged(32, 8, INT64_MAX - 1, WIRE_OK);
    judged(40, 8, INT64_MAX - 1, WIRE_OK);
    judged(40, 8, 0, WIRE_OK);
    judged(64, 2, 0, WIRE_OK);
    judged(66, 4, 0, WIRE_OK);
    for (unsigned bit = 0; bit < 16; bit++) {
        judged(70, 2, 1u << bit, WIRE_RESERVED);
    }
    judged(20, 4, 0, WIRE_BAD_VALUE); /* heard nothing, and yet hellos */
    judged(64, 6, 0x123400000000, WIRE_OK);
    judged(16, 3, 0xffffff, WIRE_OK);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(golden), SUITE_TEST(random_values_come_back), SUITE_TEST(truncations_and_flips),
    SUITE_TEST(ranges), SUITE_TEST(heard_nothing),
};
SUITE_MAIN("hello", tests)
