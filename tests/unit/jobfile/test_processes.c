/* SPDX-License-Identifier: Apache-2.0 */
/* test_processes.c - sets against a plain array of truths, at both ends of the numbers, and as text. */
#include "jobfile/processes.h"
#include "rng.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static char text[4096];

static const char *text_of(const struct processes *s)
{
    memset(text, 0, sizeof text);
    FILE *out = fmemopen(text, sizeof text, "w");
    processes_write(s, out);
    fclose(out);
    return text;
}

static void sound(const struct processes *s)
{
    ck_assert(!s->all || s->count == 0);
    for (uint32_t i = 0; i < s->count; i++) {
        ck_assert_uint_le(s->span[i].first, s->span[i].last);
        ck_assert(i == 0 || (uint64_t)s->span[i - 1].last + 1 < s->span[i].first);
    }
}

START_TEST(as_an_array_of_truths)
{
    enum { MOST = 24, ROUNDS = 20000 };
    struct rng rng = {20};
    for (unsigned side = 0; side < 2; side++) {
        cw_process base = side == 0 ? 0 : UINT32_MAX - (MOST - 1);
        bool in[MOST] = {false};
        struct processes s = {0};
        for (unsigned round = 0; round < ROUNDS; round++) {
            unsigned a = (unsigned)rng_below(&rng, MOST), b = (unsigned)rng_below(&rng, MOST);
            unsigned first = a < b ? a : b, last = a < b ? b : a;
            bool add = rng_below(&rng, 2) == 0;
            int rc =
                add ? processes_add(&s, base + first, base + last) : processes_remove(&s, base + first, base + last);
            ck_assert_int_eq(rc, 0);
            for (unsigned i = first; i <= last; i++) {
                in[i] = add;
            }
            sound(&s);
            bool any = false;
            for (unsigned i = 0; i < MOST; i++) {
                ck_assert(processes_hold(&s, base + i) == in[i]);
                any = any || in[i];
            }
            ck_assert(processes_is_empty(&s) == !any);
            struct processes again = {0};
            ck_assert_int_eq(processes_read(&again, any ? text_of(&s) : "0"), 0);
            ck_assert(!any || processes_equal(&s, &again));
            processes_close(&again);
        }
        processes_close(&s);
    }
}
END_TEST

START_TEST(all_is_more_than_every_number)
{
    struct processes all = {0}, every = {0}, copy = {0};
    ck_assert_int_eq(processes_read(&all, "all"), 0);
    ck_assert_int_eq(processes_read(&every, "0-4294967295"), 0);
    ck_assert(!processes_equal(&all, &every));
    ck_assert_str_eq(text_of(&all), "all");
    ck_assert(processes_hold(&all, UINT32_MAX));
    ck_assert_int_eq(processes_add(&all, 3, 4), 0);
    ck_assert(all.all);
    ck_assert_int_eq(processes_copy(&copy, &all), 0);
    ck_assert_int_eq(processes_remove(&copy, 3, 3), 0);
    ck_assert_str_eq(text_of(&copy), "0-2,4-4294967295");
    ck_assert_int_eq(processes_join(&copy, &all), 0);
    ck_assert(processes_equal(&copy, &all));
    ck_assert_int_eq(processes_subtract(&copy, &every), 0);
    ck_assert(processes_is_empty(&copy));
    ck_assert_int_eq(processes_join(&copy, &every), 0);
    ck_assert(processes_equal(&copy, &every));
    ck_assert_int_eq(processes_subtract(&copy, &all), 0);
    ck_assert(processes_is_empty(&copy));
    ck_assert_str_eq(text_of(&copy), "");
    processes_close(&all);
    processes_close(&every);
    processes_close(&copy);
}
END_TEST

START_TEST(no_more_than_a_record_holds)
{
    enum { SPANS = JOB_RECORD_GRANT_SPANS_MAX + 1 };
    struct processes s = {0};
    char *many = malloc(SPANS * 8);
    size_t used = 0;
    for (unsigned i = 0; i < SPANS; i++) {
        used += (size_t)sprintf(many + used, "%s%u", i > 0 ? "," : "", 2 * i);
    }
    ck_assert_int_eq(processes_read(&s, many), -E2BIG);
    *strrchr(many, ',') = '\0';
    ck_assert_int_eq(processes_read(&s, many), 0);
    ck_assert_uint_eq(s.count, SPANS - 1);
    processes_close(&s);
    free(many);
}
END_TEST

START_TEST(texts)
{
    static const struct {
        const char *text, *is; /* NULL: refused */
    } rows[] = {
        {"0", "0"},         {"7,3-5, 6 ,0", "0,3-7"},
        {" 1 - 2 ", "1-2"}, {"4294967295", "4294967295"},
        {"1,1,1", "1"},     {"", NULL},
        {",", NULL},        {"1,", NULL},
        {"2-1", NULL},      {"-1", NULL},
        {"1-", NULL},       {"4294967296", NULL},
        {"1 2", NULL},      {"x", NULL},
        {"All", NULL},      {"all,1", NULL},
        {"0x10", NULL},     {"1--2", NULL},
        {"1-2-3", NULL},    {"99999999999999999999", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct processes s = {0};
        ck_assert_msg(processes_read(&s, rows[i].text) == (rows[i].is != NULL ? 0 : -EINVAL), "%s", rows[i].text);
        ck_assert_str_eq(text_of(&s), rows[i].is != NULL ? rows[i].is : "");
        processes_close(&s);
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(as_an_array_of_truths),
    SUITE_TEST(all_is_more_than_every_number),
    SUITE_TEST(no_more_than_a_record_holds),
    SUITE_TEST(texts),
};
SUITE_MAIN("processes", tests)
