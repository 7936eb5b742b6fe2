/* SPDX-License-Identifier: Apache-2.0 */
/* test_finding.c - fields of findings: compared, set, cut; and findings that are left out. */
#include "ctl/diagnosis/finding.h"

#include "suite.h"

#include <string.h>

START_TEST(fields_are_compared)
{
    static const char *const some[] = {"half", "deaf", NULL}, *const others[] = {"mtu", NULL};
    struct message *a = message_open(), *b = message_open();
    message_text(a, "cause", "deaf");
    message_text(a, "server", "0,0,0");
    message_text(a, "link", "+x");
    message_text(b, "expected", "0,0,0");
    message_text(b, "expected_port", "+x");
    ck_assert(finding_is(a, "cause", "deaf") && !finding_is(a, "cause", "half") && finding_is(b, "cause", ""));
    ck_assert(finding_is_any(a, "cause", some) && !finding_is_any(a, "cause", others));
    ck_assert(finding_same(a, "server", b, "expected") && !finding_same(a, "server", b, "expected_port"));
    ck_assert(!finding_same(a, "no", b, "no")); /* what neither has is not the same */
    ck_assert(finding_same_end(a, "server", "link", b, "expected", "expected_port"));
    ck_assert(!finding_same_end(a, "server", "cause", b, "expected", "expected_port"));
    message_close(a);
    message_close(b);
}
END_TEST

START_TEST(names_are_words)
{
    ck_assert(finding_has_name("10,0,2 0,0,1", "0,0,1") && finding_has_name("0,0,1 1,1,1", "0,0,1"));
    ck_assert(!finding_has_name("10,0,1 0,0,10", "0,0,1") && !finding_has_name("", "0,0,1"));
    ck_assert(finding_has_name("0,0,1", ""));
}
END_TEST

START_TEST(a_text_is_cut)
{
    struct message *m = message_open();
    finding_put(m, "text", "%s of %d", "two", 3);
    ck_assert_str_eq(finding_text(m, "text"), "two of 3");
    finding_put(m, "text", "%0700d", 7);
    ck_assert_uint_eq(strlen(finding_text(m, "text")), 599);
    message_close(m);
}
END_TEST

START_TEST(what_is_left_out_keeps_its_place)
{
    struct rows rows = {NULL, 0, 0};
    for (int i = 0; i < 3; i++) {
        struct message *m = message_open();
        finding_put(m, "cause", "%d", i);
        rows_add(&rows, m);
    }
    findings_drop(&rows, 1);
    ck_assert_uint_eq(rows.count, 3);
    ck_assert_ptr_null(rows.row[1]);
    findings_close_ranks(&rows);
    ck_assert_uint_eq(rows.count, 2);
    ck_assert_str_eq(finding_text(rows.row[1], "cause"), "2");
    rows_clear(&rows);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(fields_are_compared),
    SUITE_TEST(names_are_words),
    SUITE_TEST(a_text_is_cut),
    SUITE_TEST(what_is_left_out_keeps_its_place),
};
SUITE_MAIN("finding", tests)
