/* SPDX-License-Identifier: Apache-2.0 */
/* When a keeper has its lab's timers looked at, and that somebody looks. */
#include "testbed/vigil.h"

#include "suite.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

START_TEST(allowed)
{
    struct lab lab = {.driver = LAB_NETNS, .wanted = 0};
    ck_assert(vigil_allowed(&lab));
    lab.wanted = -1; /* --scale was given */
    ck_assert(!vigil_allowed(&lab));
    lab = (struct lab){.driver = LAB_NETNS, .torus.servers = VIGIL_SERVERS + 1}; /* too many for one answer */
    ck_assert(!vigil_allowed(&lab));
    lab = (struct lab){.driver = LAB_PROCESS};
    ck_assert(!vigil_allowed(&lab));
}
END_TEST

/* Some seconds in a row, and not again before a while has passed; never while somebody looks. */
START_TEST(glances)
{
    struct vigil v = {0};
    for (unsigned i = 1; i < VIGIL_ROW; i++) {
        ck_assert(!vigil_glance(&v, 3, 2));
    }
    ck_assert(!vigil_glance(&v, 2, 2)); /* as many as there are processors: nobody waits */
    for (unsigned i = 1; i < VIGIL_ROW; i++) {
        ck_assert(!vigil_glance(&v, 3, 2));
    }
    ck_assert(vigil_glance(&v, 3, 2));
    for (unsigned i = 1; i < VIGIL_REST; i++) {
        ck_assert(!vigil_glance(&v, 30, 2));
    }
    ck_assert(vigil_glance(&v, 30, 2));
    for (unsigned i = 1; i < 2 * VIGIL_REST; i++) { /* the next one is farther off */
        ck_assert(!vigil_glance(&v, 30, 2));
    }
    v.looker = 1;
    ck_assert(!vigil_glance(&v, 30, 2));
    v.looker = 0;
    ck_assert(vigil_glance(&v, 30, 2));
}
END_TEST

/* After a look that was held there is a minute of rest, and it is not told again. */
START_TEST(rests)
{
    struct vigil v = {.looker = 7, .next = VIGIL_REST};
    ck_assert(vigil_ended(&v, 7, 1 << 8));
    ck_assert(v.told);
    for (unsigned i = 1; i < VIGIL_HELD; i++) {
        ck_assert(!vigil_glance(&v, 30, 2));
    }
    ck_assert(vigil_glance(&v, 30, 2));
    v.looker = 7;
    ck_assert(vigil_ended(&v, 7, 2 << 8)); /* the keeper refused */
    ck_assert(!v.told && v.rest == VIGIL_HELD);
    ck_assert_uint_ge(vigil_processors(), 1);
}
END_TEST

/* This program in the place of cwlab: main() below. */
START_TEST(looks)
{
    struct vigil v = {0};
    struct lab lab = {.name = "blue", .folder = "/some/where/blue"};
    int status = -1;
    vigil_begin(&v, &lab);
    pid_t looker = v.looker;
    ck_assert_int_gt(looker, 0);
    vigil_begin(&v, &lab); /* one is on */
    ck_assert_int_eq(v.looker, looker);
    ck_assert(!vigil_ended(&v, looker + 1, 0));
    ck_assert_int_eq(waitpid(looker, &status, 0), looker);
    ck_assert_int_eq(status, 0);
    ck_assert(vigil_ended(&v, looker, status));
    ck_assert_int_eq(v.looker, 0);
    ck_assert(!vigil_ended(&v, 0, 0));
}
END_TEST

static int look(char **argv)
{
    static const char *const expected[] = {"rescale", "--name", "blue", "--if-needed", "--quiet"};
    bool right = strcmp(getenv("CWLAB_DIR"), "/some/where") == 0;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        right = right && argv[i + 1] != NULL && strcmp(argv[i + 1], expected[i]) == 0;
    }
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}

static const struct suite_test tests[] = {SUITE_TEST(allowed), SUITE_TEST(glances), SUITE_TEST(rests),
                                          SUITE_TEST(looks)};

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "rescale") == 0) {
        return look(argv);
    }
    return suite_run("vigil", tests, sizeof tests / sizeof *tests);
}
