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

/* A CHECK that fails aborts, and its message says where and what. */
START_TEST(failing_check_says_where)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        needs_two(1);
        _exit(0);
    }
    close(ends[1]);
    char text[512] = "";
    size_t size = 0;
    ssize_t got;
    while ((got = read(ends[0], text + size, sizeof text - 1 - size)) > 0) {
        size += (size_t)got;
    }
    close(ends[0]);
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    char where[64];
    snprintf(where, sizeof where, "test_check.c:%d", FAILING_LINE);
    ck_assert_msg(strstr(text, where) != NULL, "no %s in: %s", where, text);
    ck_assert_msg(strstr(text, "one == 2") != NULL, "no expression in: %s", text);
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
    SUITE_TEST(failing_check_says_where),
    SUITE_ABORTS(failing_check_aborts),
    SUITE_TEST(passing_check_evaluates_once),
    SUITE_TEST(slow_check_follows_the_build),
};
SUITE_MAIN("check", tests)
