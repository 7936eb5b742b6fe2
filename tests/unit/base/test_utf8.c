/* SPDX-License-Identifier: Apache-2.0 */
/* What is UTF-8, what a terminal would obey, and how it is shown instead. */
#include "base/utf8.h"

#include "suite.h"

#include <string.h>

static enum utf8_kind check(const char *text)
{
    return utf8_check(text, strlen(text));
}

START_TEST(texts)
{
    ck_assert_int_eq(utf8_check("", 0), UTF8_PLAIN);
    ck_assert_int_eq(check("vmlinuz-6.1 ~"), UTF8_PLAIN);
    ck_assert_int_eq(check("K\xc3\xa4se \xe2\x82\xac \xf0\x9f\xa7\x80"), UTF8_PLAIN);
    ck_assert_int_eq(check("\xc2\xa0\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf"), UTF8_PLAIN); /* the bounds */
    ck_assert_int_eq(check("a\nb"), UTF8_CONTROL);
    ck_assert_int_eq(check("a\x7f"), UTF8_CONTROL);
    ck_assert_int_eq(check("\x1b[31m"), UTF8_CONTROL);
    ck_assert_int_eq(check("\xc2\x9b"
                           "31m"),
                     UTF8_CONTROL); /* the same in one character */
    ck_assert_int_eq(utf8_check("a\0b", 3), UTF8_CONTROL);
}
END_TEST

START_TEST(bytes_that_are_no_text)
{
    static const char *const none[] = {
        "\x80",
        "\xbf",
        "\xff",
        "\xfe",
        "caf\xe9", /* no first byte */
        "\xc3",
        "\xe2\x82",
        "\xf0\x9f\xa7",
        "\xc3(",
        "\xe2(\x82", /* no end */
        "\xc0\x80",
        "\xc1\xbf",
        "\xe0\x80\x80",
        "\xf0\x80\x80\x80", /* not the shortest form */
        "\xed\xa0\x80",
        "\xed\xbf\xbf", /* surrogates */
        "\xf4\x90\x80\x80",
        "\xf8\x88\x80\x80\x80", /* beyond U+10FFFF */
        "\n\xff",
    };
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        ck_assert_msg(check(none[i]) == UTF8_NONE, "%zu", i);
    }
    ck_assert_int_eq(utf8_check("\xc3\xa4", 1), UTF8_NONE); /* what is behind the length is not looked at */
}
END_TEST

START_TEST(shown)
{
    static const struct {
        const char *text, *shown;
    } rows[] = {
        {"", ""},
        {"plain", "plain"},
        {"K\xc3\xa4se", "K\xc3\xa4se"},
        {"a\x1b]0;x\x07", "a\\x1b]0;x\\x07"},
        {"\xc2\x9b"
         "2J",
         "\\xc2\\x9b2J"},
        {"caf\xe9.txt", "caf\\xe9.txt"},
        {"\xe2\x82", "\\xe2\\x82"},
        {"a\xe2\x80\xae"
         "txt.exe",
         "a\\xe2\\x80\\xaetxt.exe"},
        {"\xe2\x80\x8b\xe2\x80\x8f", "\\xe2\\x80\\x8b\\xe2\\x80\\x8f"},
        {"\xe2\x81\xa6\xe2\x81\xa9", "\\xe2\\x81\\xa6\\xe2\\x81\\xa9"},
        {"\xe2\x80\x8a\xe2\x80\x90\xe2\x80\xaf\xe2\x81\xaa", "\xe2\x80\x8a\xe2\x80\x90\xe2\x80\xaf\xe2\x81\xaa"},
    };
    char out[64];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t length = utf8_show(rows[i].text, strlen(rows[i].text), out, sizeof out);
        ck_assert_str_eq(out, rows[i].shown);
        ck_assert_uint_eq(length, strlen(out));
        ck_assert_int_eq(check(out), UTF8_PLAIN);
    }
}
END_TEST

START_TEST(what_does_not_fit_is_left_out)
{
    static const char text[] = "a\xc3\xa4\x1b";
    static const char *const cut[] = {
        "", "", "a", "a", "a\xc3\xa4", "a\xc3\xa4", "a\xc3\xa4", "a\xc3\xa4", "a\xc3\xa4\\x1b"};
    for (size_t room = 1; room < sizeof cut / sizeof *cut; room++) {
        char out[16];
        memset(out, '!', sizeof out);
        (void)utf8_show(text, strlen(text), out, room);
        ck_assert_str_eq(out, cut[room]);
        ck_assert_int_eq(out[room], '!');
    }
    char none = '!';
    ck_assert_uint_eq(utf8_show(text, strlen(text), &none, 0), 0);
    ck_assert_int_eq(none, '!');
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(texts),
    SUITE_TEST(bytes_that_are_no_text),
    SUITE_TEST(shown),
    SUITE_TEST(what_does_not_fit_is_left_out),
};
SUITE_MAIN("utf8", tests)
