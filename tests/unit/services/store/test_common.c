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

START_TEST(a_register_of_the_longest_fits_a_packet)
{
    struct fake_net *net = store_town_open(3);
    const struct store *s = store_town_of(net, 0);
    ck_assert_uint_ge(store_room(s), CW_STORE_NAME_MAX + CW_STORE_VALUE_MAX);
    ck_assert(!store_is_full(s));
    store_town_close(net);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(all_have_words),
    SUITE_TEST(a_register_of_the_longest_fits_a_packet),
};
SUITE_MAIN("store common", tests)
