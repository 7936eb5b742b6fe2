/* SPDX-License-Identifier: Apache-2.0 */
#include "suite.h"
#include "testbed/cwlab/outcome/compare.h"

#include <string.h>

static unsigned outside(const char *simulated, int64_t packets, int64_t misdelivered, double share)
{
    struct message *m = message_parse(simulated, strlen(simulated), NULL, 0);
    struct report *r = report_open(NULL);
    report_integer(r, "packets", packets);
    report_integer(r, "misdelivered", misdelivered);
    report_real(r, "dropped_share", share);
    unsigned count = compare_reports(r, m);
    report_close(r);
    message_close(m);
    return count;
}

START_TEST(bounds)
{
    static const char simulated[] =
        "{\"packets\": 10000, \"misdelivered\": 0, \"dropped_share\": 0.01, \"hops_mean\": 2}";
    ck_assert_uint_eq(outside(simulated, 10000, 0, 0.01), 0);
    ck_assert_uint_eq(outside(simulated, 10500, 0, 0.03), 0);
    ck_assert_uint_eq(outside(simulated, 10501, 0, 0.01), 1);
    ck_assert_uint_eq(outside(simulated, 9000, 1, 0.04), 3);
    ck_assert_uint_eq(outside("{}", 1, 1, 1), 0); /* nothing to compare with */
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(bounds)};
SUITE_MAIN("compare", tests)
