/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/commands.h"

#include "../fake_daemon.h"
#include "suite.h"

#include <errno.h>

static struct fake_daemon d;
static struct arguments a;
static char out[4000], errors[1000], why[CLIENT_WHY];
static volatile int stop;

/* Runs the command against a daemon that says that. */
static int run(const char *name, const char *const says[], int linger)
{
    int used;
    struct call call = {.arguments = &a, .stop = &stop};
    a.word[0] = name;
    a.words = 1;
    memset(out, 0, sizeof out);
    memset(errors, 0, sizeof errors);
    call.command = commands_find(a.word, 1, &used);
    call.out = fmemopen(out, sizeof out, "w");
    call.errors = fmemopen(errors, sizeof errors, "w");
    fake_daemon_start(&d, says, linger);
    ck_assert_int_eq(client_open(&call.client, d.path, why), 0);
    int code = call_run(&call);
    client_close(call.client);
    fake_daemon_end(&d);
    fclose(call.out);
    fclose(call.errors);
    return code;
}

START_TEST(codes)
{
    a = (struct arguments){.timeout = CW_SEC(5)};
    ck_assert_int_eq(run("routes", (const char *const[]){"{\"id\":1,\"done\":true,\"rc\":0}\n", NULL}, 1), EXIT_FINE);
    ck_assert_int_eq(run("routes", (const char *const[]){"{\"id\":1,\"done\":true,\"rc\":1}\n", NULL}, 1), EXIT_NO);
    ck_assert_int_eq(
        run("routes", (const char *const[]){"{\"id\":1,\"done\":true,\"rc\":-2,\"error\":\"none\"}\n", NULL}, 1),
        EXIT_NO);
    ck_assert_str_eq(errors, "cwctl: none\n");
    ck_assert_int_eq(
        run("routes", (const char *const[]){"{\"id\":1,\"done\":true,\"rc\":-22,\"error\":\"what\"}\n", NULL}, 1),
        EXIT_USAGE);
    ck_assert_int_eq(run("routes", (const char *const[]){"", NULL}, 0), EXIT_NOBODY);
    a.timeout = CW_MS(20);
    ck_assert_int_eq(run("routes", (const char *const[]){"", NULL}, 1), EXIT_TIMEOUT);
}
END_TEST

#define ROW                                                                                                         \
    "{\"id\":1,\"row\":{\"to\":\"1,0,0\",\"reachable\":true,\"hops\":1,\"by\":[\"+x\"]}}\n{\"id\":1,\"done\":true," \
    "\"rc\":0}\n"

START_TEST(table_and_json)
{
    a = (struct arguments){.timeout = CW_SEC(5)};
    ck_assert_int_eq(run("routes", (const char *const[]){ROW, NULL}, 1), EXIT_FINE);
    ck_assert_str_eq(out, "TO     REACHABLE  HOPS  BY\n1,0,0  yes           1  +x\n");
    a.json = true;
    ck_assert_int_eq(run("routes", (const char *const[]){ROW, NULL}, 1), EXIT_FINE);
    ck_assert_str_eq(out, "{\"to\":\"1,0,0\",\"reachable\":true,\"hops\":1,\"by\":[\"+x\"]}\n");
}
END_TEST

START_TEST(again_and_again)
{
    a = (struct arguments){.timeout = CW_SEC(5), .json = true, .watch = true, .every = CW_MS(5), .rounds = 3};
    ck_assert_int_eq(run("routes",
                         (const char *const[]){"{\"id\":1,\"row\":{}}\n{\"id\":1,\"done\":true,\"rc\":0}\n",
                                               "{\"id\":2,\"row\":{}}\n{\"id\":2,\"done\":true,\"rc\":1}\n",
                                               "{\"id\":3,\"row\":{}}\n{\"id\":3,\"done\":true,\"rc\":0}\n", NULL},
                         1),
                     EXIT_FINE);
    ck_assert_str_eq(out, "{}\n{}\n{}\n");
    a.rounds = 0; /* ends when the daemon does */
    ck_assert_int_eq(run("routes", (const char *const[]){"{\"id\":1,\"done\":true,\"rc\":0}\n", NULL}, 0), EXIT_NOBODY);
}
END_TEST

START_TEST(what_a_server_looks_like)
{
    ck_assert(call_is_server("1,2,0"));
    ck_assert(call_is_server("255,255,255"));
    ck_assert(!call_is_server("1,2"));
    ck_assert(!call_is_server("1,2,0:3"));
    ck_assert(!call_is_server("all"));
    ck_assert(!call_is_server(""));
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(codes), SUITE_TEST(table_and_json), SUITE_TEST(again_and_again),
                                          SUITE_TEST(what_a_server_looks_like)};
SUITE_MAIN("call", tests)
