/* SPDX-License-Identifier: Apache-2.0 */
#include "control_codecs.h"
#include "suite.h"

static const uint8_t part_bytes[ITEM_JOB_HEAD_BYTES + 8] = {
    0x05, 0x00, 0x00, 0x24,                         /* job part, 36 bytes */
    0x00, 0x00, 0x00, 0x2a,                         /* job 42 */
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, /* version 3 */
    0x00, 0x00, 0x00, 0x69,                         /* total 105 */
    0x00, 0x00, 0x00, 0x64,                         /* offset 100 */
    0x00, 0x05, 0x00, 0x00,                         /* 5 bytes used */
    'h',  'e',  'l',  'l',  'o',  0,    0,    0,    /* and padding */
};

static const uint8_t ack_bytes[ITEM_JOB_ACK_BYTES] = {
    0x06, 0x00, 0x00, 0x1c,                         /* job ack, 28 bytes */
    0x01, 0x02, 0x03, 0x00,                         /* server */
    0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, /* incarnation */
    0x00, 0x00, 0x00, 0x2a,                         /* job */
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, /* version */
};

static const uint8_t summary_bytes[ITEM_HEAD_BYTES + 2 * JOB_SUMMARY_ENTRY_BYTES] = {
    0x07, 0x01, 0x00, 0x1c,                         /* job summary, LAST, 28 bytes */
    0x00, 0x00, 0x00, 0x2a,                         /* job */
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, /* version */
    0x00, 0x00, 0x00, 0x2b,                         /* job */
    0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, /* version */
};

START_TEST(golden_part)
{
    struct item item;
    ck_assert_int_eq(item_decode(part_bytes, sizeof part_bytes, &item), WIRE_OK);
    ck_assert_int_eq(item.type, ITEM_JOB_PART);
    ck_assert_uint_eq(item.job_part.job, 42);
    ck_assert_uint_eq(item.job_part.version, 3);
    ck_assert_uint_eq(item.job_part.total, 105);
    ck_assert_uint_eq(item.job_part.offset, 100);
    ck_assert_uint_eq(item.job_part.used, 5);
    ck_assert_mem_eq(item.job_part.bytes, "hello", 5);
    ck_assert_int_eq(codec_try_exact(&codec_item, part_bytes, sizeof part_bytes), WIRE_OK);
}
END_TEST

START_TEST(golden_ack)
{
    struct item item;
    ck_assert_int_eq(item_decode(ack_bytes, sizeof ack_bytes, &item), WIRE_OK);
    ck_assert_int_eq(item.type, ITEM_JOB_ACK);
    ck_assert_uint_eq(item.job_ack.server.x, 1);
    ck_assert_uint_eq(item.job_ack.incarnation, 0x1112131415161718);
    ck_assert_uint_eq(item.job_ack.job, 42);
    ck_assert_uint_eq(item.job_ack.version, 3);
    ck_assert_int_eq(codec_try_exact(&codec_item, ack_bytes, sizeof ack_bytes), WIRE_OK);
    for (unsigned bit = 0; bit < 8; bit++) {
        uint8_t bytes[sizeof ack_bytes];
        memcpy(bytes, ack_bytes, sizeof bytes);
        bytes[7] = (uint8_t)(1u << bit);
        ck_assert_int_eq(codec_try(&codec_item, bytes, sizeof bytes), WIRE_RESERVED);
    }
    uint8_t bytes[sizeof ack_bytes];
    memcpy(bytes, ack_bytes, sizeof bytes);
    memset(bytes + 8, 0, 8);
    ck_assert_int_eq(codec_try(&codec_item, bytes, sizeof bytes), WIRE_BAD_VALUE);
}
END_TEST

START_TEST(golden_summary)
{
    struct item item;
    ck_assert_int_eq(item_decode(summary_bytes, sizeof summary_bytes, &item), WIRE_OK);
    ck_assert_int_eq(item.type, ITEM_JOB_SUMMARY);
    ck_assert(item.job_summary.last);
    ck_assert_uint_eq(item.job_summary.count, 2);
    struct job_summary_entry e = job_summary_get(&item.job_summary, 1);
    ck_assert_uint_eq(e.job, 43);
    ck_assert_uint_eq(e.version, 0x8000000000000000);
    ck_assert_int_eq(codec_try_exact(&codec_item, summary_bytes, sizeof summary_bytes), WIRE_OK);
    static const uint8_t empty[] = {0x07, 0x01, 0x00, 0x04};
    ck_assert_int_eq(codec_try_exact(&codec_item, empty, sizeof empty), WIRE_OK);
}
END_TEST

START_TEST(summary_entries_come_back)
{
    uint8_t list[2 * JOB_SUMMARY_ENTRY_BYTES];
    job_summary_put(&(struct job_summary_entry){.job = 43, .version = 0x8000000000000000}, list, 1);
    job_summary_put(&(struct job_summary_entry){.job = 42, .version = 3}, list, 0);
    ck_assert_mem_eq(list, summary_bytes + ITEM_HEAD_BYTES, sizeof list);
}
END_TEST

/* Without an item around it, which would have known the least length. */
START_TEST(a_bare_part_may_be_short)
{
    struct job_part part;
    for (size_t size = 0; size < JOB_PART_HEAD_BYTES; size++) {
        ck_assert_int_eq(job_part_decode(part_bytes + ITEM_HEAD_BYTES, size, &part), WIRE_TRUNCATED);
    }
}
END_TEST

static enum wire_reason judged(uint32_t total, uint32_t offset, uint16_t used, size_t size)
{
    static uint8_t bytes[ITEM_BYTES_MAX + 4];
    memcpy(bytes, part_bytes, ITEM_JOB_HEAD_BYTES);
    bytes[2] = (uint8_t)(size >> 8);
    bytes[3] = (uint8_t)size;
    for (unsigned i = 0; i < 4; i++) {
        bytes[16 + i] = (uint8_t)(total >> (24 - 8 * i));
        bytes[20 + i] = (uint8_t)(offset >> (24 - 8 * i));
    }
    bytes[24] = (uint8_t)(used >> 8);
    bytes[25] = (uint8_t)used;
    return codec_try(&codec_item, bytes, size);
}

START_TEST(part_bounds)
{
    enum { MAX = JOB_RECORD_BYTES_MAX };
    ck_assert_int_eq(judged(1, 0, 1, 32), WIRE_OK);
    ck_assert_int_eq(judged(MAX, MAX - 4, 4, 32), WIRE_OK);
    ck_assert_int_eq(judged(MAX, 0, 65504, ITEM_BYTES_MAX), WIRE_OK);
    ck_assert_int_eq(judged(0, 0, 1, 32), WIRE_BAD_VALUE);
    ck_assert_int_eq(judged(MAX + 1, 0, 1, 32), WIRE_BAD_VALUE);
    ck_assert_int_eq(judged(UINT32_MAX, 0, 1, 32), WIRE_BAD_VALUE);
    ck_assert_int_eq(judged(4, 0, 0, 28), WIRE_BAD_VALUE);
    ck_assert_int_eq(judged(4, 1, 4, 32), WIRE_BAD_VALUE);
    ck_assert_int_eq(judged(4, 4, 1, 32), WIRE_BAD_VALUE);
    ck_assert_int_eq(judged(4, 5, 1, 32), WIRE_BAD_VALUE);
    ck_assert_int_eq(judged(4, UINT32_MAX, 1, 32), WIRE_BAD_VALUE);
    ck_assert_int_eq(judged(MAX, MAX - 3, 4, 32), WIRE_BAD_VALUE);
    ck_assert_int_eq(judged(MAX, 0, 1, 28), WIRE_BAD_COUNT);
    ck_assert_int_eq(judged(MAX, 0, 1, 36), WIRE_BAD_COUNT);
    ck_assert_int_eq(judged(MAX, 0, 5, 32), WIRE_BAD_COUNT);
    ck_assert_int_eq(judged(MAX, 0, UINT16_MAX, 32), WIRE_BAD_COUNT);
    for (unsigned size = 29; size < 32; size++) {
        ck_assert_int_eq(judged(MAX, 0, 1, size), WIRE_BAD_LENGTH);
    }
}
END_TEST

START_TEST(part_padding_is_zero)
{
    uint8_t bytes[sizeof part_bytes];
    for (size_t at = sizeof bytes - 3; at < sizeof bytes; at++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            memcpy(bytes, part_bytes, sizeof bytes);
            bytes[at] = (uint8_t)(1u << bit);
            ck_assert_int_eq(codec_try(&codec_item, bytes, sizeof bytes), WIRE_RESERVED);
        }
    }
    for (unsigned bit = 0; bit < 16; bit++) {
        memcpy(bytes, part_bytes, sizeof bytes);
        bytes[26 + bit / 8] = (uint8_t)(1u << bit % 8);
        ck_assert_int_eq(codec_try(&codec_item, bytes, sizeof bytes), WIRE_RESERVED);
    }
}
END_TEST

START_TEST(truncations_and_flips)
{
    codec_try_truncations(&codec_item, part_bytes, sizeof part_bytes);
    codec_try_truncations(&codec_item, ack_bytes, sizeof ack_bytes);
    codec_try_truncations(&codec_item, summary_bytes, sizeof summary_bytes);
    codec_try_flips(&codec_item, part_bytes, sizeof part_bytes);
    codec_try_flips(&codec_item, ack_bytes, sizeof ack_bytes);
    codec_try_flips(&codec_item, summary_bytes, sizeof summary_bytes);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(golden_part),
    SUITE_TEST(golden_ack),
    SUITE_TEST(golden_summary),
    SUITE_TEST(part_bounds),
    SUITE_TEST(part_padding_is_zero),
    SUITE_TEST(truncations_and_flips),
    SUITE_TEST(summary_entries_come_back),
    SUITE_TEST(a_bare_part_may_be_short),
};
SUITE_MAIN("job", tests)
