/* SPDX-License-Identifier: Apache-2.0 */
/* test_setting.c - each kind of value: read, refused, and written back as what was read. */
#include "setting/setting.h"

#include "setting_kinds.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static int read_one(const char *name, const char *text, struct all *all)
{
    return setting_read(of(name), text, strlen(text), all);
}

START_TEST(what_is_read_is_written)
{
    static const struct {
        const char *name, *text, *again;
    } rows[] = {
        {"text", "abc", "abc"},
        {"text", "1234567", "1234567"},
        {"count", "2", "2"},
        {"count", "2k", "2000"},
        {"byte", "255", "255"},
        {"port", "65535", "65535"},
        {"large", "10k", "10000"},
        {"bytes", "3", "3"},
        {"digits", "10", "10"},
        {"hex", "0x88b5", "0x88b5"},
        {"hex", "0x88B5", "0x88b5"},
        {"hex", "34997", "0x88b5"},
        {"mode", "0660", "0660"},
        {"mode", "777", "0777"},
        {"ppm", "1%", "1%"},
        {"ratio", "-0.5", "-0.5"},
        {"range", "3..7", "3..7"},
        {"range", "7", "7..7"},
        {"seed", "18446744073709551615", "18446744073709551615"},
        {"rate", "10gbit", "10gbit"},
        {"span", "10ms", "10ms"},
        {"plain", "10ms", "10ms"},
        {"plain", "0.5s", "500ms"},
        {"plain", "0", "0ns"},
        {"truth", "yes", "true"},
        {"truth", "off", "false"},
        {"word", "green", "green"},
        {"dims", "3x4x5", "3x4x5"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct all all;
        char text[SETTING_VALUE] = "";
        memset(&all, 0, sizeof all);
        int rc = read_one(rows[i].name, rows[i].text, &all);
        ck_assert_msg(rc == 0, "%s = %s: %d", rows[i].name, rows[i].text, rc);
        ck_assert(setting_write(of(rows[i].name), &all, text));
        ck_assert_str_eq(text, rows[i].again);
    }
}
END_TEST

START_TEST(what_is_refused_changes_nothing)
{
    static const struct {
        const char *name, *text;
        int rc;
    } rows[] = {
        {"text", "", -ERANGE},
        {"text", "12345678", -ERANGE},
        {"text", "a\nb", -EINVAL},
        {"count", "1", -ERANGE},
        {"count", "2001", -ERANGE},
        {"count", "-3", -EINVAL},
        {"count", "x", -EINVAL},
        {"byte", "256", -ERANGE},
        {"port", "0", -ERANGE},
        {"port", "65536", -ERANGE},
        {"large", "99999999999999999999", -ERANGE},
        {"digits", "1k", -EINVAL},
        {"digits", "", -EINVAL},
        {"digits", "18446744073709551616", -ERANGE},
        {"bytes", "0", -ERANGE},
        {"bytes", "65", -ERANGE},
        {"hex", "0x10000", -ERANGE},
        {"hex", "0x5ff", -ERANGE},
        {"hex", "0x", -EINVAL},
        {"hex", "12ab", -EINVAL},
        {"hex", "zz", -EINVAL},
        {"mode", "0888", -EINVAL},
        {"mode", "01777", -ERANGE},
        {"mode", "", -EINVAL},
        {"ppm", "101%", -ERANGE},
        {"ratio", "x", -EINVAL},
        {"range", "9..3", -EINVAL},
        {"range", "9.3", -EINVAL},
        {"seed", "-1", -EINVAL},
        {"seed", "18446744073709551616", -ERANGE},
        {"rate", "10", -EINVAL},
        {"rate", "999bit", -ERANGE},
        {"span", "2s", -ERANGE},
        {"span", "999ns", -ERANGE},
        {"span", "5", -EINVAL},
        {"plain", "-5", -EINVAL},
        {"plain", "2", -EINVAL},  /* two what? */
        {"plain", "5m", -EINVAL}, /* neither milliseconds nor minutes */
        {"plain", "", -EINVAL},
        {"truth", "1", -EINVAL},
        {"word", "gree", -EINVAL},
        {"dims", "3x4", -EINVAL},
        {"dims", "3x4x257", -ERANGE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct all all, before;
        memset(&all, 0, sizeof all);
        before = all;
        int rc = read_one(rows[i].name, rows[i].text, &all);
        ck_assert_msg(rc == rows[i].rc, "%s = %s: %d", rows[i].name, rows[i].text, rc);
        ck_assert_mem_eq(&all, &before, sizeof all);
    }
}
END_TEST

START_TEST(a_number_counts_its_unit)
{
    struct all all;
    ck_assert_int_eq(read_one("bytes", "64", &all), 0);
    ck_assert_uint_eq(all.bytes, 64 << 20);
}
END_TEST

START_TEST(words_that_were_perhaps_meant)
{
    ck_assert_str_eq(setting_nearest_value(of("word"), "gren", 4), "green");
    ck_assert_str_eq(setting_nearest_value(of("truth"), "ture", 4), "true");
    ck_assert_ptr_null(setting_nearest_value(of("word"), "purple", 6));
    ck_assert_ptr_null(setting_nearest_value(of("count"), "1o", 2));
}
END_TEST

struct pairs {
    const char *const (*pair)[2];
    unsigned asked;
};

static const char *get(void *context, const char *name)
{
    struct pairs *p = context;
    p->asked++;
    for (size_t i = 0; p->pair[i][0] != NULL; i++) {
        if (strcmp(p->pair[i][0], name) == 0) {
            return p->pair[i][1];
        }
    }
    return NULL;
}

START_TEST(a_table_is_read_whole)
{
    static const char *const good[][2] = {{"count", "5"}, {"word", "blue"}, {"other", "x"}, {NULL, NULL}};
    static const char *const bad[][2] = {
        {"count", "5"}, {"ppm", "101%"}, {"word", "white"}, {"byte", "7"}, {NULL, NULL}};
    struct all all;
    char why[SETTING_WHY];
    unsigned count = 0;
    for (; settings[count].name != NULL; count++) {
    }
    memset(&all, 0, sizeof all);
    struct pairs p = {good, 0};
    ck_assert_int_eq(setting_read_table(settings, &all, get, &p, why), 0);
    ck_assert_uint_eq(p.asked, count);
    ck_assert_uint_eq(all.count, 5);
    ck_assert_int_eq(all.word, 2);
    p = (struct pairs){bad, 0};
    ck_assert_int_eq(setting_read_table(settings, &all, get, &p, why), -EINVAL);
    ck_assert_uint_eq(p.asked, count);
    ck_assert_uint_eq(all.byte, 7);
    ck_assert_str_eq(why, "ppm = \"101%\": expected a share from 0 to 100%, as 5% or 200ppm");
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(what_is_read_is_written),  SUITE_TEST(what_is_refused_changes_nothing),
    SUITE_TEST(a_number_counts_its_unit), SUITE_TEST(words_that_were_perhaps_meant),
    SUITE_TEST(a_table_is_read_whole),
};
SUITE_MAIN("setting", tests)
