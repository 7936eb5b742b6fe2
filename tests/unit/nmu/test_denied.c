/* SPDX-License-Identifier: Apache-2.0 */
#include "nmu/denied.h"
#include "suite.h"

static void refuse(struct denied *d, cw_job from, cw_job to, cw_process process, cw_port port, bool key)
{
    denied_count(
        d, &(struct denied_row){
               .source_job = from, .job = to, .process = process, .port = port, .key = key, .cause = NMU_NO_GRANT});
}

START_TEST(each_kind_is_counted_alone)
{
    struct denied d;
    ck_assert_int_eq(denied_open(&d, 64, 3), 0);
    ck_assert_uint_gt(denied_bytes(&d), 0);
    for (unsigned round = 0; round < 5; round++) {
        for (unsigned i = 0; i < 32; i++) {
            refuse(&d, 1 + (i & 1), 1 + (i >> 1 & 1), i >> 2 & 1, i >> 3 & 1, i >> 4);
        }
    }
    unsigned rows = 0;
    uint32_t from = 0;
    for (const struct denied_row *row; (row = denied_next(&d, &from)) != NULL; rows++) {
        ck_assert_uint_eq(row->times, 5);
        ck_assert_uint_eq(row->cause, NMU_NO_GRANT);
    }
    ck_assert_uint_eq(rows, 32);
    ck_assert_uint_eq(d.total, 160);
    ck_assert_uint_eq(d.overflow, 0);
    denied_close(&d);
}
END_TEST

START_TEST(the_latest_is_known)
{
    struct denied d;
    ck_assert_int_eq(denied_open(&d, 64, 3), 0);
    ck_assert_ptr_null(denied_latest(&d, 1));
    refuse(&d, 1, 2, 0, 7, false);
    refuse(&d, 1, 2, 0, 8, false);
    refuse(&d, 2, 2, 0, 9, false);
    ck_assert_uint_eq(denied_latest(&d, 1)->port, 8);
    refuse(&d, 1, 2, 0, 7, false);
    ck_assert_uint_eq(denied_latest(&d, 1)->port, 7);
    ck_assert_uint_eq(denied_latest(&d, 1)->latest, d.total);
    ck_assert_ptr_null(denied_latest(&d, 3));
    denied_close(&d);
}
END_TEST

START_TEST(who_tries_everything_overflows)
{
    struct denied d;
    ck_assert_int_eq(denied_open(&d, 5, 3), 0);
    for (unsigned i = 0; i < 1000; i++) {
        refuse(&d, 1, 2, i, 0, false);
    }
    refuse(&d, 1, 2, 4, 0, false);
    ck_assert_uint_eq(d.used, 5);
    ck_assert_uint_eq(d.overflow, 995);
    ck_assert_uint_eq(d.total, 1001);
    uint32_t from = 0;
    uint64_t times = 0;
    for (const struct denied_row *row; (row = denied_next(&d, &from)) != NULL;) {
        times += row->times;
    }
    ck_assert_uint_eq(times + d.overflow, d.total);
    denied_close(&d);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(the_latest_is_known),
    SUITE_TEST(each_kind_is_counted_alone),
    SUITE_TEST(who_tries_everything_overflows),
};
SUITE_MAIN("denied", tests)
