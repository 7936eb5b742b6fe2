/* SPDX-License-Identifier: Apache-2.0 */
#include "jobs_town.h"
#include "suite.h"

/* `status` and the metrics say the same. */
START_TEST(a_count_is_told_twice)
{
    town_prepare();
    town_open((cw_dims){1, 1, 1});
    struct jobs *j = town_jobs(0);
    jobs_count(j, JOBS_COUNT_FORKS);
    jobs_count(j, JOBS_COUNT_FORKS);
    ck_assert_uint_eq(j->count[JOBS_COUNT_FORKS], 2);
    ck_assert_uint_eq(j->counter[JOBS_COUNT_FORKS]->value, 2);
    ck_assert_str_eq(j->counter[JOBS_COUNT_FORKS]->name, "forks");
    ck_assert_uint_eq(town_close(), 0);
}
END_TEST

/* Each help text stands alone: it begins with a capital and ends with a full stop. */
START_TEST(each_count_has_a_name_and_a_sentence)
{
    for (unsigned i = 0; i < JOBS_COUNTS; i++) {
        const char *help = jobs_counts[i].help;
        ck_assert_ptr_nonnull(jobs_counts[i].name);
        ck_assert_msg(help[0] >= 'A' && help[0] <= 'Z' && help[strlen(help) - 1] == '.', "%s", help);
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_count_is_told_twice),
    SUITE_TEST(each_count_has_a_name_and_a_sentence),
};
SUITE_MAIN("counts", tests)
