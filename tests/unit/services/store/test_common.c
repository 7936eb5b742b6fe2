/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/common.h"

#include "store_town.h"
#include "suite.h"

START_TEST(all_have_words)
{
    for (unsigned i = 0; i < CW_STORE_STATUSES; i++) {
        ck_assert_str_ne(store_status_text((cw_store_status)i), "?");
    }
    for (unsigned i = 0; i < STORE_COUNTS; i++) {
        ck_assert_ptr_nonnull(store_count_names[i].name);
        ck_assert_ptr_nonnull(store_count_names[i].help);
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(all_have_words),
};
SUITE_MAIN("store common", tests)
