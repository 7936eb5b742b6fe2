/* SPDX-License-Identifier: Apache-2.0 */
#include "commandline/completion.h"

#include "suite.h"

#include <string.h>

static bool flag;
static const char *text;
static const struct option table[] = {
    {"driver", OPTION_TEXT, &text, "netns|process", "how servers live", false},
    {"name", OPTION_TEXT, &text, "LAB", "which lab", false},
    {"json", OPTION_FLAG, &flag, NULL, "print JSON", false},
    {"secret", OPTION_FLAG, &flag, NULL, "", true},
    {"watch", OPTION_SPAN, NULL, "[TIME]", "again and again", false},
    {"-c", OPTION_TEXT, &text, "FILE", "configuration", false},
};
enum { COUNT = sizeof table / sizeof *table };
static const struct option_traits traits[COUNT] = {[4] = {.bare = true}};
static const struct options of = {
    .program = "p", .option = table, .count = COUNT, .traits = traits, .verbatim = "service"};

static char said[2000];

static void kinds(void *context, const struct completion *c, const char *kind)
{
    const char *const *known = context;
    char candidate[40];
    for (; *known != NULL; known++) {
        if (strcmp(*known, kind) == 0) {
            snprintf(candidate, sizeof candidate, "a-%s", kind);
            completion_say(c, candidate, NULL);
        }
    }
}

/* What completes a line of that usage; its words have a space between them, and the last may be empty. */
static const char *complete(const char *usage, const char *line)
{
    static const char *const known[] = {"SERVER", "LAB", "JOB", "TO", "WORDS", NULL};
    static char copy[200];
    char *argv[20];
    int argc = 0;
    struct completion c;
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
    completion_read(&of, argc, argv, out, &c);
    if (c.option != NULL) {
        completion_argument(&c, kinds, (void *)(uintptr_t)known);
    }
    if (c.option == NULL && completion_wants_word(&c)) {
        completion_usage(&c, usage, 0, kinds, (void *)(uintptr_t)known);
    }
    if (completion_wants_option(&c)) {
        completion_options(&c, table, COUNT);
    }
    fclose(out);
    return said;
}

START_TEST(options)
{
    ck_assert_str_eq(complete("", "--j"), "--json\tprint JSON\n");
    ck_assert_str_eq(complete("", "word --dr"), "--driver\thow servers live\n");
    ck_assert_str_eq(complete("", "-c"), "-c\tconfiguration\n");
    ck_assert_ptr_null(strstr(complete("", "--"), "secret"));
    ck_assert_ptr_nonnull(strstr(said, "--help\t"));
    ck_assert_str_eq(complete("FILE", "-- --j"), ":files\n");
}
END_TEST

START_TEST(values_of_options)
{
    ck_assert_str_eq(complete("", "--driver "), "netns\nprocess\n");
    ck_assert_str_eq(complete("", "--driver pr"), "process\n");
    ck_assert_str_eq(complete("", "--driver=pr"), "--driver=process\n");
    ck_assert_str_eq(complete("", "--name "), "a-LAB\n");
    ck_assert_str_eq(complete("", "-c "), ":files\n");
    ck_assert_str_eq(complete("SERVER", "--json "), "a-SERVER\n");
    ck_assert_str_eq(complete("SERVER", "--watch "), "a-SERVER\n"); /* its value may be missing */
    ck_assert_str_eq(complete("SERVER", "--driver netns "), "a-SERVER\n");
}
END_TEST

START_TEST(words_by_their_place)
{
    static const char link[] = "SERVER LINK up|down";
    ck_assert_str_eq(complete(link, ""), "a-SERVER\n");
    ck_assert_str_eq(complete(link, "x +"), "+x\n+y\n+z\n");
    ck_assert_str_eq(complete(link, "x -"), "-x\n-y\n-z\n--driver\thow servers live\n--name\twhich lab\n--json\tprint "
                                            "JSON\n--watch\tagain and again\n-c\tconfiguration\n--help\twhat it does, "
                                            "with examples\n");
    ck_assert_str_eq(complete(link, "x +x d"), "down\n");
    ck_assert_str_eq(complete(link, "x +x up "), "");
    ck_assert_str_eq(complete("[SERVER] [options]", ""), "a-SERVER\n");
    ck_assert_str_eq(complete("[--name LAB | --all [--yes]] [--quiet]", ""), "");
    ck_assert_str_eq(complete("XxYxZ", ""), "");
    ck_assert_str_eq(complete("FILE --to all|SERVER..", "file "), "");
}
END_TEST

START_TEST(ways_and_words_that_repeat)
{
    static const char ping[] = "SERVER | key KEY | all | far [N]";
    ck_assert_str_eq(complete(ping, ""), "a-SERVER\nkey\nall\nfar\n");
    ck_assert_str_eq(complete(ping, "k"), "key\n");
    ck_assert_str_eq(complete(ping, "key "), "");
    ck_assert_str_eq(complete("JOB:PROCESS TO:PROCESS:PORT", "x "), "a-TO\n");
    ck_assert_str_eq(complete("JOB TO[:PROCESSES[:PORTS]]..", "x y z "), "a-TO\n");
    ck_assert_str_eq(complete("all|SERVER.. WORDS...", "all "), "all\na-SERVER\na-WORDS\n");
    ck_assert_str_eq(complete("[key] SERVER", ""), "key\na-SERVER\n");
    ck_assert_str_eq(complete("[key] SERVER", "key "), "a-SERVER\n");
    ck_assert_str_eq(complete("NAME WORDS..", "service name --j"), ""); /* not an option of ours */
    ck_assert_str_eq(complete("[LEVEL]", "d"), "debug\n");
}
END_TEST

START_TEST(what_was_given)
{
    char name[] = "--name", lab[] = "one", equals[] = "--name=two", end[] = "";
    char *const apart[] = {name, lab, end}, *const together[] = {equals, end}, *const open[] = {name, lab};
    ck_assert_str_eq(completion_given(&of, 3, apart, "name"), "one");
    ck_assert_str_eq(completion_given(&of, 2, together, "name"), "two");
    ck_assert_ptr_null(completion_given(&of, 2, open, "name")); /* it is the word at hand */
    ck_assert_ptr_null(completion_given(&of, 3, apart, "driver"));
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(options),
    SUITE_TEST(values_of_options),
    SUITE_TEST(words_by_their_place),
    SUITE_TEST(ways_and_words_that_repeat),
    SUITE_TEST(what_was_given),
};
SUITE_MAIN("completion", tests)
