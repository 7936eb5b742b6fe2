/* SPDX-License-Identifier: Apache-2.0 */
/* test_falls.c - links that fell once are one note, and none when something else says why. */
#include "ctl/diagnosis/falls.h"

#include "suite.h"

#include <stdlib.h>
#include <string.h>

static struct rows rows;

/* Fields as "name=value;name=value". */
static void add(const char *fields)
{
    char text[400], *save = NULL;
    struct message *m = message_open();
    snprintf(text, sizeof text, "%s", fields);
    for (char *f = strtok_r(text, ";", &save); f != NULL; f = strtok_r(NULL, ";", &save)) {
        char *value = strchr(f, '=');
        *value++ = '\0';
        if (strcmp(f, "times") == 0 || strcmp(f, "ago_s") == 0) {
            message_integer(m, f, atoi(value));
        } else {
            message_text(m, f, value);
        }
    }
    rows_add(&rows, m);
}

static void begin(unsigned servers)
{
    rows_clear(&rows);
    for (unsigned i = 0; i < servers; i++) {
        add("part=about;server=9,9,9");
    }
}

static const char *found(const char *field)
{
    diagnose_falls(&rows);
    const struct message *m = rows.row[rows.count - 1];
    return strcmp(message_get_text(m, "part", ""), "finding") == 0 ? message_get_text(m, field, "") : "no finding";
}

#define NEAR "part=fell;server=0,0,0;link=+x;expected=1,0,0;expected_port=-x;times=1;ago_s=12"
#define FAR "part=fell;server=1,0,0;link=-x;expected=0,0,0;expected_port=+x;times=1;ago_s=12"

START_TEST(both_ends_are_one_link)
{
    begin(2);
    add(NEAR);
    add(FAR);
    ck_assert_str_eq(found("text"), "1 link went down lately, too seldom to say why, and is up now: +x of 0,0,0 to "
                                    "1,0,0 (once, last 12s ago)");
    const struct message *m = rows.row[rows.count - 1];
    ck_assert_str_eq(message_get_text(m, "cause", ""), "fell-once");
    ck_assert_str_eq(message_get_text(m, "server", ""), "0,0,0");
    ck_assert_str_eq(message_get_text(m, "link", ""), "+x");
    ck_assert_int_eq(message_get_integer(m, "severity", 0), 4);
    rows_clear(&rows);
}
END_TEST

START_TEST(many_links_are_one_note)
{
    begin(9);
    add(NEAR);
    for (unsigned i = 2; i < 8; i++) {
        char text[120];
        snprintf(text, sizeof text,
                 "part=fell;server=0,0,%u;link=+y;expected=0,1,%u;expected_port=-y;times=%u;ago_s=61", i, i, i);
        add(text);
    }
    const char *text = found("text");
    ck_assert_msg(strstr(text, "7 links went down lately, too seldom to say why, and are up now: +x of 0,0,0") == text,
                  "%s", text);
    ck_assert_msg(strstr(text, ", +y of 0,0,2 to 0,1,2 (2 times, last 61s ago)") != NULL, "%s", text);
    ck_assert_msg(strstr(text, "(4 times, last 61s ago) and 3 more") != NULL, "%s", text);
    rows_clear(&rows);
}
END_TEST

/* What has another cause is not told again; one server that was asked alone tells nothing. */
START_TEST(what_is_explained_is_left_out)
{
    static const char *const reasons[] = {
        "part=finding;cause=stalled;server=1,0,0",
        "part=finding;cause=stalled;server=0,0,0",
        "part=finding;cause=restarts;server=0,1,0;expected=1,0,0",
        "part=finding;cause=lossy;server=1,0,0;link=-x;expected=0,0,0",
        "part=switched;server=1,0,0;link=-x",
    };
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        begin(2);
        add(reasons[i]);
        add(NEAR);
        ck_assert_str_eq(found("text"), "no finding");
    }
    begin(2);
    add("part=finding;cause=lossy;server=1,0,0;link=+y;expected=1,1,0");
    add(NEAR);
    ck_assert_str_eq(found("cause"), "fell-once");
    begin(1);
    add(NEAR);
    ck_assert_str_eq(found("text"), "no finding");
    rows_clear(&rows);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(both_ends_are_one_link),
    SUITE_TEST(many_links_are_one_note),
    SUITE_TEST(what_is_explained_is_left_out),
};
SUITE_MAIN("diagnosis_falls", tests)
