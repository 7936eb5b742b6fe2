/* SPDX-License-Identifier: Apache-2.0 */
/*
 * suite.h - main() of a Check program: one test case a file, run in forked children unless CK_FORK=no.
 *
 *     static const struct suite_test tests[] = {SUITE_TEST(name), ...};
 *     SUITE_MAIN("torus", tests)
 */
#ifndef KIT_SUITE_H
#define KIT_SUITE_H

#include <check.h>
#include <stdlib.h>

struct suite_test {
    const TTest **test; /* START_TEST(x) defines x as a pointer variable */
};

#define SUITE_TEST(name) \
    {                    \
        &name            \
    }

static inline int suite_run(const char *name, const struct suite_test *tests, size_t count)
{
    Suite *suite = suite_create(name);
    TCase *tcase = tcase_create(name);
    tcase_set_timeout(tcase, 0); /* CTest holds the clock */
    for (size_t i = 0; i < count; i++) {
        tcase_add_test(tcase, *tests[i].test);
    }
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#define SUITE_MAIN(name, tests)                                         \
    int main(void)                                                      \
    {                                                                   \
        return suite_run(name, tests, sizeof(tests) / sizeof *(tests)); \
    }

#endif
