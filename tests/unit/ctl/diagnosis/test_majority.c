/* SPDX-License-Identifier: Apache-2.0 */
/* test_majority.c - a server that lives is not called away, nor to be started, when a majority is lost. */
#include "ctl/diagnosis/majority.h"

#include "suite.h"

#include <string.h>

static struct rows rows;

static struct message *find(const char *cause, const char *server, const char *expected)
{
    struct message *m = message_open();
    message_text(m, "part", "finding");
    message_text(m, "cause", cause);
    message_text(m, "server", server);
    message_text(m, "expected", expected);
    message_integer(m, "severity", 1);
    message_text(m, "text", "t");
    message_text(m, "do", "d");
    rows_add(&rows, m);
    return m;
}

static struct message *lose(const char *server, int64_t members, const char *away, const char *start)
{
    struct message *m = find("no-majority", server, "");
    message_integer(m, "members", members);
    message_integer(m, "torus", 8);
    message_text(m, "away", away);
    message_text(m, "near", away);
    message_text(m, "left", "1,1,1");
    message_text(m, "start", start);
    return m;
}

static const char *text_of(size_t i, const char *field)
{
    return message_get_text(rows.row[i], field, "");
}

START_TEST(all_is_as_it_says)
{
    lose("0,0,0", 3, "0,0,1 0,1,0", "1,1,1 0,0,1");
    diagnose_majority(&rows, "0,0,0 0,1,1");
    ck_assert_str_eq(text_of(0, "text"), "t");
    ck_assert_str_eq(text_of(0, "do"), "d");
    rows_clear(&rows);
}
END_TEST

START_TEST(those_that_live_make_a_majority)
{
    lose("0,0,0", 3, "0,0,1 0,1,0", "0,0,1 0,1,0");
    lose("0,1,1", 2, "0,0,0 0,0,1 0,1,0", "0,0,1 0,1,0");
    find("resting", "0,0,0", "0,0,1");
    diagnose_majority(&rows, "0,0,0 0,1,0 0,1,1");
    ck_assert_str_eq(text_of(0, "cause"), "unsettled");
    ck_assert_int_eq(message_get_integer(rows.row[0], "severity", 0), 3);
    ck_assert_ptr_nonnull(strstr(text_of(0, "text"), "0,0,0 has 3 of 8 servers in view"));
    ck_assert_ptr_nonnull(strstr(text_of(0, "text"), "; but 0,0,1 0,1,0 live: views have not settled"));
    ck_assert_ptr_null(strstr(text_of(0, "do"), "start"));
    ck_assert_ptr_null(rows.row[1]); /* the same once more */
    rows_clear(&rows);
}
END_TEST

/* Its neighbours have left: that others live behind them is no contradiction. The larger part tells. */
START_TEST(parts)
{
    lose("0,0,0", 1, "0,1,1 1,0,1 1,1,0", "1,1,1");
    message_text(rows.row[0], "near", "");
    message_text(lose("0,1,1", 3, "0,0,0", "1,1,1 0,0,1"), "near", "");
    diagnose_majority(&rows, "0,0,0 0,1,1 1,0,1 1,1,0");
    ck_assert_ptr_null(rows.row[0]);
    ck_assert_str_eq(text_of(1, "cause"), "no-majority");
    ck_assert_ptr_nonnull(strstr(text_of(1, "text"), "left in order: 1,1,1; 0,0,0 lives, and is out of view"));
    rows_clear(&rows);
}
END_TEST

START_TEST(too_few_with_those_that_live)
{
    lose("0,1,1", 2, "0,0,0 0,0,1 0,1,0", "1,1,1 0,0,0 0,0,1");
    diagnose_majority(&rows, "0,0,0 0,1,1");
    ck_assert_str_eq(text_of(0, "cause"), "no-majority");
    ck_assert_str_eq(
        text_of(0, "text"),
        "2 of 8 servers are in view of 0,1,1, which is no majority: the caches of kvcache stand still; these left "
        "in order: 1,1,1; these are away: 0,0,1 0,1,0; 0,0,0 lives, and is out of view");
    ck_assert_str_eq(text_of(0, "start"), "1,1,1 0,0,1");
    ck_assert_str_eq(text_of(0, "do"), "systemctl start cubewayd on these 2, in this order: 1,1,1 0,0,1");
    rows_clear(&rows);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(all_is_as_it_says), SUITE_TEST(those_that_live_make_a_majority),
                                          SUITE_TEST(parts), SUITE_TEST(too_few_with_those_that_live)};
SUITE_MAIN("majority", tests)
