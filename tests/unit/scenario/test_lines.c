/* SPDX-License-Identifier: Apache-2.0 */
#include "scenario/lines.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static const struct setting table[] = {
    {.name = "rate", .kind = SETTING_RATE, .size = sizeof(uint64_t), .most = SETTING_ANY},
    {.name = "time", .kind = SETTING_SPAN, .size = sizeof(uint64_t), .most = SETTING_ANY},
    {.name = NULL},
};

static struct lines open_text(const char *text, char error[static LINES_ERROR])
{
    struct lines w;
    lines_open(&w, "f.txt", text, strlen(text), error);
    return w;
}

START_TEST(splits)
{
    char error[LINES_ERROR];
    struct lines w = open_text("# nothing\n\n  one\ttwo # three\r\nlast", error);
    ck_assert_int_eq(lines_line(&w), 1);
    ck_assert(w.line == 3 && w.count == 2 && lines_word_is(&w.word[0], "one") && lines_word_is(&w.word[1], "two"));
    ck_assert(lines_more(&w) && !lines_skip(&w, "two") && lines_skip(&w, "one") && lines_skip(&w, "two"));
    ck_assert(!lines_more(&w) && lines_done(&w) == 0);
    ck_assert_int_eq(lines_line(&w), 1);
    ck_assert(w.line == 4 && lines_word_is(&w.word[0], "last"));
    ck_assert_int_eq(lines_done(&w), -EINVAL);
    ck_assert_str_eq(error, "f.txt:4: found 'last', expected the end of the line");
    ck_assert_int_eq(lines_line(&w), 0);
}
END_TEST

START_TEST(too_many)
{
    char error[LINES_ERROR];
    struct lines w = open_text("a a a a a a a a a a a a a a a a a a a a a a a a a", error);
    ck_assert_int_eq(lines_line(&w), -EINVAL);
    ck_assert(strstr(error, "f.txt:1: more than 24 words") != NULL);
}
END_TEST

/* The first error stays; what cannot be shown is not; long words are cut. */
START_TEST(errors)
{
    char error[LINES_ERROR];
    struct lines w = open_text("\x01\x02pause-pause-pause-pause-pause-pause-pause-pause-pause-pause", error);
    ck_assert_int_eq(lines_line(&w), 1);
    ck_assert_int_eq(lines_unexpected(&w, "an action", "pause"), -EINVAL);
    ck_assert_str_eq(
        error,
        "f.txt:1: found '?\?pause-pause-pause-pause-pause-pause-pause-...', expected an action; did you mean pause?");
    ck_assert_int_eq(lines_wrong(&w, "again"), -EINVAL);
    ck_assert(strstr(error, "again") == NULL);
}
END_TEST

START_TEST(readers)
{
    char error[LINES_ERROR];
    struct torus torus;
    cw_server server;
    cw_link link;
    uint8_t axis;
    cw_span span;
    uint64_t count, rate;
    uint32_t ppm;
    char text[8];
    ck_assert_int_eq(torus_init(&torus, (cw_dims){3, 4, 5}), 0);
    struct lines w = open_text("2,3,4 -z y 80ms 12 5% 1gbit word key=7", error);
    ck_assert_int_eq(lines_line(&w), 1);
    ck_assert(lines_server(&w, &torus, &server) == 0 && server == 59);
    ck_assert(lines_link(&w, &link) == 0 && link == CW_LINK_ZM);
    ck_assert(lines_axis(&w, &axis) == 0 && axis == 1);
    ck_assert(lines_span(&w, &span) == 0 && span.ns == 80000000);
    ck_assert(lines_count(&w, 12, &count) == 0 && count == 12);
    ck_assert(lines_ppm(&w, 50000, &ppm) == 0 && ppm == 50000);
    ck_assert(lines_setting(&w, &table[0], &rate) == 0 && rate == 1000000000);
    ck_assert(lines_take(&w, text, 4) == -EINVAL && lines_take(&w, text, 5) == 0 && strcmp(text, "word") == 0);
    ck_assert(lines_key(&w, "ke") == 0 && lines_key(&w, "key") == 1 && lines_count(&w, 9, &count) == 0 && count == 7);
    ck_assert(lines_key(&w, "key") == 0 && lines_done(&w) == 0);
    ck_assert_str_eq(error, "");
}
END_TEST

START_TEST(settings_by_their_names)
{
    char error[LINES_ERROR];
    uint64_t value;
    struct lines w = open_text("time 3us rate=1kbit other", error);
    ck_assert_int_eq(lines_line(&w), 1);
    ck_assert_int_eq(lines_named(&w, table, &value), 0);
    ck_assert_uint_eq(value, 3000);
    ck_assert_int_eq(lines_assigned(&w, table, &value), 1);
    ck_assert_uint_eq(value, 1000);
    ck_assert_int_eq(lines_assigned(&w, table, &value), 0);
    ck_assert(lines_skip(&w, "other"));
    ck_assert_str_eq(error, "");
}
END_TEST

START_TEST(refusals)
{
    struct torus torus;
    ck_assert_int_eq(torus_init(&torus, (cw_dims){3, 3, 3}), 0);
    static const struct {
        const char *word, *says;
        char reader;
    } rows[] = {
        {"3,0,0", "found '3,0,0', expected a server x,y,z inside 3x3x3 (0,0,0 to 2,2,2)", 's'},
        {"+w", "expected a link: +x -x +y -y +z or -z", 'l'},
        {"w", "expected an axis: x, y or z", 'a'},
        {"80", "expected a time with its unit, as 5s or 200ms", 't'},
        {"13", "expected a whole number from 0 to 12", 'c'},
        {"6%", "expected a share from 0 to 5%, as 5% or 200ppm", 'p'},
        {"1", "expected a rate with its unit, as 1gbit or 100mbit", 'r'},
        {"rat 1gbit", "found 'rat', expected rate or time; did you mean rate?", 'n'},
        {"rate", "found the end of the line, expected a rate", 'n'},
        {"rate time", "found 'time', expected a rate", 'n'},
        {"time=1", "found '1', expected a time with its unit", '='},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char error[LINES_ERROR];
        struct lines w = open_text(rows[i].word, error);
        cw_server server;
        cw_link link;
        uint8_t axis;
        cw_span span;
        uint64_t value;
        uint32_t ppm;
        ck_assert_int_eq(lines_line(&w), 1);
        int rc = rows[i].reader == 's'   ? lines_server(&w, &torus, &server)
                 : rows[i].reader == 'l' ? lines_link(&w, &link)
                 : rows[i].reader == 'n' ? lines_named(&w, table, &value)
                 : rows[i].reader == '=' ? lines_assigned(&w, table, &value)
                 : rows[i].reader == 'a' ? lines_axis(&w, &axis)
                 : rows[i].reader == 't' ? lines_span(&w, &span)
                 : rows[i].reader == 'c' ? lines_count(&w, 12, &value)
                 : rows[i].reader == 'p' ? lines_ppm(&w, 50000, &ppm)
                                         : lines_setting(&w, &table[0], &value);
        ck_assert_int_eq(rc, -EINVAL);
        ck_assert_msg(strstr(error, rows[i].says) != NULL, "%s", error);
    }
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(splits),
                                          SUITE_TEST(too_many),
                                          SUITE_TEST(errors),
                                          SUITE_TEST(readers),
                                          SUITE_TEST(settings_by_their_names),
                                          SUITE_TEST(refusals)};
SUITE_MAIN("lines", tests)
