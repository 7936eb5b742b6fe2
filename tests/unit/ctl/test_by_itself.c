/* SPDX-License-Identifier: Apache-2.0 */
/* test_by_itself.c - what asks all servers by itself is asked once, through the first daemon that is there. */
#include "ctl/by_itself.h"

#include "fake_daemon.h"
#include "suite.h"

static struct fake_daemon daemons[2];
static volatile int stop;
static char out[2000], errors[2000];

static void read_back(FILE *f, char text[static 2000])
{
    rewind(f);
    text[fread(text, 1, 1999, f)] = '\0';
    fclose(f);
}

static const struct command *find(const char *word, const char *second)
{
    const char *const words[] = {word, second};
    int used;
    return commands_find(words, second != NULL ? 2 : 1, &used);
}

START_TEST(some_commands_are_for_one)
{
    size_t count;
    const struct command *c = commands_table(&count);
    unsigned lonely = 0;
    for (size_t i = 0; i < count; i++) {
        bool takes = by_itself_takes_many(&c[i]);
        lonely += !takes;
        ck_assert(!takes || strcmp(c[i].name, "capture") != 0);
        ck_assert(takes || strcmp(c[i].name, "links") != 0);
    }
    ck_assert_uint_ge(lonely, 10);
}
END_TEST

START_TEST(which_commands)
{
    ck_assert(by_itself_takes_many(find("status", NULL)));
    ck_assert(!by_itself_takes_many(find("doctor", NULL)));
    ck_assert(!by_itself_takes_many(find("top", NULL)));
    ck_assert_ptr_null(by_itself_option(find("top", NULL)));
    ck_assert_str_eq(by_itself_option(find("doctor", NULL)), "--all");
    ck_assert_str_eq(by_itself_option(find("kv", "flush")), "");
    ck_assert(by_itself_only_tells(find("events", NULL)));
    ck_assert(!by_itself_only_tells(find("kv", "flush"))); /* which is not done because many were named by mistake */
    ck_assert(!by_itself_only_tells(find("file", "send")));
}
END_TEST

static int run(const char *word, const char *const says[2], bool refuse)
{
    struct find_one one[2];
    const char *answers[2][2] = {{says[0], NULL}, {says[1], NULL}};
    struct arguments a = {.words = 1, .word = {word}};
    struct call call = {
        .arguments = &a, .stop = &stop, .out = tmpfile(), .errors = tmpfile(), .command = find(word, NULL)};
    for (unsigned i = 0; i < 2; i++) {
        one[i] = (struct find_one){.name = "0,0,0"};
        strcpy(one[i].at.path, "/nonexistent/d.sock");
        if (says[i] != NULL) {
            fake_daemon_start(&daemons[i], answers[i], 1);
            strcpy(one[i].at.path, daemons[i].path);
        }
    }
    const struct find_crowd crowd = {one, 2};
    int code = refuse ? by_itself_refuse(&call, &crowd) : by_itself_run(&call, &crowd, CW_SEC(60));
    for (unsigned i = 0; i < 2; i++) {
        if (says[i] != NULL) {
            fake_daemon_end(&daemons[i]);
        }
    }
    read_back(call.out, out);
    read_back(call.errors, errors);
    return code;
}

#define ABOUT(server) "{\"id\":1,\"row\":{\"part\":\"about\",\"server\":\"" server "\",\"version\":\"1\"}}\n"
#define DONE "{\"id\":1,\"row\":{\"asked\":2,\"answered\":2,\"servers\":2}}\n{\"id\":1,\"done\":true,\"rc\":0}\n"

START_TEST(one_daemon_tells_of_all)
{
    static const char *const says[] = {NULL, ABOUT("0,0,0") ABOUT("1,0,0") DONE}, *const none[] = {NULL, NULL};
    ck_assert_int_eq(run("doctor", says, false), EXIT_FINE);
    ck_assert_str_eq(out, "nothing is wrong: all 2 servers answered\n");
    ck_assert_int_eq(run("doctor", none, false), EXIT_NOBODY);
    ck_assert_ptr_nonnull(strstr(errors, "cwctl: "));
}
END_TEST

START_TEST(what_does_harm_is_refused)
{
    static const char *const none[] = {NULL, NULL};
    ck_assert_int_eq(run("doctor", none, true), EXIT_USAGE);
    ck_assert_str_eq(errors, "cwctl: doctor reaches all servers by itself, through one daemon: cwctl --node 0,0,0 "
                             "doctor --all\n");
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(some_commands_are_for_one), SUITE_TEST(which_commands),
                                          SUITE_TEST(one_daemon_tells_of_all), SUITE_TEST(what_does_harm_is_refused)};
SUITE_MAIN("by_itself", tests)
