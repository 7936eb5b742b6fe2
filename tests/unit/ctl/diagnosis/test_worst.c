/* SPDX-License-Identifier: Apache-2.0 */
/* test_worst.c - findings in the order in which they should be mended. */
#include "ctl/diagnosis/worst.h"

#include "suite.h"

#include <stdlib.h>

static struct rows rows;

static void add(int severity, const char *cause, const char *server, int64_t loss_ppm)
{
    struct message *m = message_open();
    message_integer(m, "severity", severity);
    message_text(m, "cause", cause);
    message_text(m, "server", server);
    if (loss_ppm > 0) {
        message_integer(m, "loss_ppm", loss_ppm);
    }
    rows_add(&rows, m);
}

static void expect(const char *const *servers, size_t count)
{
    worst_first(&rows);
    ck_assert_uint_eq(rows.count, count);
    for (size_t i = 0; i < count; i++) {
        ck_assert_str_eq(message_get_text(rows.row[i], "server", "?"), servers[i]);
    }
    rows_clear(&rows);
}

START_TEST(by_what_is_lost)
{
    static const char *const servers[] = {"2,2,2", "1,1,1", "1,0,0", "0,1,0", "1,1,0", "0,0,2", "0,0,1"};
    add(2, "interface-down", "0,1,0", 0);
    add(2, "mtu", "1,0,0", 0);
    add(3, "lossy", "0,0,1", 19000);
    add(3, "lossy", "1,1,0", 500000);
    add(2, "server-down", "1,1,1", 0);
    add(2, "twin", "2,2,2", 0);
    add(3, "lossy", "0,0,2", 200000);
    expect(servers, sizeof servers / sizeof *servers);
}
END_TEST

START_TEST(what_many_say_and_what_nobody_knows)
{
    static const char *const servers[] = {"1,1,1", "", "0,0,2", "0,0,1", "0,0,0"};
    add(4, "left", "0,0,0", 0);
    add(3, "some new cause", "0,0,1", 0);
    add(3, "restarts", "0,0,2", 0);
    add(3, "waited", "", 0);
    add(1, "fenced", "1,1,1", 0);
    expect(servers, sizeof servers / sizeof *servers);
    worst_first(&rows);
    ck_assert_uint_eq(rows.count, 0);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(by_what_is_lost), SUITE_TEST(what_many_say_and_what_nobody_knows)};
SUITE_MAIN("worst", tests)
