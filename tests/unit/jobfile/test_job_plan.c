/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_job_plan.c - a job put together piece by piece: what fits, what does not and why; the paper's tables 1 and 2 as
 * plans.
 */
#include "jobfile/job_right.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static char why[JOB_PLAN_WHY];

START_TEST(ranges_are_dense_and_apart)
{
    struct job_plan p;
    job_plan_open(&p, 5, "a");
    ck_assert_int_eq(job_plan_add_range(&p, 4, 7, 14, why), 0);
    ck_assert_int_eq(job_plan_add_range(&p, 0, 1, 10, why), 0);
    ck_assert_int_eq(job_plan_add_range(&p, 8, 8, 30, why), 0);
    ck_assert_uint_eq(p.ranges, 3);
    ck_assert_int_eq(job_plan_add_range(&p, 2, 3, 12, why), 0);
    ck_assert_uint_eq(p.ranges, 2); /* 0-7 on servers 10-17 */
    ck_assert_uint_eq(p.range[0].count, 8);
    ck_assert_int_eq(job_plan_add_range(&p, 7, 9, 50, why), -EEXIST);
    ck_assert_str_eq(why, "process 7 has a server already");
    ck_assert_int_eq(job_plan_add_range(&p, 8, 9, 50, why), -EEXIST);
    ck_assert_str_eq(why, "process 8 has a server already");
    ck_assert_int_eq(job_plan_add_range(&p, 9, 8, 50, why), -EINVAL);
    ck_assert_int_eq(job_plan_add_range(&p, 9, 10, CW_SERVER_NONE - 1, why), -EINVAL);
    ck_assert_int_eq(job_plan_add_range(&p, 9, 9, CW_SERVER_NONE - 1, why), 0);
    ck_assert_int_eq(job_plan_add_range(&p, 0, UINT32_MAX, 0, why), -EINVAL);
    ck_assert_int_eq(job_plan_add_range(&p, UINT32_MAX, UINT32_MAX, 0, why), -EINVAL);
    ck_assert_ptr_nonnull(strstr(why, "4294967294"));
    ck_assert_int_eq(job_plan_add_range(&p, UINT32_MAX - 1, UINT32_MAX - 1, 0, why), 0);
    job_plan_close(&p);
}
END_TEST

START_TEST(ports_have_one_number_and_one_name)
{
    struct job_plan p;
    job_plan_open(&p, 5, "a");
    ck_assert_int_eq(job_plan_add_port(&p, 9, "put", why), 0);
    ck_assert_int_eq(job_plan_add_port(&p, 3, "get", why), 0);
    ck_assert_int_eq(job_plan_add_port(&p, 9, "other", why), -EEXIST);
    ck_assert_str_eq(why, "port 9 is called put already");
    ck_assert_int_eq(job_plan_add_port(&p, 4, "get", why), -EEXIST);
    ck_assert_str_eq(why, "port 3 has the name get already");
    static const char *const bad[] = {"", "9", "-a", "all", "a b", "a/b", "abcdefghijklmnopqrstuvwxyz012345"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_msg(job_plan_add_port(&p, 1, bad[i], why) == -EINVAL, "%s", bad[i]);
    }
    ck_assert_uint_eq(p.ports, 2);
    ck_assert_uint_eq(p.port[0].port, 3);
    ck_assert_uint_eq(job_plan_port_named(&p, "put")->port, 9);
    ck_assert_str_eq(job_plan_port(&p, 3)->name, "get");
    ck_assert_ptr_null(job_plan_port(&p, 4));
    ck_assert_ptr_null(job_plan_port_named(&p, "pu"));
    for (unsigned i = 0; p.ports < JOB_RECORD_PORTS_MAX; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%u", i);
        ck_assert_int_eq(job_plan_add_port(&p, (cw_port)(100 + i), name, why), 0);
    }
    ck_assert_int_eq(job_plan_add_port(&p, 1, "one", why), -EINVAL);
    job_plan_close(&p);
}
END_TEST

START_TEST(a_name_is_no_number)
{
    static const char *const good[] = {"a", "Z9", "a-b_c.d", "abcdefghijklmnopqrstuvwxyz01234"};
    static const char *const bad[] = {"", "0", "1a", "-a", ".a", "a b", "a:b", "abcdefghijklmnopqrstuvwxyz012345"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        ck_assert_msg(job_plan_name_good(good[i]), "%s", good[i]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_msg(!job_plan_name_good(bad[i]), "%s", bad[i]);
    }
}
END_TEST

START_TEST(destroyed_leaves_number_and_version)
{
    struct job_plan p;
    struct job_record record;
    uint8_t *bytes;
    size_t size;
    job_plan_open(&p, 5, "a");
    ck_assert_int_eq(job_plan_add_range(&p, 0, 3, 10, why), 0);
    ck_assert_int_eq(job_plan_add_port(&p, 9, "put", why), 0);
    p.version = 8;
    job_plan_destroy(&p);
    ck_assert_int_eq(job_plan_record(&p, &bytes, &size, why), 0);
    ck_assert_uint_eq(size, JOB_RECORD_HEAD_BYTES);
    ck_assert_int_eq(job_record_decode(bytes, size, &record), WIRE_OK);
    ck_assert(record.destroyed && record.version == 8 && record.job == 5);
    job_plan_close(&p);
    free(bytes);
}
END_TEST

START_TEST(what_no_record_says)
{
    struct job_plan p;
    uint8_t *bytes;
    size_t size;
    job_plan_open(&p, 0, "a");
    ck_assert_int_eq(job_plan_record(&p, &bytes, &size, why), -EINVAL);
    job_plan_open(&p, 1, "a");
    p.version = 0;
    ck_assert_int_eq(job_plan_record(&p, &bytes, &size, why), -EINVAL);
    p.version = 1;
    struct job_ports ports = {.all = true};
    struct processes who = {0};
    for (unsigned i = 0; i < JOB_RECORD_GRANT_SPANS_MAX + 1; i++) {
        ck_assert_int_eq(processes_add(&who, 2 * i, 2 * i), 0);
    }
    ck_assert_int_eq(job_plan_grant(&p, 2, &ports, &who), 1);
    ck_assert_int_eq(job_plan_record(&p, &bytes, &size, why), -EINVAL);
    ck_assert_ptr_nonnull(strstr(why, "too much for one record"));
    processes_close(&who);
    job_plan_close(&p);
}
END_TEST

/* NMU, tables 1 and 2: job C may send to processes 2 and 3 of B on two ports, and to itself on one. */
START_TEST(table_two_of_the_paper)
{
    enum { B = 2, C = 3, PI = 30, SIGMA = 31, UPSILON = 40 };
    struct job_plan p;
    struct job_ports ports = {0}, own = {0};
    struct processes who = {0}, five = {0};
    job_plan_open(&p, C, "C");
    for (unsigned i = 0; i < 5; i++) {
        ck_assert_int_eq(job_plan_add_range(&p, i, i, 20 + 2 * i, why), 0);
    }
    ck_assert_uint_eq(p.ranges, 5);
    ck_assert(job_ports_add(&ports, PI) == 0 && job_ports_add(&ports, SIGMA) == 0 && job_ports_add(&own, UPSILON) == 0);
    ck_assert(processes_read(&who, "2,3") == 0 && processes_read(&five, "0-4") == 0);
    ck_assert_int_eq(job_plan_grant(&p, B, &ports, &who), 1);
    ck_assert_int_eq(job_plan_grant(&p, C, &own, &five), 1);
    ck_assert_uint_eq(p.rights, 2);
    ck_assert_ptr_nonnull(job_plan_allows(&p, B, false, 2, PI));
    ck_assert_ptr_nonnull(job_plan_allows(&p, B, false, 3, SIGMA));
    ck_assert_ptr_null(job_plan_allows(&p, B, false, 1, PI));
    ck_assert_ptr_null(job_plan_allows(&p, B, true, 0, PI)); /* not to keys: not all processes */
    ck_assert_ptr_null(job_plan_allows(&p, B, false, 2, UPSILON));
    ck_assert_ptr_null(job_plan_allows(&p, 1, false, 2, PI));
    ck_assert_ptr_nonnull(job_plan_allows(&p, C, false, 4, UPSILON));
    ck_assert_int_eq(job_plan_revoke(&p, B, &ports, &who), 1);
    ck_assert_ptr_null(job_plan_allows(&p, B, false, 2, PI));
    ck_assert_uint_eq(p.rights, 1);
    job_ports_close(&ports);
    job_ports_close(&own);
    processes_close(&who);
    processes_close(&five);
    job_plan_close(&p);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(ranges_are_dense_and_apart), SUITE_TEST(ports_have_one_number_and_one_name),
    SUITE_TEST(a_name_is_no_number),        SUITE_TEST(destroyed_leaves_number_and_version),
    SUITE_TEST(what_no_record_says),        SUITE_TEST(table_two_of_the_paper),
};
SUITE_MAIN("job_plan", tests)
