/* SPDX-License-Identifier: Apache-2.0 */
/* test_cut_off.c - servers that reach nobody say together which of their neighbours are to be started. */
#include "ctl/diagnosis/cut_off.h"

#include "suite.h"

#include <string.h>

static struct rows rows;

static void miss(const char *server, const char *silent)
{
    struct message *m = message_open();
    message_text(m, "part", "finding");
    message_text(m, "cause", "cut-off");
    message_text(m, "server", server);
    message_text(m, "silent", silent);
    message_integer(m, "severity", 1);
    message_text(m, "text", "t");
    message_text(m, "do", "d");
    rows_add(&rows, m);
}

static const char *text_of(size_t i, const char *field)
{
    ck_assert_ptr_nonnull(rows.row[i]);
    return message_get_text(rows.row[i], field, "");
}

/* Of 2x2x2 every second one is dead, and nobody has a neighbour. */
START_TEST(those_to_be_started_are_named)
{
    miss("0,0,0", "1,0,0 0,1,0 0,0,1");
    miss("0,1,1", "1,1,1 0,0,1 0,1,0");
    miss("1,0,1", "0,0,1 1,1,1 1,0,0");
    diagnose_cut_off(&rows, "0,0,0 0,1,1 1,0,1");
    ck_assert_str_eq(text_of(0, "text"),
                     "0,0,0 0,1,1 1,0,1 reach no other server: of their neighbours nobody is heard, and none has "
                     "answered: 1,0,0 0,1,0 0,0,1 1,1,1; a server beside one of these has a neighbour again once it "
                     "runs");
    ck_assert_str_eq(text_of(0, "server"), "");
    ck_assert_str_eq(text_of(0, "start"), "1,0,0 0,1,0 0,0,1 1,1,1");
    ck_assert_str_eq(text_of(0, "do"), "systemctl start cubewayd on these 4: 1,0,0 0,1,0 0,0,1 1,1,1");
    ck_assert_ptr_null(rows.row[1]);
    ck_assert_ptr_null(rows.row[2]);
    rows_clear(&rows);
}
END_TEST

START_TEST(one_that_all_miss)
{
    miss("0,0,0", "1,0,0");
    miss("2,0,0", "1,0,0");
    diagnose_cut_off(&rows, "0,0,0 2,0,0");
    ck_assert_str_eq(text_of(0, "do"), "on 1,0,0: systemctl start cubewayd");
    rows_clear(&rows);
}
END_TEST

/* By itself it may have lost its cables. */
START_TEST(one_alone_accuses_nobody)
{
    miss("0,0,0", "1,0,0 0,1,0");
    diagnose_cut_off(&rows, "0,0,0");
    ck_assert_str_eq(text_of(0, "text"), "t");
    diagnose_cut_off(&rows, NULL);
    ck_assert_str_eq(text_of(0, "do"), "d");
    rows_clear(&rows);
}
END_TEST

/* A neighbour that has answered lives: it is not to be started. */
START_TEST(who_has_answered_lives)
{
    miss("0,0,0", "1,0,0 0,1,0");
    miss("1,1,0", "2,1,0");
    miss("2,2,0", "2,1,0");
    diagnose_cut_off(&rows, "0,0,0 1,0,0 1,1,0 2,2,0");
    ck_assert_str_eq(text_of(0, "text"),
                     "0,0,0 reaches no other server, and hears nothing from 1,0,0, though that one has answered: it "
                     "stood still a moment ago, or its cables are out; not heard, either: 0,1,0");
    ck_assert_str_eq(text_of(0, "do"), "on 0,0,0: cwctl links; here again in some seconds");
    ck_assert_str_eq(text_of(1, "start"), "2,1,0");
    ck_assert_ptr_null(rows.row[2]);
    rows_clear(&rows);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(those_to_be_started_are_named), SUITE_TEST(one_that_all_miss),
                                          SUITE_TEST(one_alone_accuses_nobody), SUITE_TEST(who_has_answered_lives)};
SUITE_MAIN("cut_off", tests)
