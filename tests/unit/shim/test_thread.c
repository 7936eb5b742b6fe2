/* SPDX-License-Identifier: Apache-2.0 */
/* test_thread.c - a thread takes no signals but those of a crash. */
#include "shim/thread.h"
#include "suite.h"

#include <signal.h>
#include <unistd.h>

static void *look(void *context)
{
    pthread_sigmask(SIG_SETMASK, NULL, context);
    return context;
}

START_TEST(signals_are_the_loops)
{
    static const int theirs[] = {SIGTERM, SIGINT, SIGHUP, SIGCHLD, SIGUSR1, SIGALRM, SIGPIPE};
    static const int own[] = {SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE, SIGSYS};
    sigset_t inside, before, after;
    pthread_t thread;
    void *end;
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    ck_assert_int_eq(thread_start(&thread, look, &inside), 0);
    ck_assert_int_eq(pthread_join(thread, &end), 0);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    ck_assert_ptr_eq(end, &inside);
    for (unsigned i = 0; i < sizeof theirs / sizeof *theirs; i++) {
        ck_assert_int_eq(sigismember(&inside, theirs[i]), 1);
        ck_assert_int_eq(sigismember(&after, theirs[i]), sigismember(&before, theirs[i]));
    }
    for (unsigned i = 0; i < sizeof own / sizeof *own; i++) {
        ck_assert_int_eq(sigismember(&inside, own[i]), 0);
    }
}
END_TEST

static void heard(int number)
{
    (void)number;
    _exit(0);
}

static void *crash(void *context)
{
    raise(SIGSEGV);
    return context;
}

/* The process would be killed by it, were it blocked there. */
START_TEST(a_crash_reaches_the_handler)
{
    pthread_t thread;
    signal(SIGSEGV, heard);
    ck_assert_int_eq(thread_start(&thread, crash, NULL), 0);
    pthread_join(thread, NULL);
    ck_abort_msg("the signal was not heard");
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(signals_are_the_loops), SUITE_TEST(a_crash_reaches_the_handler)};
SUITE_MAIN("thread", tests)
