/* SPDX-License-Identifier: Apache-2.0 */
#include "control_codecs.h"
#include "suite.h"

/* Two items: synced, then an empty job summary; the second has number 0, just past the wrap. */
static const uint8_t golden_bytes[STREAM_HEAD_BYTES + ITEM_SYNCED_BYTES + ITEM_HEAD_BYTES] = {
    0x24, 0x03, 0x00, 0x28,                         /* version 2, control, stream, 40 bytes */
    0x5e, 0x55, 0x10, 0x01,                         /* session */
    0x5e, 0x55, 0x20, 0x02,                         /* heard session */
    0x00, 0x00, 0x00, 0x09,                         /* ack */
    0xff, 0xff, 0xff, 0xff,                         /* first */
    0x00, 0x02, 0x00, 0x00,                         /* items */
    0x04, 0x00, 0x00, 0x0c,                         /* synced */
    0xd1, 0x9e, 0x57, 0x00, 0x00, 0x00, 0x00, 0xee, /* digest */
    0x07, 0x01, 0x00, 0x04,                         /* job summary, LAST */
};

static const struct stream_head golden_head = {0x5e551001, 0x5e552002, 9, UINT32_MAX};

START_TEST(golden)
{
    struct stream s;
    ck_assert_int_eq(stream_decode(golden_bytes, sizeof golden_bytes, &s), WIRE_OK);
    ck_assert_mem_eq(&s.head, &golden_head, sizeof s.head);
    ck_assert_uint_eq(s.items, 2);
    struct stream_cursor c = stream_items(&s);
    struct item item;
    uint32_t number;
    ck_assert(stream_next(&c, &number, &item));
    ck_assert_uint_eq(number, UINT32_MAX);
    ck_assert_int_eq(item.type, ITEM_SYNCED);
    ck_assert_uint_eq(item.synced, 0xd19e5700000000ee);
    ck_assert(stream_next(&c, &number, &item));
    ck_assert_uint_eq(number, 0);
    ck_assert_int_eq(item.type, ITEM_JOB_SUMMARY);
    ck_assert(item.job_summary.last);
    ck_assert(!stream_next(&c, &number, &item));
    ck_assert(!stream_next(&c, &number, &item));
    ck_assert_int_eq(codec_try_exact(&codec_stream, golden_bytes, sizeof golden_bytes), WIRE_OK);
}
END_TEST

START_TEST(bare_acknowledgement)
{
    uint8_t bytes[STREAM_HEAD_BYTES];
    struct stream_writer w;
    struct stream s;
    stream_begin(&w, bytes, sizeof bytes);
    ck_assert_uint_eq(stream_finish(&w, &golden_head), sizeof bytes);
    ck_assert_int_eq(stream_decode(bytes, sizeof bytes, &s), WIRE_OK);
    ck_assert_uint_eq(s.items, 0);
    ck_assert_uint_eq(s.head.ack, 9);
    ck_assert_uint_eq(s.head.first, 0);
    struct stream_cursor c = stream_items(&s);
    struct item item;
    uint32_t number;
    ck_assert(!stream_next(&c, &number, &item));
    codec_try_truncations(&codec_stream, bytes, sizeof bytes);
    bytes[19] = 1;
    ck_assert_int_eq(codec_try(&codec_stream, bytes, sizeof bytes), WIRE_BAD_VALUE);
}
END_TEST

START_TEST(random_packets_come_back)
{
    struct dice d = {10};
    for (unsigned i = 0; i < 1000; i++) {
        uint8_t bytes[1500];
        size_t size = dice_stream(&d, dice_below(&d, 30), bytes, sizeof bytes);
        if (codec_try_exact(&codec_stream, bytes, size) != WIRE_OK) {
            ck_abort_msg("packet %u", i);
        }
    }
}
END_TEST

START_TEST(the_head_comes_back)
{
    const struct item item = {.type = ITEM_SYNCED, .synced = 1};
    for (unsigned items = 0; items < 3; items++) {
        const struct stream_head head = {.session = 1, .heard = 2, .ack = 3, .first = 4};
        uint8_t bytes[64];
        struct stream_writer w;
        struct stream s;
        stream_begin(&w, bytes, sizeof bytes);
        for (unsigned i = 0; i < items; i++) {
            ck_assert(stream_put(&w, &item));
        }
        ck_assert_int_eq(stream_decode(bytes, stream_finish(&w, &head), &s), WIRE_OK);
        ck_assert_uint_eq(s.items, items);
        ck_assert_uint_eq(s.head.session, 1);
        ck_assert_uint_eq(s.head.heard, 2);
        ck_assert_uint_eq(s.head.ack, 3);
        ck_assert_uint_eq(s.head.first, items == 0 ? 0 : 4);
    }
}
END_TEST

/* Cut by the cable: refused. Cut by a sender who patches the length: refused too, for the items say otherwise. */
START_TEST(truncations)
{
    struct dice d = {11};
    for (unsigned i = 0; i < 20; i++) {
        uint8_t bytes[1000];
        size_t size = dice_stream(&d, 1 + dice_below(&d, 12), bytes, sizeof bytes);
        codec_try_truncations(&codec_stream, bytes, size);
        for (size_t cut = 0; cut < size; cut++) {
            bytes[2] = (uint8_t)(cut >> 8);
            bytes[3] = (uint8_t)cut;
            if (codec_try_exact(&codec_stream, bytes, cut) == WIRE_OK) {
                ck_abort_msg("packet %u of %zu bytes accepted at %zu", i, size, cut);
            }
        }
    }
}
END_TEST

START_TEST(flips)
{
    struct dice d = {12};
    for (unsigned i = 0; i < 8; i++) {
        uint8_t bytes[600];
        size_t size = dice_stream(&d, 1 + dice_below(&d, 8), bytes, sizeof bytes);
        /* Version, kind, type, length, items and reserved cannot flip alone. */
        ck_assert_uint_ge(codec_try_flips(&codec_stream, bytes, size), 32 + 32);
    }
}
END_TEST

START_TEST(counts)
{
    uint8_t bytes[sizeof golden_bytes];
    for (unsigned items = 0; items < 65536; items++) {
        memcpy(bytes, golden_bytes, sizeof bytes);
        memset(bytes + 16, 0, 4);
        bytes[20] = (uint8_t)(items >> 8);
        bytes[21] = (uint8_t)items;
        struct stream s;
        if (stream_decode(bytes, sizeof bytes, &s) != (items == 2 ? WIRE_OK : WIRE_BAD_COUNT)) {
            ck_abort_msg("%u items", items);
        }
    }
}
END_TEST

START_TEST(head_ranges)
{
    static const struct {
        uint8_t at, size;
        enum wire_reason reason;
    } zero[] = {{4, 4, WIRE_BAD_VALUE}, {8, 4, WIRE_BAD_VALUE}, {12, 4, WIRE_OK}, {16, 4, WIRE_OK}};
    uint8_t bytes[sizeof golden_bytes];
    for (unsigned i = 0; i < sizeof zero / sizeof *zero; i++) {
        memcpy(bytes, golden_bytes, sizeof bytes);
        memset(bytes + zero[i].at, 0, zero[i].size);
        ck_assert_int_eq(codec_try(&codec_stream, bytes, sizeof bytes), zero[i].reason);
    }
    for (unsigned bit = 0; bit < 16; bit++) {
        memcpy(bytes, golden_bytes, sizeof bytes);
        bytes[22 + bit / 8] = (uint8_t)(1u << bit % 8);
        ck_assert_int_eq(codec_try(&codec_stream, bytes, sizeof bytes), WIRE_RESERVED);
    }
    memcpy(bytes, golden_bytes, sizeof bytes);
    bytes[1] = CONTROL_HELLO;
    ck_assert_int_eq(codec_try(&codec_stream, bytes, sizeof bytes), WIRE_BAD_LENGTH);
}
END_TEST

/* A bad item at the end refuses the good ones before it: no packet is half applied. */
START_TEST(the_last_item_counts)
{
    uint8_t bytes[sizeof golden_bytes];
    memcpy(bytes, golden_bytes, sizeof bytes);
    bytes[36] = 8;
    ck_assert_int_eq(codec_try(&codec_stream, bytes, sizeof bytes), WIRE_BAD_KIND);
    memcpy(bytes, golden_bytes, sizeof bytes);
    bytes[37] = 2;
    ck_assert_int_eq(codec_try(&codec_stream, bytes, sizeof bytes), WIRE_RESERVED);
    memcpy(bytes, golden_bytes, sizeof bytes);
    bytes[39] = 16;
    ck_assert_int_eq(codec_try(&codec_stream, bytes, sizeof bytes), WIRE_TRUNCATED);
}
END_TEST

START_TEST(writer_stops_at_its_limit)
{
    enum { LIMIT = STREAM_HEAD_BYTES + 3 * ITEM_RECORD_BYTES + ITEM_SYNCED_BYTES + 3 };
    struct dice d = {13};
    uint8_t bytes[LIMIT + 64];
    memset(bytes, 0xee, sizeof bytes);
    struct stream_writer w;
    stream_begin(&w, bytes, LIMIT);
    struct item record = {.type = ITEM_RECORD, .record = dice_record(&d)};
    struct item synced = {.type = ITEM_SYNCED, .synced = 1};
    for (unsigned i = 0; i < 3; i++) {
        ck_assert(stream_put(&w, &record));
    }
    ck_assert(!stream_put(&w, &record));
    ck_assert(stream_put(&w, &synced));
    ck_assert(!stream_put(&w, &synced));
    size_t size = stream_finish(&w, &golden_head);
    ck_assert_uint_eq(size, LIMIT - 3);
    for (size_t i = size; i < sizeof bytes; i++) {
        ck_assert_uint_eq(bytes[i], 0xee);
    }
    struct stream s;
    ck_assert_int_eq(stream_decode(bytes, size, &s), WIRE_OK);
    ck_assert_uint_eq(s.items, 4);
}
END_TEST

START_TEST(writer_fills_its_limit)
{
    uint8_t bytes[STREAM_HEAD_BYTES + ITEM_SYNCED_BYTES];
    struct stream_writer w;
    struct item synced = {.type = ITEM_SYNCED, .synced = 1};
    stream_begin(&w, bytes, sizeof bytes);
    ck_assert(stream_put(&w, &synced));
    ck_assert(!stream_put(&w, &synced));
    ck_assert_uint_eq(stream_finish(&w, &golden_head), sizeof bytes);
    stream_begin(&w, bytes, sizeof bytes - 1);
    ck_assert(!stream_put(&w, &synced));
}
END_TEST

/* The largest packet there can be, from a buffer that is larger still. */
START_TEST(writer_stops_at_sixteen_bits_of_length)
{
    static uint8_t bytes[70000];
    struct stream_writer w;
    stream_begin(&w, bytes, sizeof bytes);
    struct item empty = {.type = ITEM_JOB_SUMMARY};
    unsigned items = 0;
    while (stream_put(&w, &empty)) {
        items++;
    }
    size_t size = stream_finish(&w, &golden_head);
    ck_assert_uint_eq(size, PACKET_BYTES_MAX / 4 * 4);
    struct stream s;
    ck_assert_int_eq(stream_decode(bytes, size, &s), WIRE_OK);
    ck_assert_uint_eq(s.items, items);
    struct item too_long = {.type = ITEM_SUMMARY, .summary = {.entries = bytes, .count = 5000}};
    stream_begin(&w, bytes, sizeof bytes);
    ck_assert(!stream_put(&w, &too_long));
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(golden),
    SUITE_TEST(bare_acknowledgement),
    SUITE_TEST(random_packets_come_back),
    SUITE_TEST(the_head_comes_back),
    SUITE_TEST(truncations),
    SUITE_TEST(flips),
    SUITE_TEST(counts),
    SUITE_TEST(head_ranges),
    SUITE_TEST(the_last_item_counts),
    SUITE_TEST(writer_stops_at_its_limit),
    SUITE_TEST(writer_fills_its_limit),
    SUITE_TEST(writer_stops_at_sixteen_bits_of_length),
};
SUITE_MAIN("stream", tests)
