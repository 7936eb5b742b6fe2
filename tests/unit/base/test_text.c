/* SPDX-License-Identifier: Apache-2.0 */
/* test_text.c - pieces one after the other, numbers at their ends, and the end of the room. */
#include "base/text.h"

#include "suite.h"

#include <stdint.h>
#include <string.h>

START_TEST(pieces)
{
    char out[200];
    struct text t = text_of(out, sizeof out);
    ck_assert_str_eq(out, "");
    text_put(&t, "a");
    text_put_bytes(&t, "bcd", 2);
    text_put_number(&t, -120);
    text_put(&t, " ");
    text_put_number(&t, INT64_MIN);
    text_put(&t, " ");
    text_put_number(&t, INT64_MAX);
    ck_assert_str_eq(out, "abc-120 -9223372036854775808 9223372036854775807");
    ck_assert_uint_eq(t.length, strlen(out));
}
END_TEST

START_TEST(numbers_in_a_base)
{
    static const struct {
        uint64_t number;
        unsigned base;
        const char *digits;
    } rows[] = {{0, 10, "0"},
                {UINT64_MAX, 10, "18446744073709551615"},
                {UINT64_MAX, 16, "ffffffffffffffff"},
                {0x88b5, 16, "88b5"},
                {0660, 8, "660"},
                {5, 2, "101"},
                {UINT64_MAX, 2, "1111111111111111111111111111111111111111111111111111111111111111"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char out[80];
        struct text t = text_of(out, sizeof out);
        text_put_unsigned(&t, rows[i].number, rows[i].base);
        ck_assert_str_eq(out, rows[i].digits);
    }
}
END_TEST

START_TEST(is_cut_at_its_room)
{
    char out[8];
    memset(out, 'x', sizeof out);
    struct text t = text_of(out, 6);
    text_put(&t, "abc");
    text_put(&t, "defgh");
    text_put(&t, "i");
    ck_assert_str_eq(out, "abcde");
    ck_assert_int_eq(out[6], 'x');
    t = text_of(out, 1);
    text_put(&t, "abc");
    ck_assert_str_eq(out, "");
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(pieces),
    SUITE_TEST(numbers_in_a_base),
    SUITE_TEST(is_cut_at_its_room),
};
SUITE_MAIN("text", tests)
