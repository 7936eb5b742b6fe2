/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/crowd.h"

#include "fake_daemon.h"
#include "suite.h"

#include <errno.h>

static struct fake_daemon daemons[3];
static struct find_one one[3];
static volatile int stop;
static char out[2000], errors[2000];

static void read_back(FILE *f, char text[static 2000])
{
    rewind(f);
    text[fread(text, 1, 1999, f)] = '\0';
    fclose(f);
}

/* Runs the command on three daemons, each of which answers with one of these texts; NULL: it is not there. */
static int run(const char *word, bool json, const char *const says[3])
{
    static const char *answers[3][2];
    static const char *const names[] = {"0,0,0", "0,0,1", "0,0,2"};
    struct arguments a = {.words = 1, .word = {word}, .json = json};
    int used;
    struct call call = {.arguments = &a, .stop = &stop, .out = tmpfile(), .errors = tmpfile()};
    call.command = commands_find(a.word, a.words, &used);
    for (unsigned i = 0; i < 3; i++) {
        one[i] = (struct find_one){.at.server = NULL};
        strcpy(one[i].name, names[i]);
        strcpy(one[i].at.path, "/nonexistent/d.sock");
        answers[i][0] = says[i];
        if (says[i] != NULL) {
            fake_daemon_start(&daemons[i], answers[i], 1);
            strcpy(one[i].at.path, daemons[i].path);
        }
    }
    const struct find_crowd crowd = {one, 3};
    int code = crowd_run(&call, &crowd, CW_SEC(60));
    for (unsigned i = 0; i < 3; i++) {
        if (says[i] != NULL) {
            fake_daemon_end(&daemons[i]);
        }
    }
    read_back(call.out, out);
    read_back(call.errors, errors);
    return code;
}

#define DONE "{\"id\":1,\"done\":true,\"rc\":0}\n"
#define ROW(text) "{\"id\":1,\"row\":{" text "}}\n"

START_TEST(one_table)
{
    static const char *const says[] = {ROW("\"service\":\"ping\",\"job\":1") DONE,
                                       ROW("\"service\":\"ping\",\"job\":1") ROW("\"service\":\"kv\",\"job\":2") DONE,
                                       ROW("\"service\":\"ping\",\"job\":1") DONE};
    ck_assert_int_eq(run("services", false, says), 0);
    ck_assert_str_eq(out, "SERVER  SERVICE  JOB\n"
                          "0,0,0   ping     1\n"
                          "0,0,1   ping     1\n"
                          "0,0,1   kv       2\n"
                          "0,0,2   ping     1\n");
    ck_assert_str_eq(errors, "");
}
END_TEST

START_TEST(one_stream_of_objects)
{
    static const char *const says[] = {ROW("\"to\":\"0,0,1\"") DONE, ROW("\"server\":\"9,9,9\"") DONE, DONE};
    ck_assert_int_eq(run("routes", true, says), 0);
    ck_assert_ptr_nonnull(strstr(out, "\"to\":\"0,0,1\",\"server\":\"0,0,0\",\"asked\":\"0,0,0\"}\n"));
    ck_assert_ptr_nonnull(strstr(out, "\"server\":\"9,9,9\",\"asked\":\"0,0,1\"}\n"));
}
END_TEST

START_TEST(one_exit_code)
{
#define GONE "{\"id\":1,\"done\":true,\"rc\":-2,\"error\":\"gone\"}\n"
    static const char *const no[] = {ROW("\"a\":1") DONE, GONE, GONE};
    ck_assert_int_eq(run("services", false, no), EXIT_NO);
    ck_assert_str_eq(errors, "cwctl: 0,0,1, 0,0,2: gone\n");
    static const char *const away[] = {DONE, NULL, DONE};
    ck_assert_int_eq(run("services", false, away), EXIT_NOBODY);
    ck_assert_ptr_nonnull(strstr(errors, "cwctl: 0,0,1: /nonexistent/d.sock: no such socket"));
    static const char *const both[] = {GONE, NULL, DONE};
    ck_assert_int_eq(run("services", false, both), EXIT_NO);
    static const char *const nothing[] = {DONE, DONE, DONE};
    ck_assert_int_eq(run("links", false, nothing), EXIT_FINE);
    ck_assert_str_eq(out, "nothing to show on 3 servers\n");
    ck_assert_int_eq(run("mend", false, nothing), EXIT_FINE);
    ck_assert_str_eq(out, "done on 3 servers\n");
    ck_assert_int_eq(run("drops", false, nothing), EXIT_FINE);
    ck_assert_str_eq(out, "nothing was dropped\n");
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(one_table), SUITE_TEST(one_stream_of_objects),
                                          SUITE_TEST(one_exit_code)};
SUITE_MAIN("crowd", tests)
