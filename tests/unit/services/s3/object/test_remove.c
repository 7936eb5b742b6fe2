/* SPDX-License-Identifier: Apache-2.0 */
#include "services/s3/object/remove.h"

#include "s3_bench.h"

static s3_fault bucket(s3_fault (*what)(struct s3_desk *d, cw_job job, const char *bucket, size_t length,
                                        s3_remove_done done, void *arg),
                       const char *name)
{
    unsigned before = bench.dones;
    ck_assert_int_eq(what(bench.desk, BENCH_JOB, name, strlen(name), bench_removed, NULL), S3_OK);
    ck_assert_uint_eq(bench.dones, before);
    bench_run();
    ck_assert_uint_eq(bench.dones, before + 1);
    return bench.fault;
}

START_TEST(objects_go_and_their_bytes_after_a_while)
{
    bench_open(2, 100);
    ck_assert_int_eq(bench_remove("k"), S3_OK); /* it never was there */
    ck_assert_int_eq(bench_put("k", "0123456789"), S3_OK);
    ck_assert_int_eq(bench_remove("k"), S3_OK);
    ck_assert_ptr_null(bench_get("k"));
    ck_assert_uint_eq(bench_lots(), 4);
    bench_pass(S3_GRACE_S);
    ck_assert_uint_eq(bench_lots(), 0);
    ck_assert_int_eq(bench_put("k", "again"), S3_OK);
    ck_assert_str_eq(bench_get("k"), "again");
    bench_close();
}
END_TEST

START_TEST(buckets)
{
    bench_open(2, 100);
    ck_assert_int_eq(bucket(s3_bucket_look, "other"), S3_NO_BUCKET);
    ck_assert_int_eq(bucket(s3_bucket_create, "other"), S3_OK);
    ck_assert_int_eq(bucket(s3_bucket_create, "other"), S3_BUCKET_EXISTS);
    ck_assert_int_eq(bucket(s3_bucket_look, "other"), S3_OK);
    ck_assert_int_eq(bucket(s3_bucket_delete, "other"), S3_OK);
    ck_assert_int_eq(bucket(s3_bucket_delete, "other"), S3_NO_BUCKET);
    ck_assert_int_eq(bench_put("k", "a"), S3_OK);
    ck_assert_int_eq(bucket(s3_bucket_delete, "bucket"), S3_BUCKET_NOT_EMPTY);
    ck_assert_int_eq(bench_remove("k"), S3_OK);
    ck_assert_int_eq(bucket(s3_bucket_delete, "bucket"), S3_OK);
    ck_assert_uint_eq(bench.desk->lists, 0);
    bench_close();
}
END_TEST

START_TEST(what_the_store_refuses_is_a_fault)
{
    bench_open(2, 100);
    bench.store.failing = 1000;
    ck_assert_int_ne(bench_remove("k"), S3_OK);
    ck_assert_int_ne(bucket(s3_bucket_create, "other"), S3_OK);
    ck_assert_int_ne(bucket(s3_bucket_delete, "bucket"), S3_OK);
    bench.store.refused = 1000;
    ck_assert_int_eq(s3_bucket_look(bench.desk, BENCH_JOB, "bucket", 6, bench_removed, NULL), S3_SLOW_DOWN);
    bench_close();
}
END_TEST

/* In each order of the answers: either the put came last, and all of it is there, or nothing is. */
START_TEST(one_that_is_put_in_the_same_instant)
{
    unsigned there = 0;
    for (uint64_t round = 0; round < 100; round++) {
        bench_open(2, 100);
        ck_assert_int_eq(bench_put("k", "before all"), S3_OK);
        bench.store.prng = prng_stream(round, 0, 1);
        bench.dones = 0;
        const struct s3_put_order order = bench_order("k", 6);
        struct s3_put *put = bench_begin(&order);
        for (size_t fed = 0; fed < 6; (void)standin_turn(&bench.store)) {
            fed += s3_put_feed(put, &"abcdef"[fed], 6 - fed);
        }
        while (bench.store.waits > 0) {
            (void)standin_turn(&bench.store);
        }
        s3_put_end(put);
        ck_assert_int_eq(s3_remove_object(bench.desk, BENCH_JOB, "bucket", 6, "k", 1, bench_removed, NULL), S3_OK);
        bench_run();
        SUITE_HOLDS(bench.dones == 2 && bench.fault == S3_OK);
        bool is = bench_get("k") != NULL;
        SUITE_HOLDS(!is || strcmp(bench.body, "abcdef") == 0);
        there += is;
        bench_pass(S3_GRACE_S);
        SUITE_HOLDS(bench_lots() == (is ? 3 : 0), "round %u", (unsigned)round);
        bench_close();
    }
    ck_assert(there > 0 && there < 100);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(objects_go_and_their_bytes_after_a_while), SUITE_TEST(buckets),
                                          SUITE_TEST(what_the_store_refuses_is_a_fault),
                                          SUITE_TEST(one_that_is_put_in_the_same_instant)};
SUITE_MAIN("remove", tests)
