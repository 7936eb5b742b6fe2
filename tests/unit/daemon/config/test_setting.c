/* SPDX-License-Identifier: Apache-2.0 */
/* test_setting.c - each kind of value: read, refused, and written back as what was read. */
#include "cubeway/time.h"
#include "daemon/config/setting.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

struct all {
    char text[8];
    uint32_t count, number, mode, ppm;
    uint64_t seed, rate;
    cw_span span;
    bool truth;
    int word;
    cw_dims dims;
};

static const char *const colours[] = {"red", "green", NULL};
#define OF(what, field) .key = #field, .kind = what, .at = offsetof(struct all, field)
static const struct setting settings[] = {
    {OF(SETTING_TEXT, text), .least = 1, .most = 8},
    {OF(SETTING_COUNT, count), .least = 2, .most = 2000},
    {OF(SETTING_NUMBER, number), .least = 0x600, .most = 0xffff},
    {OF(SETTING_MODE, mode)},
    {OF(SETTING_PPM, ppm), .most = 1000000},
    {OF(SETTING_SEED, seed)},
    {OF(SETTING_RATE, rate)},
    {OF(SETTING_SPAN, span), .least = 1000, .most = 1000000000},
    {OF(SETTING_BOOL, truth)},
    {OF(SETTING_WORD, word), .words = colours},
    {OF(SETTING_DIMS, dims)},
};

static const struct setting *of(const char *key)
{
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        if (strcmp(settings[i].key, key) == 0) {
            return &settings[i];
        }
    }
    ck_abort_msg("%s", key);
}

START_TEST(what_is_read_is_written)
{
    static const struct {
        const char *key, *text, *again; /* NULL: refused */
    } rows[] = {
        {"text", "abc", "abc"},
        {"text", "", NULL},
        {"text", "12345678", NULL},
        {"text", "a\nb", NULL},
        {"count", "2", "2"},
        {"count", "2k", "2000"},
        {"count", "1", NULL},
        {"count", "2001", NULL},
        {"count", "-3", NULL},
        {"count", "x", NULL},
        {"number", "0x88b5", "0x88b5"},
        {"number", "34997", "0x88b5"},
        {"number", "0x10000", NULL},
        {"number", "0x5ff", NULL},
        {"number", "zz", NULL},
        {"mode", "0660", "0660"},
        {"mode", "777", "0777"},
        {"mode", "0888", NULL},
        {"mode", "01777", NULL},
        {"ppm", "1%", "1%"},
        {"ppm", "101%", NULL},
        {"seed", "18446744073709551615", "18446744073709551615"},
        {"seed", "-1", NULL},
        {"seed", "18446744073709551616", NULL},
        {"rate", "10gbit", "10gbit"},
        {"rate", "10", NULL},
        {"span", "10ms", "10ms"},
        {"span", "2s", NULL},
        {"span", "999ns", NULL},
        {"span", "5", NULL},
        {"truth", "yes", "true"},
        {"truth", "off", "false"},
        {"truth", "1", NULL},
        {"word", "green", "green"},
        {"word", "blue", NULL},
        {"dims", "3x4x5", "3x4x5"},
        {"dims", "3x4", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct all all, before;
        char why[SETTING_WHY], text[SETTING_VALUE] = "";
        memset(&all, 0, sizeof all);
        before = all;
        int rc = setting_read(of(rows[i].key), rows[i].text, &all, why);
        ck_assert_msg(rc == (rows[i].again != NULL ? 0 : -EINVAL), "%s = %s: %d", rows[i].key, rows[i].text, rc);
        if (rc < 0) {
            ck_assert_msg(strncmp(why, "expected ", 9) == 0, "%s", why);
            ck_assert_mem_eq(&all, &before, sizeof all);
            continue;
        }
        ck_assert_uint_eq(why[0], '\0');
        ck_assert(setting_write(of(rows[i].key), &all, text));
        ck_assert_str_eq(text, rows[i].again);
    }
}
END_TEST

START_TEST(optional_values_that_are_not_set_are_not_written)
{
    struct all all;
    memset(&all, 0, sizeof all);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        struct setting s = settings[i];
        char text[SETTING_VALUE];
        s.optional = true;
        bool always = s.kind == SETTING_BOOL || s.kind == SETTING_WORD;
        ck_assert_int_eq(setting_write(&s, &all, text), always);
    }
}
END_TEST

START_TEST(words_that_are_expected_are_named)
{
    struct all all;
    char why[SETTING_WHY];
    ck_assert_int_eq(setting_read(of("word"), "blue", &all, why), -EINVAL);
    ck_assert_str_eq(why, "expected one of red, green");
    ck_assert_int_eq(setting_read(of("span"), "9h", &all, why), -EINVAL);
    ck_assert_str_eq(why, "expected a time from 1us to 1s, as 10ms");
    ck_assert(setting_is_text(of("text")) && !setting_is_text(of("count")));
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(what_is_read_is_written),
    SUITE_TEST(optional_values_that_are_not_set_are_not_written),
    SUITE_TEST(words_that_are_expected_are_named),
};
SUITE_MAIN("setting", tests)
