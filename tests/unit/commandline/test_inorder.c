/* SPDX-License-Identifier: Apache-2.0 */
/* test_inorder.c - lines wait for those that are older, not for ever, and what comes after a younger one is late. */
#include "commandline/inorder.h"

#include "suite.h"

#include <stdlib.h>
#include <string.h>

static char said[4000];

/* "text" or, when it is late, "text!"; with a space before each. */
static void say(void *context, void *line, bool late)
{
    (void)context;
    size_t used = strlen(said);
    snprintf(said + used, sizeof said - used, " %s%s", (const char *)line, late ? "!" : "");
}

static const char *give(struct inorder *o, int64_t until_us, int64_t patience_ms)
{
    said[0] = '\0';
    inorder_give(o, until_us, cw_time_add((cw_time){0}, CW_MS(patience_ms)), say, NULL);
    return said;
}

static void add(struct inorder *o, int64_t at_us, int64_t heard_ms, const char *line)
{
    inorder_add(o, at_us, cw_time_add((cw_time){0}, CW_MS(heard_ms)), (void *)(uintptr_t)line);
}

START_TEST(each_waits_for_those_that_are_older)
{
    struct inorder *o = inorder_open();
    ck_assert_str_eq(give(o, INT64_MAX, 0), "");
    add(o, 30, 1, "b30");
    add(o, 10, 1, "b10");
    add(o, 10, 1, "c10");
    add(o, 20, 1, "c20");
    ck_assert_str_eq(give(o, 20, 0), " b10 c10 c20");
    add(o, 25, 2, "a25"); /* its source was read after that of b30 */
    ck_assert_str_eq(give(o, 40, 0), " a25 b30");
    add(o, 30, 3, "c30"); /* as old as the last one */
    add(o, 29, 3, "a29");
    add(o, 31, 3, "a31");
    ck_assert_str_eq(give(o, 40, 0), " a29! c30 a31");
    inorder_close(o, NULL);
}
END_TEST

START_TEST(but_not_for_ever)
{
    struct inorder *o = inorder_open();
    add(o, 900, 10, "ahead"); /* the clock of its source is ahead */
    add(o, 100, 20, "a100");
    ck_assert_str_eq(give(o, 50, 10), "");
    ck_assert_str_eq(give(o, 60, 11), " a100 ahead");
    add(o, 200, 30, "a200");
    add(o, 901, 30, "more");
    ck_assert_str_eq(give(o, 300, 12), " a200!");
    ck_assert_str_eq(give(o, INT64_MAX, 12), " more");
    inorder_close(o, NULL);
}
END_TEST

static unsigned dropped;

static void drop(void *line)
{
    (void)line;
    dropped++;
}

START_TEST(the_latest_ones)
{
    struct inorder *o = inorder_open();
    for (int i = 0; i < 100; i++) {
        add(o, 100 - i, 0, i == 1 ? "99" : i == 0 ? "100" : "older");
    }
    inorder_keep(o, 200, drop);
    ck_assert_uint_eq(dropped, 0);
    inorder_keep(o, 3, drop);
    ck_assert_uint_eq(dropped, 97);
    ck_assert_str_eq(give(o, 99, 0), " older 99");
    inorder_close(o, drop);
    ck_assert_uint_eq(dropped, 98);
}
END_TEST

/*
 * Against something too simple to be wrong: what is given, in all, is what was added; a line is late exactly when a
 * younger one was given before; and none is given before its time unless it waited too long.
 */
START_TEST(whatever_comes)
{
    enum { LINES = 2000 };
    static int64_t at[LINES];
    static char text[LINES][8];
    struct inorder *o = inorder_open();
    int64_t youngest = INT64_MIN;
    size_t given = 0;
    srand(14);
    for (unsigned i = 0; i < LINES; i++) {
        at[i] = (int64_t)i * 10 + rand() % 300;
        snprintf(text[i], sizeof text[i], "%u", i);
        add(o, at[i], i, text[i]);
        if (i % 50 == 49) {
            const char *word = give(o, (int64_t)i * 10 - 100, i - 40);
            for (char *end; *word != '\0'; word = end) {
                unsigned line = (unsigned)strtoul(word, &end, 10);
                bool late = *end == '!';
                SUITE_HOLDS(late == (at[line] < youngest));
                youngest = late ? youngest : at[line];
                given++;
                end += late;
            }
        }
    }
    said[0] = '\0';
    inorder_give(o, INT64_MAX, (cw_time){0}, say, NULL);
    for (const char *c = said; *c != '\0'; c++) {
        given += *c == ' ';
    }
    ck_assert_uint_eq(given, LINES);
    inorder_close(o, drop);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(each_waits_for_those_that_are_older),
    SUITE_TEST(but_not_for_ever),
    SUITE_TEST(the_latest_ones),
    SUITE_TEST(whatever_comes),
};
SUITE_MAIN("inorder", tests)
