/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/help.h"

#include "suite.h"

#include <string.h>

static char page[20000];

/* What is written to it is in `page` once it is closed. */
static FILE *open_page(void)
{
    memset(page, 0, sizeof page);
    FILE *out = fmemopen(page, sizeof page, "w");
    ck_assert_ptr_nonnull(out);
    return out;
}

static const struct command *named(const char *name)
{
    size_t count;
    const struct command *c = commands_table(&count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(c[i].name, name) == 0) {
            return &c[i];
        }
    }
    ck_abort_msg("no command %s", name);
    return NULL;
}

START_TEST(of_all)
{
    size_t count;
    const struct command *c = commands_table(&count);
    FILE *out = open_page();
    help_all(out);
    fclose(out);
    for (size_t i = 0; i < count; i++) {
        ck_assert_msg(strstr(page, c[i].name) != NULL, "%s", c[i].name);
    }
    ck_assert_ptr_nonnull(strstr(page, "Exit codes"));
}
END_TEST

START_TEST(of_one)
{
    FILE *out = open_page();
    help_command(named("key explain"), out);
    fclose(out);
    ck_assert_ptr_nonnull(strstr(page, "usage: cwctl key explain KEY [options]"));
    ck_assert_ptr_nonnull(strstr(page, "--dead SERVER"));
    ck_assert_ptr_nonnull(strstr(page, "Exit codes"));
    ck_assert_ptr_null(strstr(page, "--count"));
    ck_assert_ptr_null(strstr(page, "More commands"));
}
END_TEST

START_TEST(of_each_group)
{
    size_t count;
    const struct command *c = commands_table(&count);
    for (size_t i = 0; i < count; i++) {
        char word[32];
        snprintf(word, sizeof word, "%.*s", (int)strcspn(c[i].name, " "), c[i].name);
        if (help_group_size(word) == 0) {
            continue;
        }
        FILE *out = open_page();
        help_group(word, out);
        fclose(out);
        ck_assert_msg(strstr(page, c[i].name) != NULL && strstr(page, c[i].summary) != NULL, "%s", c[i].name);
        ck_assert_msg(help_group_summary(word) != NULL, "group %s has no summary", word);
        ck_assert_ptr_nonnull(strstr(page, "Exit codes"));
    }
    ck_assert_uint_eq(help_group_size("key"), 0); /* the only command of its word */
    ck_assert_uint_eq(help_group_size("nonsense"), 0);
}
END_TEST

START_TEST(of_a_command_that_has_a_group)
{
    FILE *out = open_page();
    help_command(named("services"), out);
    fclose(out);
    ck_assert_ptr_nonnull(strstr(page, "usage: cwctl services\n"));
    ck_assert_ptr_nonnull(strstr(page, "More commands:\n  services load "));
}
END_TEST

/* What is said of these words. */
static const char *refused(const char *a, const char *b)
{
    const char *words[] = {a, b};
    FILE *out = open_page();
    help_refuse(words, b != NULL ? 2 : 1, out);
    fclose(out);
    return page;
}

START_TEST(near_misses)
{
    ck_assert_str_eq(refused("lniks", NULL), "cwctl: unknown command 'lniks'; did you mean links?\n");
    ck_assert_str_eq(refused("sttus", "x"), "cwctl: unknown command 'sttus'; did you mean status?\n");
    ck_assert_str_eq(refused("jbo", "list"), "cwctl: unknown command 'jbo'; did you mean job?\n");
    ck_assert_str_eq(refused("qqqqqqqq", NULL), "cwctl: unknown command 'qqqqqqqq'; cwctl --help lists them\n");
    ck_assert_str_eq(refused("kv", "gte"), "cwctl: kv has no command 'gte'; did you mean kv get?\n");
    ck_assert_str_eq(refused("key", "explian"), "cwctl: key has no command 'explian'; did you mean key explain?\n");
    ck_assert_str_eq(refused("job", "qqqqqqqq"), "cwctl: job has no command 'qqqqqqqq'; cwctl job --help lists them\n");
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(of_all),      SUITE_TEST(of_one), SUITE_TEST(of_each_group), SUITE_TEST(of_a_command_that_has_a_group),
    SUITE_TEST(near_misses),
};
SUITE_MAIN("help", tests)
