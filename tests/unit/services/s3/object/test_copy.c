/* SPDX-License-Identifier: Apache-2.0 */
#include "services/s3/object/copy.h"

#include "s3_bench.h"

static s3_fault verdict;
static uint64_t from_first, from_count;

static s3_fault judge(void *arg, const struct s3_manifest *source, struct s3_put_order *order, uint64_t *first,
                      uint64_t *count)
{
    (void)arg;
    *first = from_first;
    *count = from_count > 0 ? from_count : source->size;
    order->metas = source->metas;
    order->meta = source->meta;
    return verdict;
}

static struct s3_copy *begin(const char *from, const char *to)
{
    const struct s3_get_order source = {
        .job = BENCH_JOB, .bucket = "bucket", .bucket_length = 6, .key = from, .key_length = strlen(from)};
    const struct s3_put_order sink = bench_order(to, 0);
    return s3_copy_open(bench.desk, &source, &sink, (struct s3_copy_hooks){judge, bench_done}, NULL);
}

static s3_fault copy(const char *from, const char *to)
{
    unsigned before = bench.dones;
    ck_assert_ptr_nonnull(begin(from, to));
    bench_run();
    ck_assert_uint_eq(bench.dones, before + 1);
    ck_assert_uint_eq(bench.desk->held, 0);
    return bench.fault;
}

START_TEST(copies)
{
    const struct s3_meta meta = {"x-amz-meta-a", "b"};
    bench_open(3, 8);
    struct s3_put_order order = bench_order("k", 15);
    order.metas = 1;
    order.meta = &meta;
    ck_assert_int_eq(bench_put_order(&order, "0123456789abcde"), S3_OK);
    ck_assert_int_eq(bench_put("s", "xy"), S3_OK);
    ck_assert_int_eq(copy("k", "l"), S3_OK);
    ck_assert_str_eq(bench_get("l"), "0123456789abcde");
    struct s3_get *get = bench_get_open("l");
    ck_assert_str_eq(s3_manifest_meta(bench.manifest, "x-amz-meta-a"), "b");
    s3_get_close(get);
    ck_assert_int_eq(copy("s", "k"), S3_OK); /* over a long one */
    ck_assert_str_eq(bench_get("k"), "xy");
    ck_assert_int_eq(copy("l", "l"), S3_OK); /* onto itself */
    bench_pass(S3_GRACE_S);
    ck_assert_str_eq(bench_get("l"), "0123456789abcde");
    ck_assert_uint_eq(bench_lots(), 5);
    from_first = 3;
    from_count = 6;
    ck_assert_int_eq(copy("l", "m"), S3_OK);
    ck_assert_str_eq(bench_get("m"), "345678");
    bench_close();
}
END_TEST

START_TEST(what_goes_wrong)
{
    bench_open(3, 8);
    ck_assert_int_eq(copy("k", "l"), S3_NO_KEY);
    ck_assert_int_eq(bench_put("k", "0123456789abcde"), S3_OK);
    verdict = S3_PRECONDITION_FAILED;
    ck_assert_int_eq(copy("k", "l"), S3_PRECONDITION_FAILED);
    verdict = S3_OK;
    ck_assert_ptr_null(bench_get("l"));
    for (unsigned turns = 0; turns < 12; turns++) {
        unsigned before = bench.dones;
        struct s3_copy *c = begin("k", "l");
        for (unsigned i = 0; i < turns; i++) {
            (void)standin_turn(&bench.store);
        }
        if (bench.dones == before) {
            s3_copy_cancel(c);
        }
        bench_run();
        SUITE_HOLDS(bench.desk->held == 0, "%u", turns);
    }
    bench_pass(S3_GRACE_S);
    bench_close();
}
END_TEST

START_TEST(many_at_once_wait_for_one_another)
{
    char key[8];
    bench_open(3, 8);
    ck_assert_int_eq(bench_put("k", "0123456789abcde"), S3_OK);
    for (unsigned i = 0; i < 10; i++) {
        snprintf(key, sizeof key, "c%u", i);
        ck_assert_ptr_nonnull(begin("k", key));
    }
    bench_run();
    ck_assert_uint_eq(bench.dones, 11);
    ck_assert_str_eq(bench_get("c9"), "0123456789abcde");
    bench_close();
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(copies), SUITE_TEST(what_goes_wrong),
                                          SUITE_TEST(many_at_once_wait_for_one_another)};
SUITE_MAIN("copy", tests)
