/* SPDX-License-Identifier: Apache-2.0 */
/* test_diagnosis_many.c - what is true of many servers, or what two say of each other, is told once. */
#include "ctl/diagnosis_many.h"

#include "suite.h"

#include <string.h>

static struct rows rows;

static void add(const char *cause, const char *server, const char *expected)
{
    struct message *m = message_open();
    message_text(m, "cause", cause);
    message_text(m, "server", server);
    message_text(m, "expected", expected);
    rows_add(&rows, m);
}

static void expect(size_t i, const char *cause, const char *server)
{
    ck_assert_uint_lt(i, rows.count);
    ck_assert_str_eq(message_get_text(rows.row[i], "cause", ""), cause);
    ck_assert_str_eq(message_get_text(rows.row[i], "server", ""), server);
}

START_TEST(one_machine)
{
    add("stalled", "0,0,0", "");
    add("lossy", "0,0,0", "");
    add("stalled", "0,0,1", "");
    diagnose_many(&rows);
    ck_assert_uint_eq(rows.count, 3); /* two may be two causes */
    add("stalled", "0,1,0", "");
    diagnose_many(&rows);
    ck_assert_uint_eq(rows.count, 2);
    expect(0, "stalled", "");
    expect(1, "lossy", "0,0,0");
    ck_assert_ptr_nonnull(strstr(message_get_text(rows.row[0], "text", ""), "3 servers stood still"));
    ck_assert_ptr_nonnull(strstr(message_get_text(rows.row[0], "text", ""), "(0,0,0 0,0,1 0,1,0)"));
    rows_clear(&rows);
}
END_TEST

START_TEST(one_majority)
{
    add("no-majority", "0,0,0", "");
    diagnose_many(&rows);
    expect(0, "no-majority", "0,0,0"); /* it alone was asked */
    add("no-majority", "0,0,1", "");
    diagnose_many(&rows);
    ck_assert_uint_eq(rows.count, 1);
    expect(0, "no-majority", "");
    rows_clear(&rows);
}
END_TEST

START_TEST(two_of_one_id)
{
    add("same-id", "1,1,0", "1,1,1");
    add("same-id", "1,1,1", "1,1,0");
    add("same-id", "0,1,1", "0,0,1");
    diagnose_many(&rows);
    ck_assert_uint_eq(rows.count, 2);
    expect(0, "same-id", "1,1,0");
    expect(1, "same-id", "0,1,1");
    rows_clear(&rows);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(one_machine),
    SUITE_TEST(one_majority),
    SUITE_TEST(two_of_one_id),
};
SUITE_MAIN("diagnosis_many", tests)
