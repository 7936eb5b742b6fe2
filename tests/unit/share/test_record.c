/* SPDX-License-Identifier: Apache-2.0 */
#include "dice.h"
#include "share/record.h"
#include "suite.h"

#include <string.h>

START_TEST(every_field)
{
    struct share_record r = {.kind = SHARE_RECORD_SHORT,
                             .flags = SHARE_RECORD_TO_KEY | SHARE_RECORD_REQUEST,
                             .endpoint = 1,
                             .length = 2,
                             .job = 3,
                             .process = 4,
                             .life = 5,
                             .server = 0xabcdef,
                             .port = 7,
                             .items = 8,
                             .tag = 9,
                             .right = 10,
                             .key = {{11, 12}}},
                        back;
    uint64_t word[SHARE_RECORD_WORDS], again[SHARE_RECORD_WORDS];
    share_record_encode(&r, word);
    ck_assert(share_record_decode(word, &back));
    share_record_encode(&back, again);
    ck_assert_mem_eq(word, again, sizeof word);
    ck_assert(back.server == 0xabcdef && back.key.b[1] == 12 && back.tag == 9 && back.items == 8);
    r.flags = SHARE_RECORD_REQUESTER;
    r.requester_job = 20;
    r.requester_process = 21;
    share_record_encode(&r, word);
    ck_assert(share_record_decode(word, &back));
    ck_assert(back.requester_job == 20 && back.requester_process == 21 && back.key.b[0] == 0);
}
END_TEST

/* Any words: what is let through is what would be written. */
START_TEST(one_encoding)
{
    struct dice d = {3};
    unsigned fine = 0;
    for (unsigned i = 0; i < 100000; i++) {
        uint64_t word[SHARE_RECORD_WORDS] = {0}, again[SHARE_RECORD_WORDS];
        struct share_record r;
        word[0] = (1 + dice_below(&d, 5)) | (uint64_t)dice_below(&d, 8) << 8;
        for (unsigned n = dice_below(&d, 3); n > 0; n--) {
            word[dice_below(&d, SHARE_RECORD_WORDS)] ^= UINT64_C(1) << dice_below(&d, 64);
        }
        if (!share_record_decode(word, &r)) {
            continue;
        }
        fine++;
        share_record_encode(&r, again);
        SUITE_HOLDS(memcmp(word, again, sizeof word) == 0, "round %u", i);
    }
    ck_assert(fine > 1000 && fine < 100000);
}
END_TEST

START_TEST(refused)
{
    uint64_t word[SHARE_RECORD_WORDS] = {0};
    struct share_record r;
    ck_assert(!share_record_decode(word, &r)); /* kind 0 */
    word[0] = 6;
    ck_assert(!share_record_decode(word, &r));
    word[0] = SHARE_RECORD_SHORT | 3 << 8; /* a key and a requester */
    ck_assert(!share_record_decode(word, &r));
    word[0] = SHARE_RECORD_SHORT | 8 << 8;
    ck_assert(!share_record_decode(word, &r));
    word[0] = SHARE_RECORD_SHORT;
    ck_assert(share_record_decode(word, &r));
    word[5] = 1; /* a key that no flag announces */
    ck_assert(!share_record_decode(word, &r));
}
END_TEST

START_TEST(room)
{
    ck_assert_uint_eq(share_record_room(0), 64);
    ck_assert_uint_eq(share_record_room(1), 128);
    ck_assert_uint_eq(share_record_room(64), 128);
    ck_assert_uint_eq(share_record_room(65), 192);
    ck_assert_uint_eq(share_record_room(UINT32_MAX), UINT64_C(0x100000040));
    ck_assert_uint_eq(share_record_room_anywhere(0), 64);
    ck_assert_uint_eq(share_record_room_anywhere(1), 192);
    ck_assert(share_record_has_bytes(SHARE_RECORD_SHORT) && !share_record_has_bytes(SHARE_RECORD_LONG));
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(every_field),
    SUITE_TEST(one_encoding),
    SUITE_TEST(refused),
    SUITE_TEST(room),
};
SUITE_MAIN("record", tests)
