/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/stream/best.h"

#include "rng.h"
#include "suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int add(struct best *b, const char *key, const char *value)
{
    return best_add(b, (cw_bytes){(const uint8_t *)key, strlen(key)},
                    (cw_bytes){(const uint8_t *)value, strlen(value)});
}

static void is(struct best *b, uint32_t rank, const char *key, const char *value)
{
    cw_bytes k, v;
    ck_assert(best_get(b, rank, &k, &v));
    ck_assert(k.length == strlen(key) && memcmp(k.bytes, key, k.length) == 0);
    ck_assert(v.length == strlen(value) && memcmp(v.bytes, value, v.length) == 0);
}

START_TEST(greatest_first)
{
    struct best *b = best_open(4, 10000);
    cw_bytes k, v;
    ck_assert_int_eq(add(b, "five", "5"), 0);
    ck_assert_int_eq(add(b, "none", "word"), 0);
    ck_assert_int_eq(add(b, "ten", "10"), 0);
    ck_assert_int_eq(add(b, "less", "-3"), 0);
    ck_assert_int_eq(add(b, "half", "5.5"), 0);
    ck_assert_int_eq(add(b, "also", "5"), 0);
    ck_assert_int_eq(add(b, "least", "-10000000000000"), 0);
    is(b, 0, "ten", "10");
    is(b, 1, "half", "5.5");
    is(b, 2, "also", "5");
    is(b, 3, "five", "5");
    ck_assert(!best_get(b, 4, &k, &v));
    best_close(b);
    best_close(NULL);
}
END_TEST

START_TEST(fewer_than_wanted)
{
    struct best *b = best_open(10, 10000);
    cw_bytes k, v;
    ck_assert(!best_get(b, 0, &k, &v));
    best_close(b);
    b = best_open(10, 10000);
    ck_assert_int_eq(add(b, "a", ""), 0);
    is(b, 0, "a", "");
    ck_assert(!best_get(b, 1, &k, &v));
    best_close(b);
}
END_TEST

START_TEST(bounded)
{
    struct best *b = best_open(1000, 300);
    int rc = 0;
    for (unsigned i = 0; i < 1000 && rc == 0; i++) {
        rc = add(b, "some key", "1");
    }
    ck_assert_int_eq(rc, -ENOBUFS);
    best_close(b);
    b = best_open(1, 300); /* what makes room for a better one counts no more */
    for (unsigned i = 0; i < 1000; i++) {
        char value[16];
        snprintf(value, sizeof value, "%u", i);
        ck_assert_int_eq(add(b, "some key", value), 0);
    }
    is(b, 0, "some key", "999");
    best_close(b);
}
END_TEST

static int downwards(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x > y ? -1 : x < y;
}

START_TEST(as_a_sort)
{
    enum { MANY = 3000, BEST = 70 };
    static int64_t numbers[MANY];
    struct rng rng = {7};
    struct best *b = best_open(BEST, 1 << 20);
    for (int i = 0; i < MANY; i++) {
        char key[16], value[32];
        numbers[i] = (int64_t)rng_below(&rng, 1000000) - 500000;
        snprintf(key, sizeof key, "%d", i);
        snprintf(value, sizeof value, "%lld", (long long)numbers[i]);
        ck_assert_int_eq(add(b, key, value), 0);
    }
    qsort(numbers, MANY, sizeof *numbers, downwards);
    for (uint32_t i = 0; i < BEST; i++) {
        cw_bytes k, v;
        char value[32];
        ck_assert(best_get(b, i, &k, &v));
        snprintf(value, sizeof value, "%.*s", (int)v.length, (const char *)v.bytes);
        ck_assert_int_eq(atoll(value), numbers[i]);
    }
    best_close(b);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(greatest_first), SUITE_TEST(fewer_than_wanted),
                                          SUITE_TEST(bounded), SUITE_TEST(as_a_sort)};
SUITE_MAIN("best", tests)
