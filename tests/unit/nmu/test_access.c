/* SPDX-License-Identifier: Apache-2.0 */
#include "nmu/access.h"
#include "suite.h"

START_TEST(a_speaker_is_who_it_was_let_in_as)
{
    struct access a;
    ck_assert_int_eq(access_open(&a, 3), 0);
    ck_assert_uint_ge(access_bytes(&a), 3 * sizeof(struct access_entry));
    for (uint32_t i = 0; i < 5; i++) {
        ck_assert_ptr_null(access_of(&a, i));
    }
    access_set(&a, 2, &(struct access_entry){.job = 7, .process = 9, .generation = 4, .home = 1});
    const struct access_entry *who = access_of(&a, 2);
    ck_assert_uint_eq(who->job, 7);
    ck_assert_uint_eq(who->process, 9);
    ck_assert_ptr_null(access_of(&a, 1));
    ck_assert_ptr_null(access_of(&a, UINT32_MAX));
    access_set(&a, 2, &(struct access_entry){.job = 0});
    ck_assert_ptr_null(access_of(&a, 2));
    access_close(&a);
}
END_TEST

START_TEST(nobody_is_let_in_outside_the_table)
{
    struct access a;
    ck_assert_int_eq(access_open(&a, 3), 0);
    access_set(&a, 3, &(struct access_entry){.job = 7});
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_speaker_is_who_it_was_let_in_as),
    SUITE_ABORTS(nobody_is_let_in_outside_the_table),
};
SUITE_MAIN("access", tests)
