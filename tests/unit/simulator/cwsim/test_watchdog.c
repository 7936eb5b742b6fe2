/* SPDX-License-Identifier: Apache-2.0 */
/* test_watchdog.c - one call that lasts for too long ends the process; many that each are short do not. */
#include "simulator/cwsim/watchdog.h"

#include "suite.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static struct upcall_mark mark = {.service = "lock", .upcall = UPCALL_COMMAND};

static void rest(int ms)
{
    (void)poll(NULL, 0, ms);
}

/* The signal that ended a child which did that under a watchdog of 100 ms; 0: none did. */
static int end_of(void (*what)(void))
{
    int status;
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        (void)signal(SIGABRT, SIG_DFL);
        struct watchdog *w = watchdog_open(&mark, CW_MS(100));
        what();
        watchdog_close(w);
        _exit(w != NULL && mark.watchdog_ns == 0 ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void hang(void)
{
    rest(20 * 1000);
}

static void hurry(void)
{
    for (int i = 0; i < 150; i++) {
        mark.moves++;
        rest(2);
    }
}

static void idle(void)
{
    mark.service = NULL;
    rest(300);
}

static void nothing(void)
{
}

START_TEST(a_call_that_does_not_return)
{
    ck_assert_int_eq(end_of(hang), SIGABRT);
}
END_TEST

START_TEST(others_are_left_alone)
{
    ck_assert_int_eq(end_of(hurry), 0);
    ck_assert_int_eq(end_of(idle), 0);
    ck_assert_int_eq(end_of(nothing), 0);
    watchdog_close(NULL);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_call_that_does_not_return),
    SUITE_TEST(others_are_left_alone),
};
SUITE_MAIN("watchdog", tests)
