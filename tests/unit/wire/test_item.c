/* SPDX-License-Identifier: Apache-2.0 */
#include "control_codecs.h"
#include "suite.h"

START_TEST(golden_synced)
{
    static const uint8_t bytes[ITEM_SYNCED_BYTES] = {0x04, 0, 0, 0x0c, 0xd1, 0x9e, 0x57, 0, 0, 0, 0, 0xee};
    struct item item;
    ck_assert_int_eq(item_decode(bytes, sizeof bytes, &item), WIRE_OK);
    ck_assert_int_eq(item.type, ITEM_SYNCED);
    ck_assert_uint_eq(item.synced, 0xd19e5700000000ee);
    ck_assert_int_eq(codec_try_exact(&codec_item, bytes, sizeof bytes), WIRE_OK);
}
END_TEST

START_TEST(golden_about)
{
    static const uint8_t bytes[ITEM_ABOUT_BYTES] = {0x80, 0, 0, 0x24, '0', '.', '1', '.', '0', 0,   0,  0,
                                                    0,    0, 0, 0,    0,   0,   0,   0,   'a', 'b', 'c'};
    struct item item;
    ck_assert_int_eq(item_decode(bytes, sizeof bytes, &item), WIRE_OK);
    ck_assert_int_eq(item.type, ITEM_ABOUT);
    ck_assert_str_eq(item.about.version, "0.1.0");
    ck_assert_str_eq(item.about.build, "abc");
    ck_assert_int_eq(codec_try_exact(&codec_item, bytes, sizeof bytes), WIRE_OK);
}
END_TEST

static bool is_known(unsigned type)
{
    return (type >= ITEM_RECORD && type <= ITEM_JOB_SUMMARY) || type >= ITEM_OPTIONAL;
}

START_TEST(random_items_of_every_type)
{
    struct dice d = {7};
    for (unsigned type = 0; type < 256; type++) {
        if (!is_known(type)) {
            continue;
        }
        for (unsigned i = 0; i < 200; i++) {
            uint8_t room[DICE_ROOM], bytes[DICE_ROOM];
            struct item item = dice_item(&d, (enum item_type)type, room);
            size_t size = item_size(&item);
            ck_assert_uint_eq(size % 4, 0);
            item_encode(&item, bytes);
            if (codec_try_exact(&codec_item, bytes, size) != WIRE_OK) {
                ck_abort_msg("type %u, item %u", type, i);
            }
            if (i < 10) {
                codec_try_truncations(&codec_item, bytes, size);
                codec_try_flips(&codec_item, bytes, size);
            }
        }
    }
}
END_TEST

START_TEST(more_bytes_may_follow)
{
    struct dice d = {8};
    uint8_t room[DICE_ROOM], bytes[DICE_ROOM] = {0};
    for (unsigned type = 0; type < 256; type++) {
        if (!is_known(type)) {
            continue;
        }
        struct item item = dice_item(&d, (enum item_type)type, room), again;
        item_encode(&item, bytes);
        ck_assert_int_eq(item_decode(bytes, sizeof bytes, &again), WIRE_OK);
        ck_assert_uint_eq(item_size(&again), item_size(&item));
    }
}
END_TEST

START_TEST(heads)
{
    struct dice d = {9};
    for (unsigned type = 0; type < 256; type++) {
        bool known = is_known(type);
        for (unsigned length = 0; length < 256; length++) {
            uint8_t bytes[256] = {(uint8_t)type, 0, 0, (uint8_t)length};
            struct item item;
            enum wire_reason reason = item_decode(bytes, sizeof bytes, &item);
            if ((reason == WIRE_BAD_KIND) == known ||
                (known && length < ITEM_HEAD_BYTES && reason != WIRE_BAD_LENGTH)) {
                ck_abort_msg("type %u, length %u: %s", type, length, wire_reason_name(reason));
            }
        }
        if (!known) {
            continue;
        }
        for (unsigned bit = 0; bit < 8; bit++) {
            uint8_t room[DICE_ROOM], bytes[DICE_ROOM];
            struct item item = dice_item(&d, (enum item_type)type, room);
            item_encode(&item, bytes);
            bytes[1] ^= (uint8_t)(1u << bit);
            bool last = bit == 0 && (type == ITEM_SUMMARY || type == ITEM_JOB_SUMMARY);
            bool allowed = last || (bit == 1 && type == ITEM_RECORD) || type > ITEM_ABOUT;
            ck_assert_int_eq(codec_try(&codec_item, bytes, item_size(&item)), allowed ? WIRE_OK : WIRE_RESERVED);
        }
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(golden_synced),         SUITE_TEST(golden_about), SUITE_TEST(random_items_of_every_type),
    SUITE_TEST(more_bytes_may_follow), SUITE_TEST(heads),
};
SUITE_MAIN("item", tests)
