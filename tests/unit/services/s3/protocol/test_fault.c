/* SPDX-License-Identifier: Apache-2.0 */
#include "services/s3/protocol/fault.h"

#include "suite.h"

#include <string.h>

START_TEST(each_has_a_code_a_status_and_a_sentence)
{
    for (s3_fault f = S3_OK + 1; f < S3_FAULTS; f++) {
        SUITE_HOLDS(s3_fault_code(f) != NULL && s3_fault_sentence(f) != NULL, "%d", (int)f);
        SUITE_HOLDS(s3_fault_status(f) >= 304 && s3_fault_status(f) <= 507, "%d", (int)f);
        SUITE_HOLDS(strchr(s3_fault_code(f), ' ') == NULL, "%d", (int)f);
        SUITE_HOLDS(strpbrk(s3_fault_sentence(f), "<&>") == NULL, "%d", (int)f); /* it goes into XML as it is */
        SUITE_HOLDS(s3_fault_passes(f) == (s3_fault_status(f) == 503), "%d", (int)f);
    }
}
END_TEST

START_TEST(what_clients_know)
{
    ck_assert_str_eq(s3_fault_code(S3_NO_KEY), "NoSuchKey");
    ck_assert_uint_eq(s3_fault_status(S3_NO_KEY), 404);
    ck_assert_uint_eq(s3_fault_status(S3_WRONG_SIGNATURE), 403);
    ck_assert_uint_eq(s3_fault_status(S3_INTERNAL), 500);
}
END_TEST

START_TEST(ok_has_no_code)
{
    (void)s3_fault_code(S3_OK);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(each_has_a_code_a_status_and_a_sentence),
                                          SUITE_TEST(what_clients_know), SUITE_ABORTS(ok_has_no_code)};
SUITE_MAIN("fault", tests)
