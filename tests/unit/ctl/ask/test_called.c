/* SPDX-License-Identifier: Apache-2.0 */
/* test_called.c - a daemon is found by its own name, whatever its socket is called. */
#include "ctl/ask/called.h"

#include "../fake_daemon.h"
#include "suite.h"

#include <errno.h>

static const char says[] = "{\"id\":1,\"row\":{\"name\":\"left-rack\",\"server\":\"0,0,1\"}}\n"
                           "{\"id\":1,\"done\":true,\"rc\":0}\n";

static int find(const char *name, const char *const answer[], int linger, char path[static 80])
{
    struct fake_daemon d;
    struct find_result found = {.path = ""};
    fake_daemon_start(&d, answer, linger);
    const struct find_wish wish = {.node = name, .folder = {d.folder}};
    int rc = called_find(&wish, &found);
    snprintf(path, 80, "%s", rc == 0 && strcmp(found.path, d.path) == 0 ? "its own" : "");
    fake_daemon_end(&d);
    return rc;
}

START_TEST(by_its_own_name)
{
    char path[80];
    ck_assert_int_eq(find("left-rack", (const char *const[]){says, NULL}, 1, path), 0);
    ck_assert_str_eq(path, "its own");
    ck_assert_int_eq(find("0,0,1", (const char *const[]){says, NULL}, 1, path), 0);
    ck_assert_int_eq(find("0,0,0", (const char *const[]){says, NULL}, 1, path), -ENOENT);
}
END_TEST

START_TEST(who_says_nothing_is_not_waited_for)
{
    char path[80];
    ck_assert_int_eq(find("0,0,1", (const char *const[]){NULL}, 1, path), -ENOENT);
    ck_assert_int_eq(find("0,0,1", (const char *const[]){NULL}, 0, path), -ENOENT);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(by_its_own_name), SUITE_TEST(who_says_nothing_is_not_waited_for)};
SUITE_MAIN("called", tests)
