/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/held/word.h"

#include "services/store/held/wire.h"
#include "suite.h"

static uint8_t bytes[400];

START_TEST(words)
{
    uint8_t entries[2 * STORE_ENTRY_BYTES];
    uint64_t id;
    store_entry_encode(4, 77, entries);
    store_entry_encode(5, 78, entries + STORE_ENTRY_BYTES);
    struct store_word out,
        w = {.kind = STORE_WORD_RECORD, .of = {.id = 9, .name = "memory", .copies = 3}, .entries = entries, .count = 2};
    store_word_encode(&w, bytes);
    ck_assert(store_word_decode(bytes, store_word_size(&w), &out));
    ck_assert_str_eq(out.of.name, "memory");
    ck_assert_uint_eq(store_entry_decode(out.entries + STORE_ENTRY_BYTES, &id), 5);
    ck_assert_uint_eq(id, 78);
    bytes[2] = STORE_COPIES_MOST + 1;
    ck_assert(!store_word_decode(bytes, store_word_size(&w), &out));
    ck_assert(store_class_name_valid("memory"));
    ck_assert(!store_class_name_valid(""));
    ck_assert(!store_class_name_valid("a b"));
    ck_assert(!store_class_name_valid("0123456789abcdef"));
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(words),
};
SUITE_MAIN("store word", tests)
