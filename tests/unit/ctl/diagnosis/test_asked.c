/* SPDX-License-Identifier: Apache-2.0 */
/* test_asked.c - whoever has answered is not to be asked again, and its own word is the cause. */
#include "ctl/diagnosis/asked.h"

#include "suite.h"

#include <stdlib.h>

static struct rows rows;

static struct message *add(const char *part, const char *cause, const char *server, const char *expected)
{
    struct message *m = message_open();
    message_text(m, "part", part);
    message_text(m, "cause", cause);
    message_text(m, "server", server);
    message_text(m, "expected", expected);
    rows_add(&rows, m);
    return m;
}

static const char *left_of(const char *answered, const char *remedy)
{
    static char text[200];
    message_text(add("finding", "flapping", "1,0,2", ""), "do", remedy);
    diagnosis_leave_asked(&rows, answered);
    snprintf(text, sizeof text, "%s", message_get_text(rows.row[0], "do", ""));
    rows_clear(&rows);
    return text;
}

START_TEST(what_was_just_asked)
{
    ck_assert_str_eq(left_of("0,0,0 1,0,2", "on 1,0,2: cwctl doctor; ip -s link"), "on 1,0,2: ip -s link");
    ck_assert_str_eq(left_of("1,0,2", "on 1,0,2: cwctl doctor; or start a neighbour first"),
                     "on 1,0,2: start a neighbour first");
    ck_assert_str_eq(left_of("0,0,0 1,0,2", "on 1,0,2: cwctl doctor"), "on 1,0,2: cwctl events says what happened");
    ck_assert_str_eq(left_of("0,0,0 11,0,2", "on 1,0,2: cwctl doctor"), "on 1,0,2: cwctl doctor");
    ck_assert_str_eq(left_of("1,0,2", "on 1,0,2: cwctl doctor says which"), "on 1,0,2: cwctl doctor says which");
    ck_assert_str_eq(left_of("1,0,2", "on the machine at 1,0,2: cwctl doctor"),
                     "on the machine at 1,0,2: cwctl doctor");
    ck_assert_str_eq(left_of(NULL, "on 1,0,2: cwctl doctor"), "on 1,0,2: cwctl doctor");
}
END_TEST

START_TEST(who_has_answered)
{
    struct message *away = add("finding", "unreached", "1,0,0", "0,0,0");
    message_text(away, "text", "t");
    diagnosis_tell_reached(&rows, "1,0,0");
    ck_assert_str_eq(message_get_text(away, "text", ""), "t");
    diagnosis_tell_reached(&rows, "1,0,0 0,0,0");
    ck_assert_str_eq(message_get_text(away, "text", ""),
                     "0,0,0 runs, and is out of view: none of its neighbours is in view");
    ck_assert_str_eq(message_get_text(away, "do", ""), "start one of the neighbours of 0,0,0");
    rows_clear(&rows);
    add("about", "", "0,0,0", "");
    add("finding", "half", "0,0,1", "");
    add("about", "", "1,0,2", "");
    char *names = diagnosis_answered(&rows);
    ck_assert_str_eq(names, "0,0,0 1,0,2");
    free(names);
    rows_clear(&rows);
}
END_TEST

START_TEST(its_own_word)
{
    static const char *const follows[] = {"silent", "unreached", "resting", "half", "flapping"};
    const struct message *odd = add("finding", "cable", "0,0,2", "1,0,2"),
                         *other = add("finding", "half", "0,0,2", "2,0,2");
    const struct message *unanswered = add("finding", "unanswered", "1,0,2", "");
    const struct message *f[4];
    for (unsigned i = 0; i < 4; i++) {
        f[i] = add("finding", follows[i], "0,0,2", "1,0,2");
        ck_assert(!diagnosis_is_said(&rows, f[i]));
    }
    add("finding", "held", "1,0,2", "");
    for (unsigned i = 0; i < 4; i++) {
        ck_assert(diagnosis_is_said(&rows, f[i]));
    }
    ck_assert(diagnosis_is_said(&rows, unanswered));
    ck_assert(!diagnosis_is_said(&rows, odd) && !diagnosis_is_said(&rows, other));
    rows_clear(&rows);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(what_was_just_asked),
    SUITE_TEST(who_has_answered),
    SUITE_TEST(its_own_word),
};
SUITE_MAIN("diagnosis_asked", tests)
