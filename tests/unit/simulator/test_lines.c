/* SPDX-License-Identifier: Apache-2.0 */
/* Words, comments and lines, and errors that say where, what was found and what was expected. */
#include "simulator/lines.h"

#include "suite.h"

#include <errno.h>
#include <string.h>

static char error[LINES_ERROR];

/* The first line of the text, ready to be read. */
static struct lines opened(const char *text)
{
    struct lines w;
    lines_open(&w, "shop.txt", text, strlen(text), error);
    ck_assert_str_eq(error, "");
    ck_assert_int_eq(lines_line(&w), 1);
    return w;
}

START_TEST(words_are_between_blanks_and_comments)
{
    struct lines w = opened("\n  # nothing\n\tat 1s\r\n#\nkill#now\nlast");
    ck_assert_uint_eq(w.line, 3);
    ck_assert_uint_eq(w.count, 2);
    ck_assert(!lines_skip(&w, "a"));
    ck_assert(lines_skip(&w, "at"));
    ck_assert(lines_skip(&w, "1s"));
    ck_assert(!lines_more(&w));
    ck_assert_int_eq(lines_done(&w), 0);
    ck_assert_int_eq(lines_line(&w), 1);
    ck_assert_uint_eq(w.line, 5);
    ck_assert_uint_eq(w.count, 1);
    ck_assert(word_is(&w.word[0], "kill"));
    ck_assert(!word_is(&w.word[0], "kil") && !word_is(&w.word[0], "kill-row"));
    ck_assert_int_eq(lines_line(&w), 1);
    ck_assert(lines_skip(&w, "last"));
    ck_assert_int_eq(lines_line(&w), 0);
    ck_assert_int_eq(lines_line(&w), 0);
}
END_TEST

START_TEST(an_error_says_where_what_and_what_instead)
{
    struct lines w = opened("at 1s\n\nkil 0,0,0");
    ck_assert_int_eq(lines_line(&w), 1);
    ck_assert_int_eq(lines_unexpected(&w, "an action", "kill"), -EINVAL);
    ck_assert_str_eq(error, "shop.txt:3: found 'kil', expected an action; did you mean kill?");
    ck_assert_int_eq(lines_wrong(&w, "later %d", 1), -EINVAL);
    ck_assert_int_eq(lines_unexpected(&w, "later", NULL), -EINVAL);
    ck_assert_ptr_nonnull(strstr(error, "'kil'")); /* the first stays */
    w = opened("at");
    ck_assert(lines_skip(&w, "at"));
    ck_assert_int_eq(lines_unexpected(&w, "a time", NULL), -EINVAL);
    ck_assert_str_eq(error, "shop.txt:1: found the end of the line, expected a time");
    w = opened("at 1s more");
    w.at = 2;
    ck_assert_int_eq(lines_done(&w), -EINVAL);
    ck_assert_str_eq(error, "shop.txt:1: found 'more', expected the end of the line");
    w = opened("x");
    ck_assert_int_eq(lines_wrong(&w, "no more than %d", 7), -EINVAL);
    ck_assert_str_eq(error, "shop.txt:1: no more than 7");
}
END_TEST

/* Files may hold anything: what is shown of it is short and printable. */
START_TEST(what_is_shown_of_a_word_is_short_and_printable)
{
    char text[2000] = "\x1b[31m\x80";
    memset(text + 6, 'a', sizeof text - 7);
    struct lines w = opened(text);
    ck_assert_int_eq(lines_unexpected(&w, "a word", NULL), -EINVAL);
    ck_assert_ptr_nonnull(strstr(error, "found '?[31m?aaaa"));
    ck_assert_ptr_nonnull(strstr(error, "aaa...', expected a word"));
    ck_assert_uint_lt(strlen(error), 100);
}
END_TEST

START_TEST(a_line_has_so_many_words_at_most)
{
    char text[4 * LINES_WORDS_MAX] = "";
    for (int i = 0; i < LINES_WORDS_MAX; i++) {
        strcat(text, "a ");
    }
    struct lines w = opened(text);
    ck_assert_uint_eq(w.count, LINES_WORDS_MAX);
    strcat(text, "b");
    lines_open(&w, "shop.txt", text, strlen(text), error);
    ck_assert_int_eq(lines_line(&w), -EINVAL);
    ck_assert_str_eq(error, "shop.txt:1: more than 24 words on this line");
}
END_TEST

START_TEST(readers_take_one_word_of_their_kind)
{
    struct torus torus;
    cw_server server;
    cw_link link;
    uint8_t axis;
    cw_span span;
    uint64_t count, rate;
    uint32_t ppm;
    ck_assert_int_eq(torus_init(&torus, (cw_dims){3, 4, 5}), 0);
    struct lines w = opened("2,3,4 -y z 1.5s 7 5% 10mbit load=98%");
    ck_assert_int_eq(lines_server(&w, &torus, &server), 0);
    ck_assert_uint_eq(server, torus_id(&torus, (cw_coord){2, 3, 4}));
    ck_assert_int_eq(lines_link(&w, &link), 0);
    ck_assert_uint_eq(link, CW_LINK_YM);
    ck_assert_int_eq(lines_axis(&w, &axis), 0);
    ck_assert_uint_eq(axis, 2);
    ck_assert_int_eq(lines_span(&w, &span), 0);
    ck_assert_int_eq(span.ns, 1500000000);
    ck_assert_int_eq(lines_count(&w, 7, &count), 0);
    ck_assert_uint_eq(count, 7);
    ck_assert_int_eq(lines_ppm(&w, 50000, &ppm), 0);
    ck_assert_uint_eq(ppm, 50000);
    ck_assert_int_eq(lines_rate(&w, &rate), 0);
    ck_assert_uint_eq(rate, 10000000);
    ck_assert_int_eq(lines_key(&w, "bytes"), 0);
    ck_assert_int_eq(lines_key(&w, "loa"), 0);
    ck_assert_int_eq(lines_key(&w, "load"), 1);
    ck_assert_int_eq(lines_ppm(&w, 1000000, &ppm), 0);
    ck_assert_uint_eq(ppm, 980000);
    ck_assert_int_eq(lines_key(&w, "load"), 0);
    ck_assert_int_eq(lines_done(&w), 0);
}
END_TEST

START_TEST(readers_say_what_they_expected)
{
    struct torus torus;
    cw_server server = 9;
    uint64_t count = 9;
    uint32_t ppm = 9;
    ck_assert_int_eq(torus_init(&torus, (cw_dims){3, 4, 5}), 0);
    struct lines w = opened("3,0,0");
    ck_assert_int_eq(lines_server(&w, &torus, &server), -EINVAL);
    ck_assert_str_eq(error, "shop.txt:1: found '3,0,0', expected a server x,y,z inside 3x4x5 (0,0,0 to 2,3,4)");
    w = opened("8");
    ck_assert_int_eq(lines_count(&w, 7, &count), -EINVAL);
    ck_assert_str_eq(error, "shop.txt:1: found '8', expected a whole number up to 7");
    w = opened("5.1%");
    ck_assert_int_eq(lines_ppm(&w, 50000, &ppm), -EINVAL);
    ck_assert_str_eq(error, "shop.txt:1: found '5.1%', expected a share up to 5%, as 5% or 200ppm");
    w = opened("80");
    cw_span span;
    ck_assert_int_eq(lines_span(&w, &span), -EINVAL);
    ck_assert_str_eq(error, "shop.txt:1: found '80', expected a time with its unit, as 80ms or 1.5s");
    ck_assert_uint_eq(server + count + ppm, 27); /* untouched */
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(words_are_between_blanks_and_comments),
    SUITE_TEST(an_error_says_where_what_and_what_instead),
    SUITE_TEST(what_is_shown_of_a_word_is_short_and_printable),
    SUITE_TEST(a_line_has_so_many_words_at_most),
    SUITE_TEST(readers_take_one_word_of_their_kind),
    SUITE_TEST(readers_say_what_they_expected),
};
SUITE_MAIN("simulator/lines", tests)
