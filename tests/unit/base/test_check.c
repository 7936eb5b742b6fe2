/* SPDX-License-Identifier: Apache-2.0 */
#include "base/check.h"
#include "suite.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FAILING_LINE = __LINE__ + 3 };
static void needs_two(int one)
{
    CHECK(one == 2);
}

static void keeps_rule(int one)
{
    CHECK_RULE(one == 2, "rule 7: one is two", "peer 12");
}

/* What broken(1) writes on standard error in a child that it aborts. */
static void message_of(void (*broken)(int one), char *text, size_t room)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        broken(1);
        _exit(0);
    }
    close(ends[1]);
    size_t size = 0;
    ssize_t got;
    while ((got = read(ends[0], text + size, room - 1 - size)) > 0) {
        size += (size_t)got;
    }
    text[size] = '\0';
    close(ends[0]);
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status));
    ck_assert_int_eq(WTERMSIG(status), SIGABRT);
}

/* A CHECK that fails aborts, and its message says where and what. */
START_TEST(failing_check_says_where)
{
    char text[512];
    message_of(needs_two, text, sizeof text);
    char where[64];
    snprintf(where, sizeof where, "test_check.c:%d", FAILING_LINE);
    ck_assert_msg(strstr(text, where) != NULL, "no %s in: %s", where, text);
    ck_assert_msg(strstr(text, "one == 2") != NULL, "no expression in: %s", text);
}
END_TEST

START_TEST(failing_rule_says_which_and_of_whom)
{
    char text[512];
    message_of(keeps_rule, text, sizeof text);
    ck_assert_msg(strstr(text, "one == 2 (rule 7: one is two; peer 12)") != NULL, "not in: %s", text);
}
END_TEST

static const char *counted(int *times, const char *text)
{
    (*times)++;
    return text;
}

/* The texts are made for a failure only. */
START_TEST(kept_rule_makes_no_text)
{
    int rules = 0, whos = 0;
    CHECK_RULE(rules == 0, counted(&rules, "rule"), counted(&whos, "who"));
    CHECK_RULE_SLOW(rules == 0, counted(&rules, "rule"), counted(&whos, "who"));
    ck_assert_int_eq(rules, 0);
    ck_assert_int_eq(whos, 0);
}
END_TEST

START_TEST(failing_check_aborts)
{
    needs_two(1);
}
END_TEST

START_TEST(passing_check_evaluates_once)
{
    int times = 0;
    CHECK(++times == 1);
    ck_assert_int_eq(times, 1);
}
END_TEST

/* Evaluated where CW_CHECK_SLOW is defined, and nowhere else. */
START_TEST(slow_check_follows_the_build)
{
    int times = 0;
    CHECK_SLOW(++times > 0);
#ifdef CW_CHECK_SLOW
    ck_assert_int_eq(times, 1);
#else
    ck_assert_int_eq(times, 0);
#endif
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(failing_check_says_where),     SUITE_TEST(failing_rule_says_which_and_of_whom),
    SUITE_TEST(kept_rule_makes_no_text),      SUITE_ABORTS(failing_check_aborts),
    SUITE_TEST(passing_check_evaluates_once), SUITE_TEST(slow_check_follows_the_build),
};
SUITE_MAIN("check", tests)
