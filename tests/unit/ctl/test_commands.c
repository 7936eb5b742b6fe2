/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/commands.h"

#include "suite.h"

#include <string.h>

static const struct command *find(const char *a, const char *b, int *used)
{
    const char *words[] = {a, b};
    return commands_find(words, b != NULL ? 2 : 1, used);
}

START_TEST(by_their_names)
{
    int used;
    ck_assert_str_eq(find("links", "+x", &used)->name, "links");
    ck_assert_int_eq(used, 1);
    ck_assert_str_eq(find("services", "load", &used)->name, "services load");
    ck_assert_int_eq(used, 2);
    ck_assert_str_eq(find("services", "x", &used)->name, "services");
    ck_assert_str_eq(find("config", NULL, &used)->name, "config show");
    ck_assert_int_eq(used, 1);
    ck_assert_str_eq(find("key", NULL, &used)->name, "key explain");
    ck_assert_ptr_null(find("nonsense", NULL, &used));
    ck_assert_ptr_null(find("key", "nonsense", &used));
}
END_TEST

/* Nothing in the table contradicts anything else in it. */
START_TEST(the_table_is_sound)
{
    size_t count;
    const struct command *c = commands_table(&count);
    for (size_t i = 0; i < count; i++) {
        ck_assert_msg(c[i].request != NULL || c[i].run != NULL, "%s does nothing", c[i].name);
        ck_assert_msg(c[i].run != NULL || c[i].show != NULL || c[i].columns != NULL, "%s shows nothing", c[i].name);
        ck_assert_msg(c[i].least <= c[i].most, "%s", c[i].name);
        ck_assert_msg(strstr(c[i].example, "cwctl ") != NULL, "%s has no example", c[i].name);
        /* Every option that it names is there. */
        size_t named = 0, taken = 0;
        for (const char *at = c[i].options; *at != '\0'; at += strcspn(at, " "), at += *at == ' ') {
            named++;
        }
        for (const struct arguments_option *o = commands_options(); o->name != NULL; o++) {
            taken += commands_takes(&c[i], o);
        }
        ck_assert_msg(named == taken, "%s names %zu options and has %zu", c[i].name, named, taken);
    }
}
END_TEST

START_TEST(values_have_ranges)
{
    unsigned bounded = 0;
    for (const struct arguments_option *o = commands_options(); o->name != NULL; o++) {
        bool long_span = strcmp(o->name, "within") == 0 || strcmp(o->name, "every") == 0 ||
                         strcmp(o->name, "keep-for") == 0; /* from many ms on */
        struct arguments_given given = {.option = o, .number = long_span ? 5000000 : 1000};
        ck_assert_msg(commands_refusal(&given) == NULL, "%s", o->name);
        given.number = -1;
        bounded += commands_refusal(&given) != NULL;
        if (strcmp(o->name, "lost-after") == 0) {
            given.number = 0;
            ck_assert_str_eq(commands_refusal(&given), "a time with its unit from 1us to 1h, as 5s or 200ms");
        }
    }
    ck_assert_uint_eq(bounded, 16); /* each entry is of an option that there is */
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(by_their_names),
    SUITE_TEST(the_table_is_sound),
    SUITE_TEST(values_have_ranges),
};
SUITE_MAIN("commands", tests)
