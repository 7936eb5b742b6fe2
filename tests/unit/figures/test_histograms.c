/* SPDX-License-Identifier: Apache-2.0 */
#include "figures/histograms.h"

#include "suite.h"

START_TEST(made_once_by_name)
{
    struct histogram_set set = {0};
    struct cw_histogram *a = histograms_get(&set, "get", "how long"), *b = histograms_get(&set, "get_2", NULL);
    ck_assert(a != NULL && b != NULL && a != b);
    ck_assert_ptr_eq(histograms_get(&set, "get", "otherwise"), a);
    ck_assert_str_eq(a->help, "how long");
    ck_assert_str_eq(b->help, "");
    ck_assert_str_eq(b->name, "get_2");
    ck_assert_uint_eq(set.count, 2);
    histograms_close(&set);
    ck_assert_uint_eq(set.count, 0);
}
END_TEST

START_TEST(what_is_no_name_or_too_many_is_none)
{
    struct histogram_set set = {0};
    char name[8];
    ck_assert_ptr_null(histograms_get(&set, NULL, NULL));
    ck_assert_ptr_null(histograms_get(&set, "", NULL));
    ck_assert_ptr_null(histograms_get(&set, "a b", NULL));
    for (unsigned i = 0; i < HISTOGRAMS_MAX; i++) {
        snprintf(name, sizeof name, "h%u", i);
        ck_assert_ptr_nonnull(histograms_get(&set, name, NULL));
    }
    ck_assert_ptr_null(histograms_get(&set, "more", NULL));
    ck_assert_ptr_nonnull(histograms_get(&set, "h3", NULL));
    histograms_close(&set);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(made_once_by_name),
                                          SUITE_TEST(what_is_no_name_or_too_many_is_none)};
SUITE_MAIN("histograms", tests)
