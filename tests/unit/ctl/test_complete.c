/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/complete.h"

#include "suite.h"

#include <string.h>

static char said[20000];

/* What completes a line where no daemon is; words have a space between them, and the last may be empty. */
static const char *complete(const char *line)
{
    static const struct find_wish nobody = {.folder = {"/nonexistent"}};
    char copy[200];
    char *argv[20];
    int argc = 0;
    snprintf(copy, sizeof copy, "%s", line);
    for (char *at = copy; at != NULL; argc++) {
        argv[argc] = at;
        at = strchr(at, ' ');
        if (at != NULL) {
            *at++ = '\0';
        }
    }
    memset(said, 0, sizeof said);
    FILE *out = fmemopen(said, sizeof said, "w");
    complete_line(&nobody, argc, argv, out);
    fclose(out);
    return said;
}

START_TEST(commands)
{
    ck_assert_str_eq(complete("sta"), "status\twho the server is, and its state\n");
    ck_assert_str_eq(complete("--json sta"), "status\twho the server is, and its state\n");
    ck_assert_str_eq(complete("help sta"), "status\twho the server is, and its state\n");
    ck_assert_str_eq(complete("kv ge"), "get\twrite a value of the cache to standard output, as it is\n");
    ck_assert_str_eq(complete("kv nonsense x"), "");
    complete("");
    ck_assert_ptr_nonnull(strstr(said, "kv\tvalues of the cache"));
    ck_assert_ptr_null(strstr(said, "kv get"));
    ck_assert_ptr_null(strstr(strstr(said, "kv\t") + 1, "\nkv\t")); /* once */
    ck_assert_ptr_nonnull(strstr(said, "help\t"));
}
END_TEST

START_TEST(options_of_the_command)
{
    ck_assert_str_eq(complete("key explain x --de"), "--dead\tsuppose that this server has died; may be given again\n");
    ck_assert_str_eq(complete("status --de"), "");
    ck_assert_str_eq(complete("status --js"), "--json\tprint JSON: one object a line\n");
    ck_assert_str_eq(complete("service bench --js"), ""); /* the service's business */
    ck_assert_str_eq(complete("services weight x --drop o"), "oldest\n");
    ck_assert_str_eq(complete("--server a"), "all\n");
    complete("doctor --"); /* its own options come first */
    ck_assert_int_eq(strncmp(said, "--all\task every server in view", 30), 0);
    ck_assert_ptr_nonnull(strstr(said, "\n--json\t"));
}
END_TEST

START_TEST(words_of_the_command)
{
    ck_assert_int_eq(strncmp(complete("links -"), "-x\n-y\n-z\n--socket\t", 18), 0);
    ck_assert_str_eq(complete("ping f"), "far\n");
    ck_assert_str_eq(complete("log level d"), "debug\n");
    ck_assert_str_eq(complete("capture +x "), ":files\n");
    ck_assert_str_eq(complete("routes "), ""); /* nobody to ask for the servers */
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(commands),
    SUITE_TEST(options_of_the_command),
    SUITE_TEST(words_of_the_command),
};
SUITE_MAIN("complete", tests)
