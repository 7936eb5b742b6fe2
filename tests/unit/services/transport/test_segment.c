/* SPDX-License-Identifier: Apache-2.0 */
#include "services/transport/segment.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static uint8_t bytes[4096];

static struct segment full(void)
{
    struct segment s = {
        .kind = SEGMENT_SEGMENT, .flags = FLAG_ACK | FLAG_DATA | FLAG_NOW | FLAG_BACKGROUND, .port = 77};
    s.ack = (struct segment_ack){.out = 1, .in = 2, .newest = 3, .delay_ns = 4, .words = 2, .notes = 2};
    s.ack.word[0] = 0x123456789abcdef0;
    s.ack.word[1] = 5;
    s.ack.note[0] = (struct segment_note){NOTE_RESULT, 9, RESULT_BUSY};
    s.ack.note[1] = (struct segment_note){NOTE_CREDIT, 10, 0xffffffff};
    s.data = (struct segment_data){.out = 11,
                                   .in = 12,
                                   .packet = 13,
                                   .number = 20,
                                   .floor = 14,
                                   .total = 1001,
                                   .index = 10,
                                   .part = 100,
                                   .flags = DATA_KEY | DATA_ANSWER,
                                   .tag = 15,
                                   .message = 17,
                                   .head = (const uint8_t *)"head of this",
                                   .head_bytes = 12,
                                   .request = 0x1122334455667788,
                                   .status = 16};
    memset(s.data.key.b, 0xaa, CW_KEY_BYTES);
    return s;
}

/* Encodes s with `length` bytes behind its head, decodes it again. */
static int through(const struct segment *s, size_t length, struct segment *out)
{
    size_t head = segment_head(s);
    segment_encode(s, bytes);
    memset(bytes + head, 0x5c, length);
    return segment_decode(bytes, head + length, out);
}

START_TEST(there_and_back)
{
    struct segment s = full(), out;
    memset(&out, 0, sizeof out);
    ck_assert_int_eq(through(&s, 1, &out), 0);
    ck_assert_int_eq(out.kind, SEGMENT_SEGMENT);
    ck_assert_uint_eq(out.flags, s.flags);
    ck_assert_uint_eq(out.port, 77);
    ck_assert_mem_eq(&out.ack, &s.ack, sizeof s.ack - sizeof s.ack.note);
    for (unsigned i = 0; i < 2; i++) {
        ck_assert_uint_eq(out.ack.note[i].kind, s.ack.note[i].kind);
        ck_assert_uint_eq(out.ack.note[i].number, s.ack.note[i].number);
        ck_assert_uint_eq(out.ack.note[i].value, s.ack.note[i].value);
    }
    ck_assert_uint_eq(out.data.number, 20);
    ck_assert_uint_eq(out.data.floor, 14);
    ck_assert_uint_eq(out.data.total, 1001);
    ck_assert_uint_eq(out.data.request, s.data.request);
    ck_assert_uint_eq(out.data.status, 16);
    ck_assert_mem_eq(&out.data.key, &s.data.key, CW_KEY_BYTES);
    ck_assert_uint_eq(out.data.message, 17);
    ck_assert_uint_eq(out.data.head_bytes, 12);
    ck_assert_mem_eq(out.data.head, "head of this", 12);
    ck_assert_uint_eq(out.data.length, 1);
    ck_assert_uint_eq(out.data.bytes[0], 0x5c);
    static const enum segment_kind kinds[] = {SEGMENT_HELLO, SEGMENT_WELCOME, SEGMENT_STRANGE, SEGMENT_GIVEN_UP,
                                              SEGMENT_PERMIT};
    struct segment seek = {.kind = SEGMENT_SEEK, .port = 3, .out = 4, .key = s.data.key};
    ck_assert_int_eq(through(&seek, 0, &out), 0);
    ck_assert_mem_eq(&out.key, &seek.key, sizeof seek.key);
    ck_assert_uint_eq(out.out, 4);
    seek.kind = SEGMENT_FOUND;
    ck_assert_int_eq(through(&seek, 0, &out), 0);
    ck_assert(out.kind == SEGMENT_FOUND && out.out == 4);
    seek.flags = FLAG_BACKGROUND;
    ck_assert_int_eq(through(&seek, 0, &out), -EPROTO);
    for (unsigned i = 0; i < 5; i++) {
        struct segment c = {.kind = kinds[i],
                            .flags = i % 2 ? FLAG_BACKGROUND : 0,
                            .port = 3,
                            .out = 4,
                            .in = 5,
                            .number = 6,
                            .instance = 7,
                            .wait_ns = 8,
                            .age_us = 9};
        ck_assert_int_eq(through(&c, 0, &out), 0);
        ck_assert_int_eq(out.kind, kinds[i]);
        ck_assert_uint_eq(out.flags, c.flags);
        ck_assert_uint_eq(out.out, 4);
        ck_assert(kinds[i] == SEGMENT_HELLO || out.in == 5);
        ck_assert(kinds[i] == SEGMENT_GIVEN_UP || kinds[i] == SEGMENT_PERMIT ? out.number == 6 : out.instance == 7);
        ck_assert(kinds[i] != SEGMENT_WELCOME || out.wait_ns == 8);
        ck_assert(kinds[i] != SEGMENT_STRANGE || out.age_us == 9);
        ck_assert_int_eq(through(&c, 1, &out), -EPROTO);
    }
}
END_TEST

/* No prefix of a good one is good, and nothing behind one is let through. */
START_TEST(every_length)
{
    struct segment s = full(), out;
    ck_assert_int_eq(through(&s, 1, &out), 0);
    size_t whole = segment_head(&s) + 1;
    for (size_t length = 0; length < whole; length++) {
        ck_assert_int_eq(segment_decode(bytes, length, &out), -EPROTO);
    }
    ck_assert_int_eq(segment_decode(bytes, whole + 1, &out), -EPROTO);
}
END_TEST

START_TEST(parts)
{
    ck_assert_uint_eq(segment_parts(0, 100), 1);
    ck_assert_uint_eq(segment_parts(1, 100), 1);
    ck_assert_uint_eq(segment_parts(100, 100), 1);
    ck_assert_uint_eq(segment_parts(101, 100), 2);
    ck_assert_uint_eq(segment_parts(UINT64_MAX, 1), UINT64_MAX);
    ck_assert_uint_eq(segment_part_bytes(0, 100, 0), 0);
    ck_assert_uint_eq(segment_part_bytes(250, 100, 1), 100);
    ck_assert_uint_eq(segment_part_bytes(250, 100, 2), 50);
}
END_TEST

#define IMPOSSIBLE(change)                               \
    {                                                    \
        struct segment s = full(), out;                  \
        change;                                          \
        ck_assert_int_eq(through(&s, 1, &out), -EPROTO); \
    }

START_TEST(what_cannot_be)
{
    IMPOSSIBLE(s.data.index = 11)
    IMPOSSIBLE(s.data.index = 9)
    IMPOSSIBLE(s.data.part = SEGMENT_PART_LEAST - 1)
    IMPOSSIBLE(s.data.total = UINT64_MAX)
    IMPOSSIBLE(s.data.floor = 21)
    IMPOSSIBLE(s.data.number = 14 + SEGMENT_NUMBERS)
    IMPOSSIBLE(s.data.flags = DATA_ANSWER | DATA_REQUEST)
    IMPOSSIBLE(s.data.flags = 8)
    IMPOSSIBLE(s.data.status = 4096)
    IMPOSSIBLE(s.ack.note[0].value = RESULT_WAIT + 1)
    IMPOSSIBLE(s.ack.note[0].kind = 3)
    IMPOSSIBLE(s.ack.note[0].value = 4096)
    IMPOSSIBLE(s.flags = 0)
    IMPOSSIBLE(s.flags = FLAG_NOW)
    IMPOSSIBLE(s.flags = FLAG_BACKGROUND)
    IMPOSSIBLE(s.flags = FLAG_BACKGROUND | FLAG_NOW)
    IMPOSSIBLE(s.flags = 16 | FLAG_ACK | FLAG_DATA)
    IMPOSSIBLE(s.kind = SEGMENT_FOUND + 1)
    struct segment s = {.kind = SEGMENT_HELLO}, out;
    ck_assert_int_eq(through(&s, 0, &out), 0);
    bytes[0] = (SEGMENT_VERSION - 1) << 4 | SEGMENT_HELLO;
    ck_assert_int_eq(segment_decode(bytes, 16, &out), -EPROTO);
}
END_TEST

/* A head of 0 to 48 bytes; one byte more is refused, however many follow. */
START_TEST(heads)
{
    static const uint8_t head[SEGMENT_MESSAGE_HEAD_MOST + 1] = {1, 2, 3};
    for (unsigned length = 0; length <= SEGMENT_MESSAGE_HEAD_MOST + 1; length++) {
        struct segment s = full(), out;
        s.data.head = head;
        s.data.head_bytes = (uint8_t)length;
        ck_assert_int_eq(through(&s, 1, &out), length <= SEGMENT_MESSAGE_HEAD_MOST ? 0 : -EPROTO);
        ck_assert(length > SEGMENT_MESSAGE_HEAD_MOST || memcmp(out.data.head, head, length) == 0);
        ck_assert(length > SEGMENT_MESSAGE_HEAD_MOST || out.data.length == 1);
    }
}
END_TEST

START_TEST(a_set_of_parts)
{
    const uint64_t bits[] = {UINT64_C(1) << 63 | 1, 2};
    for (uint32_t i = 0; i < 128; i++) {
        ck_assert_int_eq(bit_has(bits, i), i == 0 || i == 63 || i == 65);
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_set_of_parts), SUITE_TEST(there_and_back), SUITE_TEST(heads),
    SUITE_TEST(every_length),   SUITE_TEST(parts),          SUITE_TEST(what_cannot_be),
};
SUITE_MAIN("services.transport.segment", tests)
