/* SPDX-License-Identifier: Apache-2.0 */
#include "services/s3/object/desk.h"

#include "s3_bench.h"

#include <errno.h>

static struct s3_waiter waiters[4];
static unsigned order[8], went;

static void go(struct s3_waiter *w)
{
    order[went++] = (unsigned)(w - waiters);
}

START_TEST(memory_is_waited_for_in_turn)
{
    bench_open(1, 10);
    for (unsigned i = 0; i < 4; i++) {
        waiters[i] = (struct s3_waiter){.go = go};
    }
    ck_assert(s3_desk_take(bench.desk, &waiters[0], 8));
    ck_assert(!s3_desk_take(bench.desk, &waiters[1], 6));
    ck_assert(!s3_desk_take(bench.desk, &waiters[2], 2)); /* there would be room, but it is not its turn */
    ck_assert(!s3_desk_take(bench.desk, &waiters[3], 4));
    s3_desk_give(bench.desk, 8);
    ck_assert_uint_eq(went, 2);
    ck_assert(order[0] == 1 && order[1] == 2);
    s3_desk_forget(&waiters[3]);
    s3_desk_give(bench.desk, 8);
    ck_assert_uint_eq(went, 2);
    ck_assert_uint_eq(bench.desk->held, 0);
    bench_close();
}
END_TEST

START_TEST(lists_are_few)
{
    went = 0;
    bench_open(1, 10);
    for (unsigned i = 0; i < S3_LISTS_MOST; i++) {
        waiters[i] = (struct s3_waiter){.go = go};
        ck_assert(s3_desk_take_list(bench.desk, &waiters[i]));
    }
    waiters[3] = (struct s3_waiter){.go = go};
    ck_assert(!s3_desk_take_list(bench.desk, &waiters[3]));
    s3_desk_give_list(bench.desk);
    ck_assert(went == 1 && order[0] == 3);
    for (unsigned i = 0; i < S3_LISTS_MOST; i++) {
        s3_desk_give_list(bench.desk);
    }
    bench_close();
}
END_TEST

START_TEST(what_the_store_says)
{
    for (cw_store_status s = CW_STORE_OK; s < CW_STORE_STATUSES; s++) {
        bool plain = s == CW_STORE_OK || s == CW_STORE_NOT_FOUND || s == CW_STORE_CONFLICT;
        SUITE_HOLDS((s3_desk_fault(s) == S3_OK) == plain, "%d", (int)s);
    }
    ck_assert_int_eq(s3_desk_fault(CW_STORE_UNKNOWN), S3_INTERNAL);
    ck_assert_int_eq(s3_desk_fault(CW_STORE_NO_QUORUM), S3_UNAVAILABLE);
    ck_assert_int_eq(s3_desk_refused(0), S3_OK);
    ck_assert_int_eq(s3_desk_refused(-ENOBUFS), S3_SLOW_DOWN);
    ck_assert_int_eq(s3_desk_refused(-ESHUTDOWN), S3_UNAVAILABLE);
    ck_assert_int_eq(s3_desk_refused(-EINVAL), S3_INTERNAL);
}
END_TEST

START_TEST(a_closed_desk_tells_nobody)
{
    bench_open(2, 100);
    const struct s3_put_order put = bench_order("k", 10);
    struct s3_put *p = bench_begin(&put);
    ck_assert_int_eq(s3_remove_object(bench.desk, BENCH_JOB, "bucket", 6, "a", 1, bench_removed, NULL), S3_OK);
    s3_put_cancel(p);
    bench_close();
    ck_assert_uint_eq(bench.dones, 0);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(memory_is_waited_for_in_turn), SUITE_TEST(lists_are_few),
                                          SUITE_TEST(what_the_store_says), SUITE_TEST(a_closed_desk_tells_nobody)};
SUITE_MAIN("desk", tests)
