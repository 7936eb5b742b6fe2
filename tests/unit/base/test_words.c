/* SPDX-License-Identifier: Apache-2.0 */
#include "base/words.h"

#include "suite.h"

#include <errno.h>

START_TEST(numbers)
{
    static const struct {
        const char *text;
        int rc;
        uint64_t value;
    } table[] = {
        {"0", 0, 0},
        {"7", 0, 7},
        {"007", 0, 7},
        {"18446744073709551615", 0, UINT64_MAX},
        {"18446744073709551616", -ERANGE, 0},
        {"99999999999999999999999", -ERANGE, 0},
        {"3k", 0, 3000},
        {"20M", 0, 20000000},
        {"1G", 0, 1000000000},
        {"2T", 0, UINT64_C(2000000000000)},
        {"18446745T", -ERANGE, 0},
        {"", -EINVAL, 0},
        {"k", -EINVAL, 0},
        {"-1", -EINVAL, 0},
        {"+1", -EINVAL, 0},
        {" 1", -EINVAL, 0},
        {"1 ", -EINVAL, 0},
        {"1kk", -EINVAL, 0},
        {"1K", -EINVAL, 0},
        {"0x10", -EINVAL, 0},
        {"1.5", -EINVAL, 0},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        uint64_t value = 0;
        int rc = words_number(table[i].text, 0, UINT64_MAX, &value);
        ck_assert_msg(rc == table[i].rc && value == table[i].value, "\"%s\" gave %d", table[i].text, rc);
    }
}
END_TEST

START_TEST(numbers_keep_their_range)
{
    uint64_t value = 99;
    ck_assert_int_eq(words_number("4", 5, 10, &value), -ERANGE);
    ck_assert_int_eq(words_number("11", 5, 10, &value), -ERANGE);
    ck_assert_uint_eq(value, 99);
    ck_assert_int_eq(words_number("5", 5, 10, &value), 0);
    ck_assert_int_eq(words_number("10", 5, 10, &value), 0);
    ck_assert_uint_eq(value, 10);
}
END_TEST

START_TEST(values)
{
    ck_assert_str_eq(words_value("count=3", "count"), "3");
    ck_assert_str_eq(words_value("count=", "count"), "");
    ck_assert_str_eq(words_value("a=b=c", "a"), "b=c");
    ck_assert_ptr_null(words_value("count", "count"));
    ck_assert_ptr_null(words_value("counts=3", "count"));
    ck_assert_ptr_null(words_value("coun=3", "count"));
}
END_TEST

START_TEST(options_stop_at_the_first_bad_word)
{
    uint64_t count = 1, size = 2;
    const struct words_option options[] = {{"count", 1, 9, &count}, {"size", 0, 100, &size}};
    static const char *const good[] = {"size=50", "count=9", "count=8"};
    ck_assert_int_eq(words_options(3, good, options, 2), 3);
    ck_assert_uint_eq(count, 8);
    ck_assert_uint_eq(size, 50);
    static const char *const unknown[] = {"size=1", "rate=1", "count=3"};
    ck_assert_int_eq(words_options(3, unknown, options, 2), 1);
    ck_assert_uint_eq(size, 1);
    ck_assert_uint_eq(count, 8);
    static const char *const range[] = {"count=10"};
    ck_assert_int_eq(words_options(1, range, options, 2), 0);
    ck_assert_int_eq(words_options(0, NULL, options, 2), 0);
}
END_TEST

START_TEST(explains_a_bad_word)
{
    uint64_t count = 1, size = 2;
    const struct words_option options[] = {{"count", 1, 9, &count}, {"size", 0, UINT64_MAX, &size}};
    char text[80], small[8];
    words_explain("count=10", options, 2, text, sizeof text);
    ck_assert_str_eq(text, "count=10: count is a whole number from 1 to 9");
    words_explain("size=x", options, 2, text, sizeof text);
    ck_assert_str_eq(text, "size=x: size is a whole number from 0 to 18446744073709551615");
    words_explain("rate=1", options, 2, text, sizeof text);
    ck_assert_str_eq(text, "rate=1: no such option; there are count=N size=N");
    words_explain("rate=1", options, 2, small, sizeof small);
    ck_assert_str_eq(small, "rate=1:");
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(numbers),
    SUITE_TEST(numbers_keep_their_range),
    SUITE_TEST(values),
    SUITE_TEST(options_stop_at_the_first_bad_word),
    SUITE_TEST(explains_a_bad_word),
};
SUITE_MAIN("words", tests)
