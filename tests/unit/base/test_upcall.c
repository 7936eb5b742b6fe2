/* SPDX-License-Identifier: Apache-2.0 */
#include "base/upcall.h"
#include "suite.h"

START_TEST(every_upcall_has_a_name)
{
    for (unsigned i = 0; i < UPCALLS; i++) {
        for (unsigned k = 0; k < i; k++) {
            ck_assert_str_ne(upcall_name((enum upcall)i), upcall_name((enum upcall)k));
        }
    }
}
END_TEST

START_TEST(what_is_none_has_a_name_too)
{
    ck_assert_str_eq(upcall_name(UPCALLS), "?");
    ck_assert_str_eq(upcall_name((enum upcall) - 1), "?");
}
END_TEST

START_TEST(times_are_kept_by_upcall)
{
    struct upcall_times t = {.of = {NULL}};
    ck_assert_uint_eq(upcall_times_bytes(&t), 0);
    upcall_times_note(&t, UPCALL_PACKET, 5000);
    upcall_times_note(&t, UPCALL_PACKET, 6000);
    upcall_times_note(&t, UPCALL_TIMER, 1);
    ck_assert_uint_eq(t.of[UPCALL_PACKET]->count, 2);
    ck_assert_uint_eq(t.of[UPCALL_PACKET]->sum_ns, 11000);
    ck_assert_uint_eq(t.of[UPCALL_TIMER]->count, 1);
    ck_assert_ptr_null(t.of[UPCALL_EVENT]);
    ck_assert_uint_eq(upcall_times_bytes(&t), 2 * sizeof(struct histogram));
    upcall_times_close(&t);
    ck_assert_ptr_null(t.of[UPCALL_PACKET]);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(every_upcall_has_a_name),
    SUITE_TEST(what_is_none_has_a_name_too),
    SUITE_TEST(times_are_kept_by_upcall),
};
SUITE_MAIN("upcall", tests)
