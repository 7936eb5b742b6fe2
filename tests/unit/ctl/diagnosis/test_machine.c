/* SPDX-License-Identifier: Apache-2.0 */
/* test_machine.c - servers that have no processor are one finding, in the place of all that follows from it. */
#include "ctl/diagnosis/machine.h"

#include "ctl/diagnosis/diagnosis.h"
#include "suite.h"

#include <string.h>

static struct rows rows;

static struct message *add(const char *part, const char *server)
{
    struct message *m = message_open();
    message_text(m, "part", part);
    message_text(m, "server", server);
    rows_add(&rows, m);
    return m;
}

static void answer(const char *server, int64_t late_ago_s)
{
    struct message *m = add("about", server);
    if (late_ago_s >= 0) {
        message_integer(m, "late_ago_s", late_ago_s);
        message_integer(m, "late_longest_ms", 80 + late_ago_s);
    }
}

static void find(int severity, const char *cause, const char *server, const char *expected)
{
    struct message *m = add("finding", server);
    message_integer(m, "severity", severity);
    message_text(m, "cause", cause);
    message_text(m, "link", "+x");
    message_text(m, "expected", expected);
    message_text(m, "expected_port", "-x");
    message_text(m, "text", cause);
    message_text(m, "do", "d");
}

static const char *text_of(size_t i, const char *field)
{
    ck_assert_uint_lt(i, rows.count);
    return message_get_text(rows.row[i], field, "");
}

START_TEST(one_busy_machine_is_one_finding)
{
    static const char *const servers[] = {"0,0,0", "0,0,1", "0,1,0"};
    for (unsigned i = 0; i < 3; i++) {
        answer(servers[i], (int64_t)i);
        find(2, "half", servers[i], servers[(i + 1) % 3]);
        find(3, "stalled", servers[i], "");
    }
    answer("1,1,1", -1);
    find(2, "half", "1,1,1", "0,0,0");
    find(2, "server-down", "1,1,1", "0,0,0");    /* which has answered */
    find(2, "server-down", "0,0,0", "1,0,1");    /* which has not */
    find(2, "interface-down", "0,0,0", "0,0,1"); /* which no load brings about */
    diagnose(&rows);
    ck_assert_uint_eq(rows.count, 3);
    ck_assert_str_eq(text_of(0, "cause"), "machine");
    ck_assert_str_eq(text_of(0, "text"),
                     "3 of 4 servers did not run when they were due in the last 30 s, for up to 82 ms (0,0,0 0,0,1 "
                     "0,1,0): their machines are too busy, or the one that they share; 8 findings about their "
                     "links follow from that, or cannot be told from it, and are left out");
    ck_assert_int_eq(message_get_integer(rows.row[0], "severity", 0), 2);
    ck_assert_str_eq(text_of(1, "cause"), "server-down");
    rows_clear(&rows);
}
END_TEST

START_TEST(cables_are_blamed_where_servers_ran)
{
    /* Two of three; three of seven; long ago; and nothing has come of it. */
    static const struct {
        int64_t late[7];
        unsigned answer, half;
    } cases[] = {{{1, 1, -1}, 3, 1}, {{1, 1, 1, -1, -1, -1, -1}, 7, 1}, {{31, 40, 50}, 3, 1}, {{1, 1, 1}, 3, 0}};
    static const char *const servers[] = {"0,0,0", "0,0,1", "0,1,0", "0,1,1", "1,0,0", "1,0,1", "1,1,0"};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        for (unsigned i = 0; i < cases[c].answer; i++) {
            answer(servers[i], cases[c].late[i]);
        }
        if (cases[c].half > 0) {
            find(2, "half", "0,0,0", "0,0,1");
        }
        diagnose(&rows);
        ck_assert_uint_eq(rows.count, cases[c].half);
        ck_assert(rows.count == 0 || strcmp(text_of(0, "cause"), "half") == 0);
        rows_clear(&rows);
    }
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(one_busy_machine_is_one_finding),
                                          SUITE_TEST(cables_are_blamed_where_servers_ran)};
SUITE_MAIN("machine", tests)
