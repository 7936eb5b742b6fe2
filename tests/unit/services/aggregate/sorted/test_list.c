/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/sorted/list.h"

#include "suite.h"

#include <errno.h>
#include <string.h>

static uint8_t out[256];
static const cw_bytes key = {(const uint8_t *)"k", 1};

static cw_bytes text(const char *words)
{
    return (cw_bytes){(const uint8_t *)words, strlen(words)};
}

static const char *top(uint64_t k, const char *a, const char *b, const char *c)
{
    cw_bytes values[] = {text(a), text(b), text(c)};
    int rc = list_top(key, values, 3, k, out, sizeof out - 1);
    SUITE_HOLDS(rc >= 0, "%d", rc);
    out[rc] = '\0';
    return (const char *)out;
}

START_TEST(order)
{
    ck_assert_int_lt(list_order(text(""), text("a")), 0);
    ck_assert_int_lt(list_order(text("a"), text("ab")), 0);
    ck_assert_int_gt(list_order(text("b"), text("ab")), 0);
    ck_assert_int_eq(list_order(text("ab"), text("ab")), 0);
}
END_TEST

START_TEST(tops)
{
    ck_assert_str_eq(top(3, "5", "7", "-1"), "7 5 -1");
    ck_assert_str_eq(top(2, "5", "7", "-1"), "7 5");
    ck_assert_str_eq(top(4, "9 5 1", "7", "8.5 8.5"), "9 8.5 8.5 7");
    ck_assert_str_eq(top(9, "1.0", "1", "1e0"), "1 1.0 1e0");
    ck_assert_str_eq(top(1, "10", "9", "100"), "100");
}
END_TEST

START_TEST(bad_tops)
{
    static const char *const bad[] = {"", " ", "1 ", " 1", "1  2", "1 x", "x"};
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        cw_bytes values[] = {text("3"), text(bad[i])};
        SUITE_HOLDS(list_top(key, values, 2, 5, out, sizeof out) == -EINVAL, "'%s'", bad[i]);
    }
    cw_bytes values[] = {text("33"), text("44")};
    ck_assert_int_eq(list_top(key, values, 2, 2, out, 4), -EMSGSIZE);
    ck_assert_int_eq(list_top(key, values, 2, 2, out, 5), 5);
}
END_TEST

/* Sets of up to K values that meet in two steps, as text. */
static const char *set(uint64_t k, const char *a, const char *b, const char *c)
{
    const char *words[] = {a, b, c};
    static uint8_t one[3][64], both[128], all[128];
    static char made[128];
    cw_bytes values[3];
    for (unsigned i = 0; i < 3; i++) {
        int rc = list_set_prepare(key, text(words[i]), k, one[i], sizeof one[i]);
        SUITE_HOLDS(rc == (int)strlen(words[i]) + 2);
        values[i] = (cw_bytes){one[i], (size_t)rc};
    }
    int rc = list_set(key, values, 2, k, both, sizeof both);
    SUITE_HOLDS(rc >= 0);
    cw_bytes halves[] = {{both, (size_t)rc}, values[2]};
    rc = list_set(key, halves, 2, k, all, sizeof all);
    SUITE_HOLDS(rc >= 0);
    rc = list_set_finish(key, (cw_bytes){all, (size_t)rc}, k, (uint8_t *)made, sizeof made - 1);
    SUITE_HOLDS(rc >= 0);
    made[rc] = '\0';
    return made;
}

START_TEST(sets)
{
    ck_assert_str_eq(set(3, "b", "a", "c"), "a\tb\tc");
    ck_assert_str_eq(set(3, "b", "a", "b"), "a\tb");
    ck_assert_str_eq(set(2, "b", "a", "c"), "a\tb\t+");
    ck_assert_str_eq(set(2, "b", "", "b"), "\tb");
    ck_assert_str_eq(set(1, "x", "x", "x"), "x");
    ck_assert_str_eq(set(1, "x", "x", "y"), "x\t+");
}
END_TEST

START_TEST(bad_sets)
{
    static const struct {
        const char *bytes;
        size_t length;
    } bad[] = {{"\0", 1}, {"\0\2a", 3}, {"\0\1b\0\1a", 6}, {"\0\1a\0\1a", 6}};
    for (unsigned i = 0; i < 4; i++) {
        cw_bytes value = {(const uint8_t *)bad[i].bytes, bad[i].length};
        SUITE_HOLDS(list_set(key, &value, 1, 5, out, sizeof out) == -EINVAL, "%u", i);
        SUITE_HOLDS(list_set_finish(key, value, 5, out, sizeof out) == -EINVAL, "%u", i);
    }
    ck_assert_int_eq(list_set_prepare(key, text("abc"), 5, out, 4), -EMSGSIZE);
    ck_assert_int_eq(list_set_prepare(key, (cw_bytes){out, 65536}, 5, out, 4), -EMSGSIZE);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(order), SUITE_TEST(tops), SUITE_TEST(bad_tops), SUITE_TEST(sets),
                                          SUITE_TEST(bad_sets)};
SUITE_MAIN("list", tests)
