/* SPDX-License-Identifier: Apache-2.0 */
#include "figures/counters.h"
#include "suite.h"

#include <stdio.h>

START_TEST(same_name_same_counter)
{
    struct counter_set set;
    counters_init(&set);
    char name[] = "packets-in_1";
    struct cw_counter *a = counters_get(&set, name, "help");
    name[0] = 'q'; /* it was copied */
    ck_assert_str_eq(a->name, "packets-in_1");
    ck_assert_ptr_eq(counters_get(&set, "packets-in_1", NULL), a);
    ck_assert_ptr_ne(counters_get(&set, "packets-in_", NULL), a);
    ck_assert_str_eq(counters_get(&set, "packets-in_", NULL)->help, "");
    ck_assert_ptr_eq(counters_at(&set, 0), a);
    ck_assert_ptr_null(counters_at(&set, 2));
}
END_TEST

START_TEST(too_many_and_bad_names_share_overflow)
{
    struct counter_set set;
    char name[40];
    counters_init(&set);
    struct cw_counter *last = NULL;
    for (unsigned i = 0; i < COUNTERS_MAX - 1; i++) {
        snprintf(name, sizeof name, "c%u", i);
        last = counters_get(&set, name, NULL);
        ck_assert_ptr_ne(last, &set.overflow);
    }
    ck_assert_ptr_eq(counters_get(&set, "one-more", NULL), &set.overflow);
    ck_assert_ptr_eq(counters_get(&set, "c62", NULL), last);
    ck_assert_ptr_null(counters_at(&set, COUNTERS_MAX - 1)); /* not used yet */
    set.overflow.value = 1;
    ck_assert_str_eq(counters_at(&set, COUNTERS_MAX - 1)->name, "overflow");
    ck_assert_ptr_null(counters_at(&set, COUNTERS_MAX));
    counters_init(&set);
    const char *const bad[] = {NULL, "", "a b", "\xc3\xa4", "12345678901234567890123456789012", "x\n"};
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_ptr_eq(counters_get(&set, bad[i], NULL), &set.overflow);
    }
    ck_assert_ptr_ne(counters_get(&set, "1234567890123456789012345678901", NULL), &set.overflow);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(same_name_same_counter),
    SUITE_TEST(too_many_and_bad_names_share_overflow),
};
SUITE_MAIN("counters", tests)
