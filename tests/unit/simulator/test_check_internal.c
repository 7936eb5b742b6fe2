/* SPDX-License-Identifier: Apache-2.0 */
/* Which of two versions of a record is the older one. */
#include "simulator/check_internal.h"

#include "suite.h"

START_TEST(incarnation_counts_before_number)
{
    static const struct version rising[] = {{0, 0}, {0, 1}, {1, 0}, {1, 7}, {1, UINT32_MAX}, {2, 0}, {UINT64_MAX, 0}};
    enum { COUNT = sizeof rising / sizeof *rising };
    for (unsigned a = 0; a < COUNT; a++) {
        for (unsigned b = 0; b < COUNT; b++) {
            ck_assert(version_before(rising[a], rising[b]) == (a < b));
        }
    }
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(incarnation_counts_before_number)};
SUITE_MAIN("simulator/check_internal", tests)
