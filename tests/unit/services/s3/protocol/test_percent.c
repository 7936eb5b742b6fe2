/* SPDX-License-Identifier: Apache-2.0 */
#include "services/s3/protocol/percent.h"

#include "suite.h"

#include <errno.h>
#include <string.h>

START_TEST(encodes_as_s3_does)
{
    struct s3_buffer b = {0};
    s3_percent_encode("test$file.text", 14, true, &b);
    ck_assert_str_eq(b.bytes, "test%24file.text");
    s3_buffer_clear(&b);
    s3_percent_encode("a b+c/~-_\xc3\xa4", 11, false, &b);
    ck_assert_str_eq(b.bytes, "a%20b%2Bc%2F~-_%C3%A4");
    s3_buffer_drop(&b);
}
END_TEST

START_TEST(decodes_what_it_encodes)
{
    char all[255], out[255];
    struct s3_buffer b = {0};
    for (unsigned i = 0; i < sizeof all; i++) {
        all[i] = (char)(i + 1);
    }
    s3_percent_encode(all, sizeof all, false, &b);
    ck_assert_int_eq(s3_percent_decode(b.bytes, b.length, b.bytes), sizeof all); /* in place */
    ck_assert_mem_eq(b.bytes, all, sizeof all);
    ck_assert_int_eq(s3_percent_decode("a+b%2fc", 7, out), 5);
    ck_assert_mem_eq(out, "a+b/c", 5);
    s3_buffer_drop(&b);
}
END_TEST

START_TEST(a_hex_digit_is_one_of_22)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    unsigned found = 0;
    for (int c = 0; c < 256; c++) {
        found += s3_hex_digit((char)c) >= 0;
    }
    ck_assert_uint_eq(found, 22);
    for (int i = 0; i < 22; i++) {
        ck_assert_int_eq(s3_hex_digit(digits[i]), i < 16 ? i : i - 6);
    }
}
END_TEST

START_TEST(refuses_halves_and_nuls)
{
    static const char *const bad[] = {"%", "%4", "a%4", "%g0", "%0g", "%00", "abc%"};
    char out[8];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        SUITE_HOLDS(s3_percent_decode(bad[i], strlen(bad[i]), out) == -EINVAL, "%s", bad[i]);
    }
    ck_assert_int_eq(s3_percent_decode("a\0b", 3, out), -EINVAL);
}
END_TEST

START_TEST(compares_as_the_encoded_forms)
{
    for (unsigned i = 1; i < 256; i++) {
        for (unsigned j = 1; j < 256; j++) {
            char a[2] = {'x', (char)i}, b[2] = {'x', (char)j};
            struct s3_buffer p = {0}, q = {0};
            s3_percent_encode(a, 2, false, &p);
            s3_percent_encode(b, 2, false, &q);
            int right = strcmp(p.bytes, q.bytes), is = s3_percent_compare(a, 2, b, 2);
            SUITE_HOLDS((right < 0) == (is < 0) && (right > 0) == (is > 0), "%u and %u", i, j);
            s3_buffer_drop(&p);
            s3_buffer_drop(&q);
        }
    }
    ck_assert_int_lt(s3_percent_compare("a", 1, "ab", 2), 0);
    ck_assert_int_gt(s3_percent_compare("ab", 2, "a", 1), 0);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(encodes_as_s3_does), SUITE_TEST(decodes_what_it_encodes),
                                          SUITE_TEST(a_hex_digit_is_one_of_22), SUITE_TEST(refuses_halves_and_nuls),
                                          SUITE_TEST(compares_as_the_encoded_forms)};
SUITE_MAIN("percent", tests)
