/* SPDX-License-Identifier: Apache-2.0 */
/*
 * suite.h - main() of a Check program: one test case a file, run in forked children unless CK_FORK=no.
 *
 *     static const struct suite_test tests[] = {SUITE_TEST(name), ...};
 *     SUITE_MAIN("torus", tests)
 *
 * SUITE_ABORTS(name) is a test that passes when a CHECK stops it (SIGABRT); without forks it is left out. A program
 * that left some out (that, or Check's CK_RUN_CASE) and saw no failure is a skip, not a pass.
 */
#ifndef KIT_SUITE_H
#define KIT_SUITE_H

#include <check.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { SUITE_SKIP = 77 };

struct suite_test {
    const TTest **test; /* START_TEST(x) defines x as a pointer variable */
    int signal;         /* the signal that must end the test; 0: the test must return */
};

#define SUITE_TEST(name) \
    {                    \
        &name, 0         \
    }

#define SUITE_ABORTS(name) \
    {                      \
        &name, SIGABRT     \
    }

/*
 * Each of Check's own assertions writes its place to the parent, so that a crash can be told by the last one that held;
 * in a loop this takes longer than the loop's work. Here one does so once only. Threads of a test use SUITE_HOLDS().
 */
static inline void suite_passed(const char *file, int line)
{
    static bool known[4096];
    bool *here = &known[(unsigned)line % (sizeof known / sizeof *known)];
    if (!*here) {
        *here = true;
        _mark_point(file, line);
    }
}

#undef ck_assert_msg
#define ck_assert_msg(condition, ...)               \
    ((condition) ? suite_passed(__FILE__, __LINE__) \
                 : _ck_assert_failed(__FILE__, __LINE__, "Assertion '" #condition "' failed", __VA_ARGS__))

/* An assertion that with a message says which round failed: SUITE_HOLDS(a == b, "server %u", s). */
#define SUITE_HOLDS(condition, ...) \
    ((condition) ? (void)0 : suite_fails(__FILE__, __LINE__, #condition, " " __VA_ARGS__))

__attribute__((format(printf, 4, 5), noreturn)) static inline void suite_fails(const char *file, int line,
                                                                               const char *condition,
                                                                               const char *format, ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    ck_abort_msg("%s:%d: '%s' does not hold:%s", file, line, condition, text);
    abort();
}

static inline int suite_run(const char *name, const struct suite_test *tests, size_t count)
{
    Suite *suite = suite_create(name);
    TCase *tcase = tcase_create(name);
    tcase_set_timeout(tcase, 0); /* CTest holds the clock */
    SRunner *runner = srunner_create(suite);
    for (size_t i = 0; i < count; i++) {
        if (tests[i].signal == 0 || srunner_fork_status(runner) == CK_FORK) {
            tcase_add_test_raise_signal(tcase, *tests[i].test, tests[i].signal);
        }
    }
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    size_t ran = (size_t)srunner_ntests_run(runner);
    srunner_free(runner);
    if (failed != 0 || count == 0) {
        return EXIT_FAILURE;
    }
    if (ran < count) {
        printf("%zu of %zu tests were left out: CK_FORK or CK_RUN_... is set\n", count - ran, count);
        return SUITE_SKIP;
    }
    return EXIT_SUCCESS;
}

#define SUITE_MAIN(name, tests)                                         \
    int main(void)                                                      \
    {                                                                   \
        return suite_run(name, tests, sizeof(tests) / sizeof *(tests)); \
    }

#endif
