/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/commands.h"

#include "suite.h"

#include <string.h>

static const struct arguments_option *find(const char *name)
{
    const struct arguments_option *o = commands_options();
    while (o->name != NULL && strcmp(o->name, name) != 0) {
        o++;
    }
    return o->name != NULL ? o : NULL;
}

static const char *refusal(const char *name, int64_t number)
{
    const struct arguments_given given = {find(name), "", number};
    ck_assert_ptr_nonnull(given.option);
    return commands_refusal(&given);
}

START_TEST(values_in_and_out_of_range)
{
    ck_assert_ptr_null(refusal("weight", 1000));
    ck_assert_ptr_nonnull(refusal("weight", 1001));
    ck_assert_ptr_nonnull(refusal("weight", 0));
    ck_assert_ptr_nonnull(refusal("every", 49999));
    ck_assert_ptr_null(refusal("every", 50000));
    ck_assert_ptr_null(refusal("size", -1)); /* daemons know its range */
}
END_TEST

START_TEST(each_name_once)
{
    for (const struct arguments_option *o = commands_options(); o->name != NULL; o++) {
        ck_assert_ptr_eq(find(o->name), o);
        ck_assert_str_ne(o->help, "");
    }
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(values_in_and_out_of_range), SUITE_TEST(each_name_once)};
SUITE_MAIN("command_options", tests)
