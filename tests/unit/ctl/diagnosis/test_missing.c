/* SPDX-License-Identifier: Apache-2.0 */
/* test_missing.c - a server that did not answer is counted out, and named by some finding. */
#include "ctl/diagnosis/missing.h"

#include "ctl/diagnosis/diagnosis.h"
#include "suite.h"

#include <string.h>

static struct rows rows;

static struct message *add(const char *part, const char *server, const char *field)
{
    struct message *m = message_open();
    if (part[0] != '\0') {
        message_text(m, "part", part);
    }
    message_text(m, "server", server);
    if (field[0] != '\0') {
        message_integer(m, field, 1);
    }
    rows_add(&rows, m);
    return m;
}

static struct message *add_finding(int severity, const char *cause, const char *server, const char *expected)
{
    struct message *m = add("finding", server, "");
    message_integer(m, "severity", severity);
    message_text(m, "cause", cause);
    message_text(m, "expected", expected);
    message_text(m, "text", "t");
    message_text(m, "do", "d");
    return m;
}

static void add_sum(int asked, int servers)
{
    struct message *m = message_open();
    message_integer(m, "asked", asked);
    message_integer(m, "servers", servers);
    rows_add(&rows, m);
}

static const char *text_of(const char *field)
{
    ck_assert_uint_ge(rows.count, 1);
    return message_get_text(rows.row[0], field, "");
}

START_TEST(who_answered_is_counted)
{
    add("about", "0,0,0", "");
    ck_assert_int_eq(missing_count(&rows).servers, 1);
    ck_assert_str_eq(missing_count(&rows).server, "0,0,0");
    add("about", "1,0,0", "");
    add("", "2,0,0", "unanswered");
    ck_assert(!missing_meanwhile(&rows));
    message_integer(add("", "3,0,0", "unanswered"), "away", 1);
    ck_assert(missing_meanwhile(&rows));
    add_sum(4, 8);
    ck_assert_int_eq(missing_count(&rows).servers, 8);
    ck_assert_int_eq(missing_count(&rows).answered, 2);
    ck_assert_str_eq(missing_count(&rows).server, "");
    rows_clear(&rows);
}
END_TEST

START_TEST(nobody_passes_for_well)
{
    add("about", "0,0,0", "");
    message_integer(add("", "1,0,0", "unanswered"), "away", 1);
    add_sum(2, 2);
    diagnose(&rows);
    ck_assert_uint_eq(rows.count, 1);
    ck_assert_str_eq(text_of("cause"), "unanswered");
    ck_assert_str_eq(text_of("server"), "1,0,0");
    ck_assert_int_eq(message_get_integer(rows.row[0], "severity", 0), 2);
    ck_assert_str_eq(text_of("do"), "on 1,0,0: cwctl doctor");
    rows_clear(&rows);
    /* Whoever answers when asked by itself is not missing. */
    add("", "1,0,0", "unasked");
    add("about", "1,0,0", "");
    diagnose(&rows);
    ck_assert_uint_eq(rows.count, 0);
    /* Several are one finding; 1,0,0 is not 11,0,0. */
    add("about", "0,0,0", "");
    add("about", "0,1,0", "");
    add("", "1,0,0", "unasked");
    add("", "1,0,1", "unasked");
    add_finding(2, "server-down", "0,0,0", "11,0,0");
    diagnose(&rows);
    ck_assert_uint_eq(rows.count, 2);
    ck_assert_str_eq(text_of("text"),
                     "2 servers are out of view and did not answer, and no other server tells of them yet: they stand "
                     "still, or have just died, left or begun: 1,0,0 1,0,1");
    ck_assert_str_eq(text_of("server"), "");
    rows_clear(&rows);
    /* Servers of one process that failed, as told to: the daemon knows, when the others have not missed them yet. */
    add("about", "0,0,0", "");
    add("about", "0,1,0", "");
    message_flag(add("", "1,0,0", "unasked"), "failed", true);
    message_flag(add("", "1,0,1", "unasked"), "failed", true);
    diagnose(&rows);
    ck_assert_uint_eq(rows.count, 1);
    ck_assert_str_eq(text_of("text"), "2 servers of this process failed, as told to (cwctl fail), and no other server "
                                      "has missed them yet: 1,0,0 1,0,1");
    ck_assert_str_eq(text_of("do"), "cwctl --server 1,0,0 restore, and so each of these; cwctl doctor --all once more "
                                    "in a second");
    rows_clear(&rows);
}
END_TEST

START_TEST(who_is_told_of_is_not_told_again)
{
    add("", "1,0,0", "unasked");
    add("", "2,0,0", "unasked");
    add("about", "0,0,0", "");
    add("about", "0,1,0", "");
    add_finding(4, "left", "0,0,0", "1,0,0");
    message_text(add_finding(1, "no-majority", "0,0,0", ""), "text", "; these are away: 3,0,0 2,0,0");
    diagnose(&rows);
    ck_assert_uint_eq(rows.count, 2);
    rows_clear(&rows);
    /* That a link went down lately, and is up again, says nothing of who is away now. */
    add("", "1,0,0", "unasked");
    message_text(add_finding(3, "flapping", "0,0,0", "1,0,0"), "text", "the link +x to 1,0,0 went down");
    diagnose(&rows);
    ck_assert_uint_eq(rows.count, 2);
    rows_clear(&rows);
    /* Who reaches nobody says why, once. */
    add("", "1,0,0", "unasked");
    add("about", "0,0,0", "");
    add_finding(2, "cluster", "0,0,0", "2,0,0");
    diagnose(&rows);
    ck_assert_uint_eq(rows.count, 1);
    rows_clear(&rows);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(who_answered_is_counted), SUITE_TEST(nobody_passes_for_well),
                                          SUITE_TEST(who_is_told_of_is_not_told_again)};
SUITE_MAIN("missing", tests)
