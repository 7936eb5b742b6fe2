/* SPDX-License-Identifier: Apache-2.0 */
/* test_reader.c - words of a configuration: what blanks, comments and quotes are, and what is said of wrong ones. */
#include "conf/reader.h"
#include "suite.h"

#include <string.h>

static char strings[200], why[CONF_WHY];

static struct reader over(const char *text)
{
    return (struct reader){
        .begin = text, .at = text, .end = text + strlen(text), .line = 1, .string = strings, .why = why};
}

START_TEST(blanks_and_comments)
{
    struct reader r = over(" # one\n // two\n /* three\n four */ a");
    ck_assert_int_eq(reader_skip_blanks(&r, true), 0);
    ck_assert_uint_eq(r.line, 4);
    ck_assert(reader_is_next(&r, "a") && !reader_is_next(&r, "ab"));
    r = over(" \n a");
    ck_assert_int_eq(reader_skip_blanks(&r, false), 0);
    ck_assert(reader_is_next(&r, "\n"));
    r = over("\n/* never\nended");
    ck_assert_int_lt(reader_skip_blanks(&r, true), 0);
    ck_assert(r.lost);
    ck_assert_uint_eq(r.line, 2); /* where it begins */
    ck_assert_str_eq(why, "this comment has no closing */");
}
END_TEST

START_TEST(texts)
{
    static const struct {
        const char *text, *value, *rest;
    } good[] = {{"a.b-c d", "a.b-c", " d"}, {"10.0.0.1:7001;", "10.0.0.1:7001", ";"}, {"\"a b\"c", "a b", "c"},
                {"'\\n'", "\\n", ""},       {"\"\\n\\t\\\"\\\\\"", "\n\t\"\\", ""},   {"a//b", "a", "//b"}};
    static const struct {
        const char *text, *why;
    } bad[] = {{"", "expected a value, found the end of the file"},
               {"\n", "expected a value, found the end of the line"},
               {"{", "expected a value, found '{'"},
               {"\"a\n", "the text that begins with \"a has no closing quote"},
               {"\"\\x\"", "a \\ in a text is followed by n, t, \\, / or a quote"},
               {"\"\001\"", "a text holds no control characters"}};
    const char *value;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct reader r = over(good[i].text);
        ck_assert_int_eq(reader_take_text(&r, reader_is_bare_value, "a value", &value), 0);
        ck_assert_str_eq(value, good[i].value);
        ck_assert_str_eq(r.at, good[i].rest);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct reader r = over(bad[i].text);
        ck_assert_int_lt(reader_take_text(&r, reader_is_bare_value, "a value", &value), 0);
        ck_assert_str_eq(why, bad[i].why);
        ck_assert(!r.lost);
    }
}
END_TEST

/* A quote ends its text, unless it begins the next one; a comment is no part of what an unclosed one holds. */
START_TEST(quotes_that_are_not_closed)
{
    static const struct {
        const char *text, *value, *rest;
        bool closed;
    } cases[] = {{"'/var/log/a;b'x", "/var/log/a;b", "x", true},
                 {"\"a;b\"c = 1", "a;b", "c = 1", true},
                 {"'3x3; b = 'c'", "3x3", "; b = 'c'", false},
                 {"'3x3; b='c'", "3x3", "; b='c'", false},
                 {"\"/tmp/x // note\n", "/tmp/x", "// note\n", false},
                 {"\"/tmp/x /* note */\n", "/tmp/x", "/* note */\n", false},
                 {"\"/tmp/x # note\n", "/tmp/x", "# note\n", false},
                 {"\"http://a/b#c\n", "http://a/b#c", "\n", false},
                 {"\"//x/y/", "//x/y/", "", false}};
    const char *value;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct reader r = over(cases[i].text);
        ck_assert(cases[i].closed == (reader_take_text(&r, reader_is_bare_value, "a value", &value) == 0));
        ck_assert(r.unclosed == !cases[i].closed);
        ck_assert_str_eq(value, cases[i].value);
        ck_assert_str_eq(r.at, cases[i].rest);
    }
}
END_TEST

START_TEST(keys_and_values)
{
    ck_assert(reader_is_bare('a') && reader_is_bare('+') && !reader_is_bare('=') && !reader_is_bare(' '));
    ck_assert(reader_is_bare_value('=') && reader_is_bare_value(':') && !reader_is_bare_value('{'));
    struct reader r = over("");
    ck_assert(reader_at_end(&r));
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(blanks_and_comments), SUITE_TEST(texts),
                                          SUITE_TEST(keys_and_values), SUITE_TEST(quotes_that_are_not_closed)};
SUITE_MAIN("reader", tests)
