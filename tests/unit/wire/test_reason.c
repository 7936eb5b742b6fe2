/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/reason.h"

#include "suite.h"

#include <string.h>

START_TEST(every_reason_has_a_name_of_its_own)
{
    for (unsigned i = 0; i < WIRE_REASON_COUNT; i++) {
        const char *name = wire_reason_name((enum wire_reason)i);
        const char *text = wire_reason_text((enum wire_reason)i);
        ck_assert_ptr_nonnull(name);
        ck_assert_ptr_nonnull(text);
        ck_assert_uint_gt(strlen(text), strlen(name));                                /* a sentence */
        ck_assert_uint_eq(strspn(name, "abcdefghijklmnopqrstuvwxyz-"), strlen(name)); /* fit for a metric's label */
        for (unsigned j = 0; j < i; j++) {
            ck_assert_str_ne(name, wire_reason_name((enum wire_reason)j));
            ck_assert_str_ne(text, wire_reason_text((enum wire_reason)j));
        }
    }
}
END_TEST

START_TEST(any_number_may_be_asked_for)
{
    ck_assert_str_eq(wire_reason_name(WIRE_REASON_COUNT), "unknown");
    ck_assert_str_eq(wire_reason_name((enum wire_reason) - 1), "unknown");
    ck_assert_str_eq(wire_reason_text(WIRE_REASON_COUNT), "unknown reason");
    ck_assert_str_eq(wire_reason_text((enum wire_reason)1000), "unknown reason");
    ck_assert_str_eq(wire_reason_name(WIRE_OK), "ok");
    ck_assert_str_eq(wire_reason_name(WIRE_BAD_ORDER), "bad-order");
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(every_reason_has_a_name_of_its_own),
    SUITE_TEST(any_number_may_be_asked_for),
};
SUITE_MAIN("reason", tests)
