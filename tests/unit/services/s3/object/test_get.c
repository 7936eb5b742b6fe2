/* SPDX-License-Identifier: Apache-2.0 */
#include "services/s3/object/get.h"

#include "s3_bench.h"

START_TEST(every_range)
{
    static const char bytes[] = "0123456789ab";
    bench_open(2, 100);
    ck_assert_int_eq(bench_put("k", bytes), S3_OK);
    ck_assert_int_eq(bench_put("s", "xy"), S3_OK);
    for (size_t first = 0; first <= 12; first++) {
        for (size_t count = 0; count <= 12 - first; count++) {
            struct s3_get *get = bench_get_open("k");
            bench.length = 0;
            bench.body[0] = '\0';
            s3_get_range(get, first, count);
            bench_run();
            bench_take(get);
            SUITE_HOLDS(bench.length == count && memcmp(bench.body, bytes + first, count) == 0, "%zu %zu", first,
                        count);
            SUITE_HOLDS(s3_get_left(get) == 0);
            s3_get_close(get);
        }
    }
    struct s3_get *get = bench_get_open("s");
    s3_get_range(get, 1, 1);
    size_t length;
    ck_assert_mem_eq(s3_get_peek(get, &length), "y", 1);
    ck_assert_uint_eq(length, 1);
    s3_get_close(get);
    ck_assert_uint_eq(bench.desk->held, 0);
    bench_close();
}
END_TEST

START_TEST(what_is_not_there)
{
    bench_open(2, 100);
    ck_assert_ptr_null(bench_get("k"));
    ck_assert_int_eq(bench.fault, S3_NO_KEY);
    const struct s3_get_order order = {
        .job = BENCH_JOB, .bucket = "other", .bucket_length = 5, .key = "k", .key_length = 1};
    struct s3_get *get = s3_get_open(bench.desk, &order, (struct s3_get_hooks){bench_head, bench_ready}, NULL);
    bench_run();
    ck_assert_int_eq(bench.fault, S3_NO_BUCKET);
    s3_get_close(get);
    bench_close();
}
END_TEST

START_TEST(no_more_is_asked_for_than_is_taken)
{
    size_t length;
    bench_open(2, 100);
    ck_assert_int_eq(bench_put("k", "0123456789abcdefghij"), S3_OK);
    struct s3_get *get = bench_get_open("k");
    uint64_t asked = bench.store.asked;
    s3_get_range(get, 0, 20);
    bench_run();
    ck_assert_uint_eq(bench.store.asked, asked + 2);
    ck_assert_uint_eq(bench.desk->held, 8);
    ck_assert_ptr_nonnull(s3_get_peek(get, &length));
    s3_get_take(get, 3);
    ck_assert_uint_eq(bench.store.asked, asked + 2);
    s3_get_take(get, 1);
    ck_assert_uint_eq(bench.store.asked, asked + 3);
    s3_get_close(get);
    bench_run();
    ck_assert_uint_eq(bench.desk->held, 0);
    bench_close();
}
END_TEST

START_TEST(one_that_is_replaced_is_read_on_for_a_while)
{
    bench_open(1, 100);
    ck_assert_int_eq(bench_put("k", "0123456789ab"), S3_OK);
    struct s3_get *get = bench_get_open("k");
    bench.length = 0;
    ck_assert_int_eq(bench_put("k", "other"), S3_OK);
    s3_get_range(get, 0, 12);
    bench_run();
    bench_take(get);
    ck_assert_str_eq(bench.body, "0123456789ab");
    s3_get_close(get);
    ck_assert_int_eq(bench_put("k", "0123456789ab"), S3_OK);
    get = bench_get_open("k");
    ck_assert_int_eq(bench_put("k", "other"), S3_OK);
    bench_pass(S3_GRACE_S);
    s3_get_range(get, 0, 12);
    bench_run();
    ck_assert_int_eq(s3_get_fault(get), S3_INTERNAL);
    ck_assert_uint_gt(bench.readies, 0);
    s3_get_close(get);
    bench_close();
}
END_TEST

START_TEST(one_may_be_closed_at_any_time)
{
    bench_open(2, 8);
    ck_assert_int_eq(bench_put("k", "0123456789abcdefghij"), S3_OK);
    for (unsigned turns = 0; turns < 6; turns++) {
        const struct s3_get_order order = {
            .job = BENCH_JOB, .bucket = "bucket", .bucket_length = 6, .key = "k", .key_length = 1};
        unsigned heads = bench.heads;
        struct s3_get *get = s3_get_open(bench.desk, &order, (struct s3_get_hooks){bench_head, bench_ready}, NULL);
        for (unsigned i = 0; i < turns; i++) {
            (void)standin_turn(&bench.store);
            if (i == 0) {
                s3_get_range(get, 0, 20);
            }
        }
        s3_get_close(get);
        bench_run();
        SUITE_HOLDS(bench.heads == heads + (turns > 0 ? 1 : 0) && bench.desk->held == 0, "%u", turns);
    }
    bench_close();
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(every_range), SUITE_TEST(what_is_not_there), SUITE_TEST(no_more_is_asked_for_than_is_taken),
    SUITE_TEST(one_that_is_replaced_is_read_on_for_a_while), SUITE_TEST(one_may_be_closed_at_any_time)};
SUITE_MAIN("get", tests)
