/* SPDX-License-Identifier: Apache-2.0 */
#include "services/s3/object/listing.h"

#include "s3_bench.h"

static char told[4096];
static struct s3_listing_page page;
static char next[64];

static void listed(void *arg, const struct s3_listing_page *p)
{
    (void)arg;
    page = *p;
    told[0] = '\0';
    for (size_t i = 0; i < p->count; i++) {
        size_t at = strlen(told);
        snprintf(told + at, sizeof told - at, "%.*s%s ", (int)p->row[i].name.length, p->row[i].name.text,
                 p->row[i].common ? "*" : "");
    }
    snprintf(next, sizeof next, "%.*s", (int)p->next.length, p->more ? p->next.text : "");
    bench.dones++;
}

static const char *list(const char *bucket, const char *prefix, const char *delimiter, const char *after, unsigned most)
{
    const struct s3_listing_order order = {.job = BENCH_JOB,
                                           .bucket = {bucket, strlen(bucket)},
                                           .prefix = {prefix, strlen(prefix)},
                                           .delimiter = {delimiter, strlen(delimiter)},
                                           .after = {after, strlen(after)},
                                           .most = most};
    ck_assert_ptr_nonnull(s3_listing_open(bench.desk, &order, listed, NULL));
    bench_run();
    ck_assert_uint_eq(bench.desk->lists, 0);
    return told;
}

static void fill(void)
{
    static const char *const keys[] = {"a", "b/1", "b/2", "b/c/3", "c"};
    bench_open(2, 100);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        ck_assert_int_eq(bench_put(keys[i], keys[i]), S3_OK);
    }
}

START_TEST(pages)
{
    fill();
    ck_assert_str_eq(list("bucket", "", "", "", 1000), "a b/1 b/2 b/c/3 c ");
    ck_assert(!page.more);
    ck_assert_str_eq(list("bucket", "", "", "", 2), "a b/1 ");
    ck_assert_str_eq(next, "b/1");
    ck_assert_str_eq(list("bucket", "", "", "b/1", 2), "b/2 b/c/3 ");
    ck_assert_str_eq(list("bucket", "", "", "b/c/3", 2), "c ");
    ck_assert(!page.more);
    ck_assert_str_eq(list("bucket", "b/", "", "", 1000), "b/1 b/2 b/c/3 ");
    ck_assert_str_eq(list("bucket", "b/", "", "c", 1000), "");
    ck_assert_str_eq(list("bucket", "b/", "", "a", 1000), "b/1 b/2 b/c/3 ");
    ck_assert_str_eq(list("bucket", "", "", "", 0), "");
    bench_close();
}
END_TEST

START_TEST(what_is_common_is_one_row)
{
    fill();
    ck_assert_str_eq(list("bucket", "", "/", "", 1000), "a b/* c ");
    ck_assert_str_eq(list("bucket", "", "/", "", 2), "a b/* ");
    ck_assert_str_eq(next, "b/");
    ck_assert_str_eq(list("bucket", "", "/", "b/", 2), "c ");
    ck_assert_str_eq(list("bucket", "b/", "/", "", 1000), "b/1 b/2 b/c/* ");
    ck_assert_str_eq(list("bucket", "", "/c/", "", 1000), "a b/1 b/2 b/c/* c ");
    bench_close();
}
END_TEST

START_TEST(much_that_is_common_is_passed_over)
{
    char key[16];
    bench_open(2, 100);
    for (unsigned i = 0; i < 50; i++) {
        snprintf(key, sizeof key, "dir/%02u", i);
        ck_assert_int_eq(bench_put(key, ""), S3_OK);
    }
    ck_assert_int_eq(bench_put("e", "x"), S3_OK);
    uint64_t asked = bench.store.asked;
    ck_assert_str_eq(list("bucket", "", "/", "", 2), "dir/* e ");
    ck_assert_uint_le(bench.store.asked - asked, 4); /* the bucket, two lists, a manifest */
    bench_close();
}
END_TEST

START_TEST(a_bucket_that_is_not_there)
{
    fill();
    list("bucket", "b/1", "", "", 1);
    ck_assert_int_eq(page.fault, S3_OK);
    ck_assert_str_eq(list("other", "", "", "", 10), "");
    ck_assert_int_eq(page.fault, S3_NO_BUCKET);
    bench_close();
}
END_TEST

static void checked(void *arg, const struct s3_listing_page *p)
{
    (void)arg;
    ck_assert_uint_eq(p->count, 1);
    ck_assert_uint_eq(p->row[0].size, 5);
    ck_assert_int_eq(p->row[0].changed_s, bench.now_s);
    bench.dones++;
}

START_TEST(sizes_and_dates)
{
    fill();
    const struct s3_listing_order order = {.job = BENCH_JOB,
                                           .bucket = {"bucket", 6},
                                           .prefix = {"b/c", 3},
                                           .delimiter = {"", 0},
                                           .after = {"", 0},
                                           .most = 5};
    unsigned before = bench.dones;
    ck_assert_ptr_nonnull(s3_listing_open(bench.desk, &order, checked, NULL));
    bench_run();
    ck_assert_uint_eq(bench.dones, before + 1);
    bench_close();
}
END_TEST

START_TEST(buckets_are_listed)
{
    fill();
    ck_assert_int_eq(s3_bucket_create(bench.desk, BENCH_JOB, "abc", 3, bench_removed, NULL), S3_OK);
    bench_run();
    ck_assert_str_eq(list("", "", "", "", 0), "abc bucket ");
    bench_close();
}
END_TEST

START_TEST(one_that_is_given_up_tells_nobody)
{
    fill();
    const struct s3_listing_order order = {.job = BENCH_JOB,
                                           .bucket = {"bucket", 6},
                                           .prefix = {"", 0},
                                           .delimiter = {"", 0},
                                           .after = {"", 0},
                                           .most = 5};
    unsigned before = bench.dones;
    for (unsigned turns = 0; turns < 8; turns++) {
        struct s3_listing *l = s3_listing_open(bench.desk, &order, listed, NULL);
        for (unsigned i = 0; i < turns && bench.dones == before; i++) {
            (void)standin_turn(&bench.store);
        }
        if (bench.dones == before) {
            s3_listing_cancel(l);
        }
        bench_run();
        SUITE_HOLDS(bench.desk->lists == 0, "%u", turns);
        bench.dones = before;
    }
    bench_close();
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(pages),
    SUITE_TEST(what_is_common_is_one_row),
    SUITE_TEST(much_that_is_common_is_passed_over),
    SUITE_TEST(a_bucket_that_is_not_there),
    SUITE_TEST(sizes_and_dates),
    SUITE_TEST(buckets_are_listed),
    SUITE_TEST(one_that_is_given_up_tells_nobody),
};
SUITE_MAIN("listing", tests)
