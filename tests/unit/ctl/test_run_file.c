/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/run_file.h"

#include "suite.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct run_file f;
static char said[8000];

/* Reads the text as a file, beside these options of the command line. */
static void read_text(const char *text, const struct arguments *given)
{
    char path[] = "/tmp/cubeway-run-XXXXXX";
    int used, fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    const struct command *run = commands_find((const char *const[]){"aggregate", "run"}, 2, &used);
    ck_assert_int_eq(run_file_open(&f, run, given, path), 0);
    unlink(path);
    snprintf(f.path, sizeof f.path, "x.run");
    memset(said, 0, sizeof said);
    FILE *out = fmemopen(said, sizeof said, "w");
    run_file_tell(&f, out);
    fclose(out);
}

static const struct arguments_given *given(const char *name)
{
    for (int i = 0; i < f.arguments.options; i++) {
        if (strcmp(f.arguments.given[i].option->name, name) == 0) {
            return &f.arguments.given[i];
        }
    }
    return NULL;
}

START_TEST(options_of_a_run)
{
    const struct arguments none = {.words = 2};
    read_text("# a comment\nfrom = \"a.log\"; map = \"field:1\"\nto = \"0,0,0:x\"\nto = \"1,0,0:x\"; top = 1k\n"
              "limit = 1500ms; without = yes\n",
              &none);
    ck_assert_str_eq(said, "");
    ck_assert_str_eq(given("from")->text, "a.log");
    ck_assert_str_eq(given("map")->text, "field:1");
    ck_assert_int_eq(given("top")->number, 1000);
    ck_assert_int_eq(given("limit")->number, 1500000);
    ck_assert_ptr_nonnull(given("without"));
    ck_assert_int_eq(f.arguments.options, 7);
    ck_assert_uint_eq(f.line[0], 2);
    ck_assert_uint_eq(f.line[6], 5);
    run_file_close(&f);
}
END_TEST

START_TEST(the_command_line_is_above)
{
    struct arguments a = {.words = 2};
    for (const struct arguments_option *o = commands_options(); o->name != NULL; o++) {
        if (strcmp(o->name, "to") == 0) {
            a.given[a.options++] = (struct arguments_given){.option = o, .text = "2,2,2:y"};
        }
    }
    read_text("from = a; without = off; to = \"0,0,0:x\"; to = \"1,0,0:x\"\n", &a);
    ck_assert_str_eq(said, "");
    ck_assert_int_eq(f.arguments.options, 2);
    ck_assert_str_eq(given("to")->text, "2,2,2:y");
    ck_assert_ptr_null(given("without"));
    run_file_close(&f);
}
END_TEST

START_TEST(all_mistakes)
{
    const struct arguments none = {.words = 2};
    read_text("top = many\nfrom = a\nfrom = b\nmapp = kv\norder = fixed\nto { x = 1 }\nlimit = 2h\n", &none);
    ck_assert_str_eq(said, "cwctl: x.run:1: top = \"many\": expected a whole number from 1 on, as 1000 or 10k\n"
                           "cwctl: x.run:3: \"from\" stands in line 2 already\n"
                           "cwctl: x.run:4: unknown \"mapp\"; did you mean \"map\"?\n"
                           "cwctl: x.run:5: unknown \"order\"; there are from to map combine top partitions path of "
                           "copies without limit\n"
                           "cwctl: x.run:6: \"to\" is no section, but to = VALUE: SERVER:NAME (again: a part to "
                           "each), each:NAME, all:NAME, or - (here)\n"
                           "cwctl: x.run:7: limit = \"2h\": expected a time with its unit from 1us to 1h, as 5s or "
                           "200ms\n");
    run_file_close(&f);
    read_text("", &none);
    ck_assert_uint_eq(f.mistakes, 2);
    run_file_close(&f);
}
END_TEST

START_TEST(more_than_are_kept)
{
    static char text[4000];
    const struct arguments none = {.words = 2};
    for (unsigned i = 0; i < RUN_FILE_MISTAKES + 5; i++) {
        strcat(text, "zzzz = 1\n");
    }
    read_text(text, &none);
    ck_assert_ptr_nonnull(strstr(said, "cwctl: x.run: and 7 more\n")); /* from and to are missing, too */
    run_file_close(&f);
}
END_TEST

START_TEST(files_that_cannot_be_read)
{
    const struct arguments none = {.words = 2};
    int used;
    const struct command *run = commands_find((const char *const[]){"aggregate", "run"}, 2, &used);
    ck_assert_int_eq(run_file_open(&f, run, &none, "/nowhere/x.run"), -ENOENT);
    ck_assert_int_eq(run_file_open(&f, run, &none, "/"), -EIO);
    ck_assert_int_eq(run_file_open(&f, run, &none, "/dev/zero"), -EFBIG);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(options_of_a_run), SUITE_TEST(the_command_line_is_above),
                                          SUITE_TEST(all_mistakes), SUITE_TEST(more_than_are_kept),
                                          SUITE_TEST(files_that_cannot_be_read)};
SUITE_MAIN("run_file", tests)
