/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/ask/arguments.h"

#include "suite.h"

#include <errno.h>
#include <string.h>

static const struct arguments_option options[] = {
    {"count", ARGUMENTS_NUMBER, "count", false, "N", "how many"},
    {"every", ARGUMENTS_SPAN, "every_us", false, "TIME", "how often"},
    {"dead", ARGUMENTS_TEXT, "dead", true, "SERVER", "who"},
    {"all", ARGUMENTS_FLAG, "all", false, "", "everything"},
    {NULL, ARGUMENTS_FLAG, NULL, false, NULL, NULL},
};
static struct arguments a;
static char said[4000];

/* line: words parted by spaces. */
static int parse(const char *line)
{
    static char copy[1000];
    char *argv[64] = {(char[]){"cwctl"}};
    int argc = 1;
    snprintf(copy, sizeof copy, "%s", line);
    for (char *word = strtok(copy, " "); word != NULL; word = strtok(NULL, " ")) {
        argv[argc++] = word;
    }
    FILE *errors = fmemopen(said, sizeof said, "w");
    int rc = arguments_parse(argc, argv, options, "service", &a, errors);
    fclose(errors);
    return rc;
}

START_TEST(everything_in_any_order)
{
    ck_assert_int_eq(parse("--json ping --node n1 1,2,0 --count=3 --dead a --every 1.5ms --dead b --all --watch 2s -x"),
                     0);
    ck_assert_int_eq(a.words, 3);
    ck_assert_str_eq(a.word[0], "ping");
    ck_assert_str_eq(a.word[2], "-x"); /* a link is a word */
    ck_assert_str_eq(a.node, "n1");
    ck_assert(a.json && a.watch);
    ck_assert_int_eq(a.every.ns, 2000000000);
    ck_assert_int_eq(a.options, 5);
    ck_assert_int_eq(a.given[0].number, 3);
    ck_assert_str_eq(a.given[1].text, "a");
    ck_assert_int_eq(a.given[2].number, 1500);
    ck_assert_ptr_eq(a.given[4].option, &options[3]);
    ck_assert_int_eq(parse("--count 9223372036854775807"), 0);
    ck_assert_int_eq(a.given[0].number, INT64_MAX);
}
END_TEST

START_TEST(watch_with_and_without_a_time)
{
    ck_assert_int_eq(parse("--watch links"), 0);
    ck_assert(a.watch);
    ck_assert_int_eq(a.every.ns, 1000000000);
    ck_assert_int_eq(a.words, 1);
    ck_assert_int_eq(parse("--watch 1,2,0"), 0); /* no time: a server */
    ck_assert_int_eq(a.words, 1);
    ck_assert_int_eq(parse("--watch=20ms --rounds 5 --timeout 3s --server all --lab l --socket s"), 0);
    ck_assert_int_eq(a.every.ns, 20000000);
    ck_assert_uint_eq(a.rounds, 5);
    ck_assert_int_eq(a.timeout.ns, 3000000000);
    ck_assert_str_eq(a.lab, "l");
    ck_assert_int_eq(parse("links --rounds 3"), 0); /* as --watch --rounds 3 */
    ck_assert(a.watch);
    ck_assert_int_eq(a.every.ns, 1000000000);
}
END_TEST

START_TEST(words_of_services_are_theirs)
{
    ck_assert_int_eq(parse("--json service kv get --count -n x"), 0);
    ck_assert_int_eq(a.words, 6);
    ck_assert_str_eq(a.word[3], "--count");
    ck_assert_int_eq(parse("ping -- --count"), 0);
    ck_assert_int_eq(a.words, 2);
}
END_TEST

START_TEST(mistakes_are_named)
{
    static const struct {
        const char *line, *says;
    } table[] = {
        {"--cuont 3", "did you mean --count?"},
        {"--jsno", "did you mean --json?"},
        {"--strange", "cwctl --help"},
        {"--count", "needs a value: a whole number"},
        {"--count x", "expected a whole number"},
        {"--count 9223372036854775808", "out of range; expected a whole number from 0 to 9223372036854775807"},
        {"--every 3y", "expected a time"},
        {"--all=3", "takes no value"},
        {"--json=1", "takes no value"},
        {"-q", "two dashes"},
        {"-1,0,0", "cwctl: -1,0,0: no number here is below 0; a server is x,y,z"},
        {"kv set a -5",
         "no number here is below 0; a word that begins with - stands behind --: cwctl kv set a -- -5\n"},
        {"--node", "needs a value"},
        {"--watch=0", "--watch 0: out of range; expected a time with its unit from 1ms on, as 5s or 200ms"},
        {"--every 5m", "expected a time"}, /* neither milliseconds nor minutes */
        {"--rounds 0", "expected a whole number"},
        {"--timeout 0", "expected a time"},
        {"--timeout 5", "--timeout 5: expected a time with its unit from 1ns on, as 5s or 200ms"},
        {"--every 10", "--every 10: expected a time with its unit, as 5s or 200ms"},
        {"--count 1e3", "--count 1e3: expected a whole number, as 1000 or 10k"},
    };
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
        ck_assert_int_eq(parse(table[i].line), -EINVAL);
        ck_assert_msg(strstr(said, table[i].says) != NULL, "%s: %s", table[i].line, said);
        ck_assert_ptr_eq(strchr(said, '\n'), said + strlen(said) - 1);
    }
}
END_TEST

START_TEST(so_many_and_no_more)
{
    char line[1000] = "";
    for (unsigned i = 0; i <= ARGUMENTS_WORDS; i++) {
        strcat(line, "w ");
    }
    ck_assert_int_eq(parse(line), -EINVAL);
    line[0] = '\0';
    for (unsigned i = 0; i <= ARGUMENTS_OPTIONS; i++) {
        strcat(line, "--all ");
    }
    ck_assert_int_eq(parse(line), -EINVAL);
}
END_TEST

START_TEST(help_has_a_line_for_each)
{
    FILE *out = fmemopen(said, sizeof said, "w");
    arguments_help(out);
    arguments_help_option(&options[1], out);
    fclose(out);
    ck_assert_ptr_nonnull(strstr(said, "--timeout TIME"));
    ck_assert_ptr_nonnull(strstr(said, "--every TIME             how often\n"));
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(everything_in_any_order),      SUITE_TEST(watch_with_and_without_a_time),
    SUITE_TEST(words_of_services_are_theirs), SUITE_TEST(mistakes_are_named),
    SUITE_TEST(so_many_and_no_more),          SUITE_TEST(help_has_a_line_for_each),
};
SUITE_MAIN("arguments", tests)
