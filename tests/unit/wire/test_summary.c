/* SPDX-License-Identifier: Apache-2.0 */
#include "control_codecs.h"
#include "suite.h"

static const uint8_t golden_bytes[ITEM_HEAD_BYTES + 2 * SUMMARY_ENTRY_BYTES] = {
    0x03, 0x01, 0x00, 0x24,                         /* summary, LAST, 36 bytes */
    0x01, 0x02, 0x03, 0x00,                         /* origin */
    0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, /* incarnation */
    0x00, 0x00, 0x00, 0x01,                         /* seq */
    0x04, 0x05, 0x06, 0x00,                         /* origin */
    0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28, /* incarnation */
    0xff, 0xff, 0xff, 0xff,                         /* seq */
};

START_TEST(golden)
{
    struct item item;
    ck_assert_int_eq(item_decode(golden_bytes, sizeof golden_bytes, &item), WIRE_OK);
    ck_assert_int_eq(item.type, ITEM_SUMMARY);
    ck_assert(item.summary.last);
    ck_assert_uint_eq(item.summary.count, 2);
    struct summary_entry e = summary_get(&item.summary, 0);
    ck_assert_uint_eq(e.origin.y, 2);
    ck_assert_uint_eq(e.incarnation, 0x1112131415161718);
    ck_assert_uint_eq(e.seq, 1);
    e = summary_get(&item.summary, 1);
    ck_assert_uint_eq(e.origin.z, 6);
    ck_assert_uint_eq(e.incarnation, 0x2122232425262728);
    ck_assert_uint_eq(e.seq, UINT32_MAX);
    ck_assert_int_eq(codec_try_exact(&codec_item, golden_bytes, sizeof golden_bytes), WIRE_OK);
}
END_TEST

START_TEST(entries_come_back)
{
    enum { COUNT = 300 };
    static uint8_t bytes[ITEM_HEAD_BYTES + COUNT * SUMMARY_ENTRY_BYTES], list[COUNT * SUMMARY_ENTRY_BYTES];
    struct summary_entry put[COUNT];
    struct dice d = {6};
    for (size_t i = 0; i < COUNT; i++) {
        put[i] = dice_summary_entry(&d);
        summary_put(&put[i], list, i);
    }
    struct item item = {.type = ITEM_SUMMARY, .summary = {.entries = list, .count = COUNT}};
    ck_assert_uint_eq(item_size(&item), sizeof bytes);
    item_encode(&item, bytes);
    struct item again;
    ck_assert_int_eq(item_decode(bytes, sizeof bytes, &again), WIRE_OK);
    ck_assert(!again.summary.last);
    ck_assert_uint_eq(again.summary.count, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        struct summary_entry e = summary_get(&again.summary, i);
        ck_assert_mem_eq(&e.origin, &put[i].origin, sizeof e.origin);
        ck_assert_uint_eq(e.incarnation, put[i].incarnation);
        ck_assert_uint_eq(e.seq, put[i].seq);
    }
}
END_TEST

/* One bad entry anywhere refuses the list before any entry is seen. */
START_TEST(every_entry_is_checked)
{
    uint8_t bytes[sizeof golden_bytes];
    for (size_t entry = 0; entry < 2; entry++) {
        size_t at = ITEM_HEAD_BYTES + entry * SUMMARY_ENTRY_BYTES;
        memcpy(bytes, golden_bytes, sizeof bytes);
        memset(bytes + at + 4, 0, 8);
        ck_assert_int_eq(codec_try(&codec_item, bytes, sizeof bytes), WIRE_BAD_VALUE);
        memcpy(bytes, golden_bytes, sizeof bytes);
        memset(bytes + at + 12, 0, 4);
        ck_assert_int_eq(codec_try(&codec_item, bytes, sizeof bytes), WIRE_BAD_VALUE);
        for (unsigned bit = 0; bit < 8; bit++) {
            memcpy(bytes, golden_bytes, sizeof bytes);
            bytes[at + 3] = (uint8_t)(1u << bit);
            ck_assert_int_eq(codec_try(&codec_item, bytes, sizeof bytes), WIRE_RESERVED);
        }
    }
}
END_TEST

START_TEST(lengths_and_flags)
{
    static const uint8_t empty[] = {0x03, 0x01, 0x00, 0x04};
    ck_assert_int_eq(codec_try(&codec_item, empty, sizeof empty), WIRE_BAD_COUNT);
    for (unsigned bit = 1; bit < 8; bit++) {
        uint8_t bytes[sizeof golden_bytes];
        memcpy(bytes, golden_bytes, sizeof bytes);
        bytes[1] |= (uint8_t)(1u << bit);
        ck_assert_int_eq(codec_try(&codec_item, bytes, sizeof bytes), WIRE_RESERVED);
    }
    uint8_t bytes[sizeof golden_bytes];
    memcpy(bytes, golden_bytes, sizeof bytes);
    for (unsigned length = 0; length < sizeof bytes; length++) {
        bytes[3] = (uint8_t)length;
        enum wire_reason expected = length == 4 ? WIRE_BAD_COUNT : length == 20 ? WIRE_OK : WIRE_BAD_LENGTH;
        struct item item;
        ck_assert_int_eq(item_decode(bytes, sizeof bytes, &item), expected);
    }
    codec_try_truncations(&codec_item, golden_bytes, sizeof golden_bytes);
    codec_try_flips(&codec_item, golden_bytes, sizeof golden_bytes);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(golden),
    SUITE_TEST(entries_come_back),
    SUITE_TEST(every_entry_is_checked),
    SUITE_TEST(lengths_and_flags),
};
SUITE_MAIN("summary", tests)
