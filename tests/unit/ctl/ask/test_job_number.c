/* SPDX-License-Identifier: Apache-2.0 */
/* test_job_number.c - --job is a number, or the name of a service or of a job that the daemon knows. */
#include "ctl/ask/job_number.h"

#include "ctl/commands.h"

#include "../fake_daemon.h"
#include "suite.h"

#include <string.h>

static struct fake_daemon d;
static char said[512];

#define DONE(id) "{\"id\":" #id ",\"done\":true,\"rc\":0}\n"
static const char services[] = "{\"id\":1,\"row\":{\"service\":\"ping\",\"job\":1}}\n"
                               "{\"id\":1,\"row\":{\"service\":\"kvcache\",\"job\":6}}\n" DONE(1);
static const char jobs[] = "{\"id\":2,\"row\":{\"job\":5001,\"name\":\"web\"}}\n" DONE(2);

/* The request with --job name has that word; NULL: without --job. "refused": it is refused. */
static void expect(const char *name, const char *word)
{
    static const struct arguments_option option = {"job", ARGUMENTS_TEXT, "job", false, "SERVICE", ""};
    struct arguments a = {.timeout = CW_SEC(5), .options = 1};
    const char *const says[] = {services, jobs, NULL};
    struct call call = {.arguments = &a, .errors = fmemopen(said, sizeof said, "w")};
    char why[CLIENT_WHY], *line;
    size_t length;
    struct request_draft *request = request_draft_open("service", NULL);
    if (name != NULL) {
        a.given[0] = (struct arguments_given){.option = &option, .text = name};
    } else {
        a.options = 0;
    }
    fake_daemon_start(&d, says, 1);
    ck_assert_int_eq(client_open(&call.client, d.path, why), 0);
    int code = job_number_word(&call, request);
    fclose(call.errors);
    if (strcmp(word, "refused") == 0) {
        ck_assert(code == EXIT_USAGE && strstr(said, name) != NULL);
        word = "";
    } else {
        ck_assert_int_eq(code, EXIT_FINE);
    }
    ck_assert_int_eq(request_draft_line(request, 9, &line, &length), 0);
    ck_assert_msg((strstr(line, "job=") != NULL) == (word[0] != '\0') && strstr(line, word) != NULL, "%s", line);
    free(line);
    client_close(call.client);
    fake_daemon_end(&d);
    request_draft_close(request);
}

START_TEST(names_and_numbers)
{
    expect(NULL, "");
    expect("5002", "\"job=5002\"");
    expect("kvcache", "\"job=6\"");
    expect("web", "\"job=5001\"");
    expect("zork", "refused");
    expect("0", "refused");
    expect("4294967296", "refused");
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(names_and_numbers)};
SUITE_MAIN("job_number", tests)
