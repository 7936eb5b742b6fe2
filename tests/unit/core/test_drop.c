/* SPDX-License-Identifier: Apache-2.0 */
#include "cubeway/err.h"
#include "suite.h"

#include <ctype.h>
#include <string.h>

START_TEST(every_cause_has_a_name_of_its_own)
{
    for (int a = 0; a < CW_DROP_COUNT; a++) {
        const char *name = cw_drop_name((cw_drop)a);
        ck_assert_ptr_nonnull(name);
        ck_assert_uint_gt(strlen(name), 0);
        for (const char *p = name; *p != '\0'; p++) {
            ck_assert_msg(islower(*p) || *p == '-', "%s", name); /* goes into counters and JSON as it is */
        }
        ck_assert_uint_gt(strlen(cw_drop_text((cw_drop)a)), strlen(name));
        for (int b = 0; b < a; b++) {
            ck_assert_str_ne(name, cw_drop_name((cw_drop)b));
            ck_assert_str_ne(cw_drop_text((cw_drop)a), cw_drop_text((cw_drop)b));
        }
    }
    ck_assert_str_eq(cw_drop_name(CW_DROP_HOP_LIMIT), "hop-limit");
}
END_TEST

START_TEST(what_is_no_cause_has_words_too)
{
    ck_assert_str_eq(cw_drop_name(CW_DROP_COUNT), "unknown");
    ck_assert_str_eq(cw_drop_text((cw_drop)-1), "unknown cause");
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(every_cause_has_a_name_of_its_own),
    SUITE_TEST(what_is_no_cause_has_words_too),
};
SUITE_MAIN("drop", tests)
