/* SPDX-License-Identifier: Apache-2.0 */
#include "place.h"
#include "testbed/command.h"

#include <errno.h>

static const struct command probe = {.name = "probe", .words = "X", .text = "", .example = "", .summary = ""};

START_TEST(every_command_is_explained)
{
    unsigned count = 0;
    for (; commands[count] != NULL; count++) {
        const struct command *c = commands[count];
        ck_assert(c->name && c->summary && c->words && c->text && c->example && c->run);
        for (unsigned i = 0; i < count; i++) {
            ck_assert_str_ne(c->name, commands[i]->name);
        }
    }
    ck_assert_uint_gt(count, 10);
}
END_TEST

static int lead(const struct option *option, int argc, const char *const *argv, int *rest)
{
    return command_leading(&probe, option, 2, argc, (char **)(uintptr_t)argv, rest);
}

START_TEST(options_end_at_the_first_word)
{
    const char *name = NULL;
    bool flag = false;
    int rest;
    const struct option option[] = {{"name", OPTION_TEXT, &name, "LAB", "", false},
                                    {"flag", OPTION_FLAG, &flag, NULL, "", false}};
    const char *const one[] = {"probe", "--flag", "--name", "x", "0,0,0", "ls", "--name", "y", NULL};
    ck_assert_int_eq(lead(option, 8, one, &rest), COMMAND_GO);
    ck_assert(rest == 4 && flag && strcmp(name, "x") == 0);
    const char *const two[] = {"probe", "--name=z", "0,0,0", NULL};
    ck_assert(lead(option, 3, two, &rest) == COMMAND_GO && rest == 2 && strcmp(name, "z") == 0);
    const char *const bad[] = {"probe", "--nmae", "z", "0,0,0", NULL};
    ck_assert_int_eq(lead(option, 4, bad, &rest), EXIT_USAGE);
    const char *const help[] = {"probe", "--help", NULL};
    ck_assert_int_eq(lead(option, 2, help, &rest), EXIT_FINE);
}
END_TEST

START_TEST(labs_that_are_not_there)
{
    struct lab lab;
    cw_server s;
    char *place = place_make();
    ck_assert_int_eq(command_lab(&probe, NULL, &lab), EXIT_NO_LAB);
    ck_assert_int_eq(command_lab(&probe, "none", &lab), EXIT_NO_LAB);
    ck_assert_int_eq(torus_init(&lab.torus, (cw_dims){3, 3, 3}), 0);
    ck_assert(command_server(&probe, &lab, "1,0,2", &s) == COMMAND_GO && s == 11);
    ck_assert(command_server(&probe, &lab, "3,0,0", &s) == EXIT_USAGE &&
              command_server(&probe, &lab, NULL, &s) == EXIT_USAGE);
    place_remove(place);
}
END_TEST

START_TEST(programs_are_found)
{
    char path[LAB_PATH];
    ck_assert_int_eq(command_find("CWLAB_NO_SUCH", "sh", path), 0);
    ck_assert_int_eq(setenv("CWLAB_NO_SUCH", "/no/such", 1), 0);
    ck_assert_int_eq(command_find("CWLAB_NO_SUCH", "sh", path), -ENOENT);
    ck_assert_int_eq(setenv("CWLAB_NO_SUCH", "/", 1), 0);
    ck_assert(command_find("CWLAB_NO_SUCH", "sh", path) == 0 && strcmp(path, "/") == 0);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(every_command_is_explained),
                                          SUITE_TEST(options_end_at_the_first_word),
                                          SUITE_TEST(labs_that_are_not_there), SUITE_TEST(programs_are_found)};
SUITE_MAIN("command", tests)
