/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/commands.h"

#include "suite.h"

#include <string.h>

static const struct arguments_option *option(const char *name)
{
    const struct arguments_option *o = commands_options();
    while (o->name != NULL && strcmp(o->name, name) != 0) {
        o++;
    }
    ck_assert_msg(o->name != NULL, "%s", name);
    return o;
}

static const struct command *command(const char *name)
{
    int used;
    const char *words[] = {name};
    return commands_find(words, 1, &used);
}

START_TEST(who_takes_them)
{
    ck_assert(commands_takes(command("hosts"), option("write")));
    ck_assert(commands_takes(command("hosts"), option("network")));
    ck_assert(!commands_takes(command("drops"), option("write")));
}
END_TEST

/* In some commands an option has words of its own. */
START_TEST(what_they_do)
{
    ck_assert_str_eq(commands_option_help(command("drops"), option("all")),
                     "show causes of which nothing was dropped, too");
    ck_assert_str_eq(commands_option_help(command("hosts"), option("write")), option("write")->help);
}
END_TEST

static const char *refusal(const char *name, int64_t number)
{
    const struct arguments_given given = {.option = option(name), .text = "", .number = number};
    return commands_refusal(&given);
}

START_TEST(values_in_and_out_of_range)
{
    ck_assert_ptr_null(refusal("heirs", 4096));
    ck_assert_str_eq(refusal("heirs", 4097), "a whole number from 1 to 4096");
    ck_assert_ptr_nonnull(refusal("weight", 0));
    ck_assert_ptr_nonnull(refusal("every", 49999));
    ck_assert_ptr_null(refusal("every", 50000));
    ck_assert_ptr_null(refusal("size", -1)); /* daemons know its range */
}
END_TEST

START_TEST(each_name_once)
{
    for (const struct arguments_option *o = commands_options(); o->name != NULL; o++) {
        ck_assert_ptr_eq(option(o->name), o);
        ck_assert_str_ne(o->help, "");
    }
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(who_takes_them), SUITE_TEST(what_they_do),
                                          SUITE_TEST(values_in_and_out_of_range), SUITE_TEST(each_name_once)};
SUITE_MAIN("command_options", tests)
