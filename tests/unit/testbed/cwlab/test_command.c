/* SPDX-License-Identifier: Apache-2.0 */
#include "lab_place.h"
#include "testbed/cwlab/command.h"

#include <errno.h>

static const struct program_command probe = {
    .program = &program_cwlab, .name = "probe", .words = "X", .text = "", .example = "", .summary = ""};

START_TEST(every_command_is_explained)
{
    unsigned count = 0;
    for (; program_cwlab.commands[count] != NULL; count++) {
        const struct program_command *c = program_cwlab.commands[count];
        ck_assert(c->name && c->summary && c->words && c->text && c->example && c->run);
        for (unsigned i = 0; i < count; i++) {
            ck_assert_str_ne(c->name, program_cwlab.commands[i]->name);
        }
    }
    ck_assert_uint_gt(count, 10);
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
    ck_assert(command_read_server(&probe, &lab, "1,0,2", &s) == PROGRAM_GO && s == 11);
    ck_assert(command_read_server(&probe, &lab, "3,0,0", &s) == EXIT_USAGE &&
              command_read_server(&probe, &lab, NULL, &s) == EXIT_USAGE);
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

static const struct suite_test tests[] = {SUITE_TEST(every_command_is_explained), SUITE_TEST(labs_that_are_not_there),
                                          SUITE_TEST(programs_are_found)};
SUITE_MAIN("command", tests)
