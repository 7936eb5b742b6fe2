/* SPDX-License-Identifier: Apache-2.0 */
#include "base/nearest.h"
#include "suite.h"

#include <string.h>

static const char *nth(const void *context, size_t i)
{
    return ((const char *const *)context)[i];
}

START_TEST(the_name_that_was_meant)
{
    static const char *const names[] = {"throughput", "churn", "latency", "run", "runs"};
    static const struct {
        const char *name, *meant;
    } rows[] = {
        {"chrun", "churn"},  {"churm", "churn"}, {"chur", "churn"},
        {"cchurn", "churn"}, {"thru", NULL},     {"through", "throughput"}, /* it begins so */
        {"t", NULL},         {"xyzzy", NULL},    {"run", "run"},
        {"rnu", "run"},      {"rum", "run"},     {"a name that is far too long to be one at all", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *near = nearest_name(rows[i].name, strlen(rows[i].name), nth, names, 5);
        ck_assert_pstr_eq(near, rows[i].meant);
    }
    ck_assert_ptr_null(nearest_name("run", 3, nth, names, 0));
    static const char *const ends[] = {"up", "down", NULL}, *const none[] = {NULL};
    ck_assert_pstr_eq(nearest_word("dwn", ends), "down");
    ck_assert_pstr_eq(nearest_word("sideways", ends), NULL);
    ck_assert_ptr_null(nearest_word("up", none));
}
END_TEST

/* Distance by distance; that most letters are right is a bound of its own. */
/* Files have names with a NUL inside, and their ends are no letters. */
START_TEST(a_name_with_a_nul_inside)
{
    static const char *const names[] = {"restart", "power-off", "start"};
    static const char name[] = "power-off\0\x7f,{";
    ck_assert_str_eq(nearest_name(name, sizeof name - 1, nth, names, 3), "power-off");
    ck_assert_str_eq(nearest_name(name, 10, nth, names, 3), "power-off");
}
END_TEST

START_TEST(as_many_letters_as_that)
{
    static const struct {
        const char *name, *only;
        bool near;
    } rows[] = {
        {"kittens", "sittings", true},   /* 2 */
        {"kittens", "sitting", true},    /* 3 of 7 */
        {"kittens", "sittingly", false}, /* 4 */
        {"kitten", "sitting", false},    /* 3 of 6 */
        {"ab", "ba", true},
        {"foo", "top", false},   /* 2 of 3 letters would be wrong */
        {"stop", "shot", false}, /* 2 of 4 */
        {"stopp", "shop", true}, /* 2 of 5 */
        {"nope", "top", false},
        {"a", "b", false},
        {"a", "a", true},
        {"ab", "cd", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *near = nearest_name(rows[i].name, strlen(rows[i].name), nth, &rows[i].only, 1);
        ck_assert_msg((near != NULL) == rows[i].near, "%s, %s", rows[i].name, rows[i].only);
    }
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(the_name_that_was_meant), SUITE_TEST(as_many_letters_as_that),
                                          SUITE_TEST(a_name_with_a_nul_inside)};
SUITE_MAIN("nearest", tests)
