/* SPDX-License-Identifier: Apache-2.0 */
/* test_setting_text.c - what is expected of a value, and values as text. (test_setting.c writes what it has read.) */
#include "setting_kinds.h"
#include "suite.h"

START_TEST(optional_values_that_are_not_set_are_not_written)
{
    struct all all;
    memset(&all, 0, sizeof all);
    for (size_t i = 0; settings[i].name != NULL; i++) {
        struct setting s = settings[i];
        char text[SETTING_VALUE];
        s.optional = true;
        bool always = s.kind == SETTING_BOOL || s.kind == SETTING_WORD;
        ck_assert_int_eq(setting_write(&s, &all, text), always);
    }
    ck_assert(setting_is_text(of("text")));
    ck_assert(!setting_is_text(of("count")));
}
END_TEST

START_TEST(what_is_expected_is_said)
{
    static const struct {
        const char *name, *says;
    } rows[] = {
        {"text", "1 to 7 characters, none of them a control character"},
        {"count", "a whole number from 2 to 2000"},
        {"byte", "a whole number"},
        {"port", "a whole number from 1 on, as 1000 or 10k"},
        {"digits", "a whole number"},
        {"bytes", "a whole number from 1 to 64 MiB"},
        {"hex", "a number from 0x600 to 0xffff"},
        {"mode", "a file's mode in octal, as 0660"},
        {"ppm", "a share from 0 to 100%, as 5% or 200ppm"},
        {"ratio", "a number, as 2 or 0.5"},
        {"range", "a number or a range, as 7 or 1..100"},
        {"seed", "a whole number of at most 64 bits"},
        {"rate", "a rate with its unit from 1kbit to 10gbit, as 1gbit or 100mbit"},
        {"span", "a time with its unit from 1us to 1s, as 5s or 200ms"},
        {"plain", "a time with its unit, as 5s or 200ms"},
        {"truth", "true or false"},
        {"word", "red, green or blue"},
        {"dims", "dimensions of 1 to 256 each, as 3x3x3"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char why[SETTING_WHY];
        setting_expected(of(rows[i].name), why);
        ck_assert_str_eq(why, rows[i].says);
    }
}
END_TEST

START_TEST(names_are_listed)
{
    static const struct setting three[] = {{.name = "hello"}, {.name = "dead"}, {.name = "hold"}, {.name = NULL}};
    char names[SETTING_WHY];
    setting_names(three, names);
    ck_assert_str_eq(names, "hello, dead or hold");
    setting_names(three + 2, names);
    ck_assert_str_eq(names, "hold");
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(optional_values_that_are_not_set_are_not_written),
    SUITE_TEST(what_is_expected_is_said),
    SUITE_TEST(names_are_listed),
};
SUITE_MAIN("setting_text", tests)
