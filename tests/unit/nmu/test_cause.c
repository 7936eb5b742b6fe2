/* SPDX-License-Identifier: Apache-2.0 */
#include "nmu/cause.h"
#include "suite.h"

#include <string.h>

START_TEST(every_cause_has_its_own_words)
{
    for (unsigned i = 0; i < NMU_CAUSES; i++) {
        ck_assert_uint_gt(strlen(cause_text((enum nmu_cause)i)), 0);
        ck_assert_uint_gt(strlen(cause_name((enum nmu_cause)i)), 0);
        for (unsigned k = 0; k < i; k++) {
            ck_assert_str_ne(cause_text((enum nmu_cause)i), cause_text((enum nmu_cause)k));
            ck_assert_str_ne(cause_name((enum nmu_cause)i), cause_name((enum nmu_cause)k));
        }
    }
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(every_cause_has_its_own_words)};
SUITE_MAIN("cause", tests)
