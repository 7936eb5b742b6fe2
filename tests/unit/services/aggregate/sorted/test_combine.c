/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/sorted/combine.h"

#include "rng.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

enum { VALUES = 12, TEXT = 512 };

static const cw_bytes key = {(const uint8_t *)"k", 1};

static cw_bytes text(const char *words)
{
    return (cw_bytes){(const uint8_t *)words, strlen(words)};
}

static struct combine read_combine(const char *word)
{
    struct combine c = {NULL, 77};
    SUITE_HOLDS(combine_read(word, &c) == 0, "%s", word);
    return c;
}

/* The result of values that are prepared, combined left to right in groups that rng draws, and finished. */
static const char *result(const char *word, const char *const *values, unsigned count, struct rng *rng)
{
    static uint8_t part[VALUES][TEXT], next[TEXT], made[TEXT];
    size_t length[VALUES];
    struct combine c = read_combine(word);
    for (unsigned i = 0; i < count; i++) {
        int rc = combine_prepare(&c, key, text(values[i]), part[i], TEXT);
        SUITE_HOLDS(rc >= 0, "%s: %s: %d", word, values[i], rc);
        length[i] = (size_t)rc;
    }
    while (count > 1) {
        unsigned first = (unsigned)rng_below(rng, count), n = 1 + (unsigned)rng_below(rng, count - first);
        cw_bytes group[VALUES];
        for (unsigned i = 0; i < n; i++) {
            group[i] = (cw_bytes){part[first + i], length[first + i]};
        }
        int rc = combine_values(&c, key, group, n, next, TEXT);
        SUITE_HOLDS(rc >= 0, "%s: %d", word, rc);
        memcpy(part[first], next, (size_t)rc);
        length[first] = (size_t)rc;
        memmove(part + first + 1, part + first + n, (count - first - n) * sizeof *part);
        memmove(length + first + 1, length + first + n, (count - first - n) * sizeof *length);
        count -= n - 1;
    }
    int rc = combine_finish(&c, key, (cw_bytes){part[0], length[0]}, made, TEXT - 1);
    SUITE_HOLDS(rc >= 0);
    made[rc] = '\0';
    return (const char *)made;
}

/* Whatever the groups are in which values meet, the result is the one that people expect. */
START_TEST(results)
{
    static const char *const numbers[] = {"5", "-3", "5", "12", "0", "7.5", "5.0"};
    static const char *const words[] = {"pear", "", "fig", "pear", "apple", "fig"};
    static const char *const whole[] = {"9223372036854775807", "9223372036854775807", "-1", "-9223372036854775807"};
    struct rng rng = {3};
    for (unsigned i = 0; i < 200; i++) {
        SUITE_HOLDS(strcmp(result("sum", numbers, 7, &rng), "31.5") == 0);
        SUITE_HOLDS(strcmp(result("sum", whole, 4, &rng), "9223372036854775806") == 0);
        SUITE_HOLDS(strcmp(result("min", numbers, 7, &rng), "-3") == 0);
        SUITE_HOLDS(strcmp(result("max", numbers, 7, &rng), "12") == 0);
        SUITE_HOLDS(strcmp(result("count", words, 6, &rng), "6") == 0);
        SUITE_HOLDS(strcmp(result("avg", numbers, 7, &rng), "4.5") == 0);
        SUITE_HOLDS(strcmp(result("first", words, 6, &rng), "pear") == 0);
        SUITE_HOLDS(strcmp(result("last", words, 6, &rng), "fig") == 0);
        SUITE_HOLDS(strcmp(result("topk:3", numbers, 7, &rng), "12 7.5 5") == 0);
        SUITE_HOLDS(strcmp(result("set:3", words, 6, &rng), "\tapple\tfig\t+") == 0);
        SUITE_HOLDS(strcmp(result("set:9", words, 6, &rng), "\tapple\tfig\tpear") == 0);
    }
    ck_assert_str_eq(result("avg", numbers, 1, &rng), "5");
    ck_assert_str_eq(result("count", numbers, 1, &rng), "1");
}
END_TEST

START_TEST(names)
{
    struct combine c = {NULL, 5};
    const char *why = NULL;
    for (unsigned i = 0; combine_builtin(i) != NULL; i++) {
        ck_assert_int_eq(combine_check(combine_builtin(i), &why), 0);
        ck_assert(combine_builtin(i)->deterministic && combine_builtin(i)->associative);
    }
    ck_assert_int_eq(combine_read("topk:10", &c), 0);
    ck_assert_uint_eq(c.argument, 10);
    ck_assert_int_eq(combine_read("summ", &c), -ENOENT);
    ck_assert_int_eq(combine_read("", &c), -ENOENT);
    ck_assert_int_eq(combine_read("topk", &c), -EINVAL);
    ck_assert_int_eq(combine_read("topk:0", &c), -EINVAL);
    ck_assert_int_eq(combine_read("topk:1001", &c), -EINVAL);
    ck_assert_int_eq(combine_read("set:", &c), -EINVAL);
    ck_assert_int_eq(combine_read("sum:3", &c), -EINVAL);
    ck_assert_uint_eq(c.argument, 10);
    ck_assert_int_eq(combine_read("none", &c), 0);
    ck_assert_ptr_null(c.table);
}
END_TEST

/* What is no number is told where it comes in. */
START_TEST(bad_values)
{
    static const char *const numeric[] = {"sum", "min", "max", "avg", "topk:3"};
    uint8_t out[64];
    for (unsigned i = 0; i < 5; i++) {
        struct combine c = read_combine(numeric[i]);
        SUITE_HOLDS(combine_prepare(&c, key, text("12a"), out, sizeof out) == -EINVAL, "%s", numeric[i]);
        SUITE_HOLDS(combine_prepare(&c, key, text(""), out, sizeof out) == -EINVAL, "%s", numeric[i]);
        cw_bytes values[] = {text("3"), text("x")};
        SUITE_HOLDS(combine_values(&c, key, values, 2, out, sizeof out) == -EINVAL, "%s", numeric[i]);
    }
    struct combine c = read_combine("avg");
    static const char *const partial[] = {"3", "3 ", "3 0", "3 -1", "3 1.5", " 1", "3 1 1"};
    for (unsigned i = 0; i < 7; i++) {
        SUITE_HOLDS(combine_finish(&c, key, text(partial[i]), out, sizeof out) == -EINVAL, "%s", partial[i]);
    }
    c = read_combine("sum");
    cw_bytes much[] = {text("99999999999999999999999999999999999999"), text("1")};
    ck_assert_int_eq(combine_values(&c, key, much, 2, out, sizeof out), -ERANGE);
    c = read_combine("none");
    ck_assert_int_eq(combine_prepare(&c, key, text("abc"), out, 2), -EMSGSIZE);
}
END_TEST

static int too_much(cw_bytes k, const cw_bytes *values, size_t count, uint64_t argument, uint8_t *out, size_t room)
{
    (void)k, (void)values, (void)count, (void)out;
    return argument == 0 ? (int)room + 1 : -ENOSPC;
}

/* A module's table is looked at, and what its functions say is not mixed up with what is said here. */
START_TEST(modules)
{
    const char *why = NULL;
    cw_combiner table = {.size = sizeof table, .api = CW_COMBINE_API, .name = "odd", .combine = too_much};
    uint8_t out[8];
    cw_bytes value = text("1");
    ck_assert_int_eq(combine_check(&table, &why), 0);
    ck_assert_int_eq(combine_values(&(struct combine){&table, 0}, key, &value, 1, out, sizeof out), -EMSGSIZE);
    ck_assert_int_eq(combine_values(&(struct combine){&table, 1}, key, &value, 1, out, sizeof out), -EINVAL);
    table.name = "a b";
    ck_assert_int_eq(combine_check(&table, &why), -EINVAL);
    ck_assert_str_eq(why, "its name is not 1 to 31 letters, digits and '-'");
    table.name = "odd";
    table.api = 2;
    ck_assert_int_eq(combine_check(&table, &why), -EINVAL);
    table.api = CW_COMBINE_API;
    table.combine = NULL;
    ck_assert_int_eq(combine_check(&table, &why), -EINVAL);
    table.size = 8;
    ck_assert_int_eq(combine_check(&table, &why), -EINVAL);
    ck_assert_int_eq(combine_check(NULL, &why), -EINVAL);
    ck_assert_ptr_nonnull(why);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(results), SUITE_TEST(names), SUITE_TEST(bad_values),
                                          SUITE_TEST(modules)};
SUITE_MAIN("combine", tests)
