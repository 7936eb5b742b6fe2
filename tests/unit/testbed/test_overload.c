/* SPDX-License-Identifier: Apache-2.0 */
/* When a keeper has its lab's timers looked at, and that somebody looks. */
#include "testbed/overload.h"

#include "suite.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

START_TEST(allowed)
{
    struct lab lab = {.driver = LAB_NETNS, .wanted = 0};
    ck_assert(overload_allowed(&lab));
    lab.wanted = -1; /* --scale was given */
    ck_assert(!overload_allowed(&lab));
    lab = (struct lab){.driver = LAB_NETNS, .torus.servers = OVERLOAD_SERVERS + 1}; /* too many for one answer */
    ck_assert(!overload_allowed(&lab));
    lab = (struct lab){.driver = LAB_PROCESS};
    ck_assert(!overload_allowed(&lab));
}
END_TEST

/* Some seconds in a row, and not again before a while has passed; never while somebody looks. */
START_TEST(counts)
{
    struct overload v = {0};
    for (unsigned i = 1; i < OVERLOAD_ROW; i++) {
        ck_assert(!overload_note(&v, 3, 2));
    }
    ck_assert(!overload_note(&v, 2, 2)); /* as many as there are processors: nobody waits */
    for (unsigned i = 1; i < OVERLOAD_ROW; i++) {
        ck_assert(!overload_note(&v, 3, 2));
    }
    ck_assert(overload_note(&v, 3, 2));
    for (unsigned i = 1; i < OVERLOAD_REST; i++) {
        ck_assert(!overload_note(&v, 30, 2));
    }
    ck_assert(overload_note(&v, 30, 2));
    for (unsigned i = 1; i < 2 * OVERLOAD_REST; i++) { /* the next one is farther off */
        ck_assert(!overload_note(&v, 30, 2));
    }
    v.looking = 1;
    ck_assert(!overload_note(&v, 30, 2));
    v.looking = 0;
    ck_assert(overload_note(&v, 30, 2));
}
END_TEST

/* After a look that was held there is a minute of rest, and it is not told again. */
START_TEST(rests)
{
    struct overload v = {.looking = 7, .next = OVERLOAD_REST};
    ck_assert(overload_look_ended(&v, 7, 1 << 8));
    ck_assert(v.told);
    for (unsigned i = 1; i < OVERLOAD_HELD; i++) {
        ck_assert(!overload_note(&v, 30, 2));
    }
    ck_assert(overload_note(&v, 30, 2));
    v.looking = 7;
    ck_assert(overload_look_ended(&v, 7, 2 << 8)); /* the keeper refused */
    ck_assert(!v.told && v.rest == OVERLOAD_HELD);
    ck_assert_uint_ge(overload_processors(), 1);
}
END_TEST

/* This program in the place of cwlab: main() below. */
START_TEST(looks)
{
    struct overload v = {0};
    struct lab lab = {.name = "blue", .folder = "/some/where/blue"};
    int status = -1;
    overload_look_begin(&v, &lab);
    pid_t looking = v.looking;
    ck_assert_int_gt(looking, 0);
    overload_look_begin(&v, &lab); /* one is on */
    ck_assert_int_eq(v.looking, looking);
    ck_assert(!overload_look_ended(&v, looking + 1, 0));
    ck_assert_int_eq(waitpid(looking, &status, 0), looking);
    ck_assert_int_eq(status, 0);
    ck_assert(overload_look_ended(&v, looking, status));
    ck_assert_int_eq(v.looking, 0);
    ck_assert(!overload_look_ended(&v, 0, 0));
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

static const struct suite_test tests[] = {SUITE_TEST(allowed), SUITE_TEST(counts), SUITE_TEST(rests),
                                          SUITE_TEST(looks)};

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "rescale") == 0) {
        return look(argv);
    }
    return suite_run("overload", tests, sizeof tests / sizeof *tests);
}
