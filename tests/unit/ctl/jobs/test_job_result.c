/* SPDX-License-Identifier: Apache-2.0 */
/* test_job_result.c - what becomes of a change after its put was answered. */
#include "ctl/jobs/job_result.h"

#include "suite.h"

#include <errno.h>

static enum job_end end_of(int rc, int64_t superseded, int64_t missing, int64_t closed)
{
    struct rows rows = {NULL, 0, 0};
    struct message *row = message_open();
    message_integer(row, "acked", 3);
    message_integer(row, "superseded", superseded);
    message_integer(row, "missing", missing);
    message_integer(row, "closed", closed);
    message_flag(row, "complete", rc == 0);
    rows.row = &row;
    rows.count = 1;
    enum job_end end = job_result_end(rc, &rows);
    message_close(row);
    return end;
}

START_TEST(made_only_when_nobody_replaced_it)
{
    ck_assert_int_eq(end_of(0, 0, 0, 0), JOB_DONE);
    ck_assert_int_eq(end_of(0, 1, 0, 0), JOB_AGAIN);
    ck_assert_int_eq(end_of(0, 8, 0, 0), JOB_AGAIN);
    ck_assert_int_eq(end_of(-ETIMEDOUT, 0, 1, 0), JOB_PART);
    ck_assert_int_eq(end_of(-ETIMEDOUT, 1, 1, 0), JOB_AGAIN);
    ck_assert_int_eq(end_of(-ETIMEDOUT, 0, 0, 0), JOB_PART); /* that server has lost the others */
    ck_assert_int_eq(end_of(0, 0, 0, 2), JOB_PART);
    ck_assert_int_eq(end_of(0, 1, 0, 2), JOB_AGAIN);
}
END_TEST

START_TEST(refused)
{
    const struct rows none = {NULL, 0, 0};
    ck_assert_int_eq(job_result_end(-EEXIST, &none), JOB_AGAIN);
    ck_assert_int_eq(job_result_end(-ESTALE, &none), JOB_AGAIN);
    ck_assert_int_eq(job_result_end(-EBUSY, &none), JOB_AGAIN);
    ck_assert_int_eq(job_result_end(-EBADMSG, &none), JOB_REFUSED);
    ck_assert_int_eq(job_result_end(-ENOSPC, &none), JOB_REFUSED);
    ck_assert_int_eq(job_result_end(0, &none), JOB_DONE);
}
END_TEST

START_TEST(pauses_grow_and_differ)
{
    for (unsigned i = 0; i < 40; i++) {
        int64_t most = CW_MS(5).ns << (i < 6 ? i : 6);
        ck_assert_int_eq(job_result_pause(i, 0).ns, 0);
        ck_assert_int_eq(job_result_pause(i, (uint64_t)most - 1).ns, most - 1);
        ck_assert_int_lt(job_result_pause(i, UINT64_MAX).ns, most);
    }
    ck_assert_int_ne(job_result_pause(3, 123456789).ns, job_result_pause(3, 987654321).ns);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(made_only_when_nobody_replaced_it),
    SUITE_TEST(refused),
    SUITE_TEST(pauses_grow_and_differ),
};
SUITE_MAIN("job_result", tests)
