/* SPDX-License-Identifier: Apache-2.0 */
#include "services/s3/object/put.h"

#include "s3_bench.h"

START_TEST(short_and_long_ones)
{
    bench_open(2, 100);
    ck_assert_int_eq(bench_put("none", ""), S3_OK);
    ck_assert_int_eq(bench_put("short", "ab"), S3_OK);
    ck_assert_uint_eq(bench_lots(), 0); /* both are in their manifests */
    ck_assert_int_eq(bench_put("long", "0123456789"), S3_OK);
    ck_assert_uint_eq(bench_lots(), 4);
    ck_assert_str_eq(bench_get("none"), "");
    ck_assert_str_eq(bench_get("short"), "ab");
    ck_assert_str_eq(bench_get("long"), "0123456789");
    char text[S3_ETAG_TEXT];
    s3_etag_text(&bench.put.etag, text);
    ck_assert_str_eq(text, "781e5e245d69b566979b86e28d23f2c7");
    ck_assert_uint_eq(bench.desk->held, 0);
    bench_close();
}
END_TEST

START_TEST(what_is_replaced_goes_after_a_while)
{
    bench_open(2, 100);
    ck_assert_int_eq(bench_put("k", "0123456789"), S3_OK);
    ck_assert_int_eq(bench_put("k", "abcde"), S3_OK);
    ck_assert_uint_eq(bench_lots(), 4 + 3);
    ck_assert_str_eq(bench_get("k"), "abcde");
    bench_pass(S3_GRACE_S - 1);
    ck_assert_uint_eq(bench_lots(), 7);
    bench_pass(1);
    ck_assert_uint_eq(bench_lots(), 3);
    bench_close();
}
END_TEST

START_TEST(nothing_without_a_bucket)
{
    bench_open(2, 100);
    struct s3_put_order order = bench_order("k", 5);
    order.bucket.text = "bucke2";
    ck_assert_int_eq(bench_put_order(&order, "abcde"), S3_NO_BUCKET);
    ck_assert_uint_eq(bench_lots(), 0);
    order.size = 1;
    ck_assert_int_eq(bench_put_order(&order, "a"), S3_NO_BUCKET);
    ck_assert_uint_eq(standin_count(&bench.store, "O/"), 0);
    bench_close();
}
END_TEST

START_TEST(other_bytes_are_not_put)
{
    static const uint8_t md5[HASH_MD5_BYTES] = {1}, sha256[HASH_SHA256_BYTES] = {1};
    bench_open(2, 100);
    ck_assert_int_eq(bench_put("k", "before"), S3_OK);
    struct s3_put_order order = bench_order("k", 9);
    order.md5 = md5;
    ck_assert_int_eq(bench_put_order(&order, "abcdefghi"), S3_BAD_DIGEST);
    order.md5 = NULL;
    order.sha256 = sha256;
    ck_assert_int_eq(bench_put_order(&order, "abcdefghi"), S3_WRONG_SHA256);
    uint8_t right[HASH_SHA256_BYTES];
    ck_assert_str_eq(bench_get("k"), "before");
    ck_assert_uint_eq(bench_lots(), 3); /* what had come is gone at once */
    hash_sha256("abcdefghi", 9, right);
    order.sha256 = right;
    ck_assert_int_eq(bench_put_order(&order, "abcdefghi"), S3_OK);
    ck_assert_str_eq(bench_get("k"), "abcdefghi");
    bench_close();
}
END_TEST

START_TEST(conditions)
{
    bench_open(2, 100);
    struct s3_put_order order = bench_order("k", 1);
    order.put_if = S3_PUT_IF_MATCH;
    order.match = "*";
    ck_assert_int_eq(bench_put_order(&order, "a"), S3_NO_KEY);
    order.put_if = S3_PUT_IF_NONE;
    ck_assert_int_eq(bench_put_order(&order, "a"), S3_OK);
    ck_assert_int_eq(bench_put_order(&order, "b"), S3_PRECONDITION_FAILED);
    order.put_if = S3_PUT_IF_MATCH;
    order.match = "\"0cc175b9c0f1b6a831c399e269772661\""; /* of "a" */
    ck_assert_int_eq(bench_put_order(&order, "b"), S3_OK);
    ck_assert_int_eq(bench_put_order(&order, "c"), S3_PRECONDITION_FAILED);
    ck_assert_str_eq(bench_get("k"), "b");
    bench_close();
}
END_TEST

START_TEST(a_put_that_is_given_up_leaves_nothing)
{
    bench_open(2, 100);
    for (unsigned turns = 0; turns < 12; turns++) {
        const struct s3_put_order order = bench_order("k", 20);
        struct s3_put *put = bench_begin(&order);
        for (unsigned i = 0; i < turns; i++) {
            (void)s3_put_feed(put, "abc", 1);
            (void)standin_turn(&bench.store);
        }
        s3_put_cancel(put);
        bench_run();
        SUITE_HOLDS(bench_lots() == 0 && bench.desk->held == 0, "after %u turns", turns);
    }
    ck_assert_uint_eq(bench.dones, 0);
    ck_assert_ptr_null(bench_get("k"));
    ck_assert_int_eq(bench.fault, S3_NO_KEY);
    bench_close();
}
END_TEST

START_TEST(an_end_before_all_bytes_came_is_a_fault)
{
    bench_open(2, 100);
    const struct s3_put_order order = bench_order("k", 9);
    struct s3_put *put = bench_begin(&order);
    bench_run();
    ck_assert_uint_eq(s3_put_feed(put, "abcdef", 6), 6);
    s3_put_end(put);
    bench_run();
    ck_assert_uint_eq(bench.dones, 1);
    ck_assert_int_eq(bench.fault, S3_INCOMPLETE_BODY);
    ck_assert_uint_eq(bench_lots(), 0);
    bench_close();
}
END_TEST

START_TEST(memory_is_the_back_pressure)
{
    bench_open(2, 8);
    const struct s3_put_order order = bench_order("k", 40);
    struct s3_put *one = bench_begin(&order), *other = bench_begin(&order);
    bench_run();
    ck_assert_uint_eq(s3_put_feed(one, "0123456789", 10), 8); /* two chunks are on their way, and there is no third */
    ck_assert_uint_eq(s3_put_feed(other, "0123456789", 10), 0);
    unsigned rooms = bench.rooms;
    bench_run();
    ck_assert_uint_gt(bench.rooms, rooms);
    ck_assert_uint_gt(s3_put_feed(other, "0123456789", 10), 0);
    s3_put_cancel(one);
    s3_put_cancel(other);
    bench_run();
    ck_assert_uint_eq(bench.desk->held, 0);
    bench_close();
}
END_TEST

START_TEST(what_ends_unknown_is_left_to_the_sweeper)
{
    bench_open(2, 100);
    const struct s3_put_order order = bench_order("k", 9);
    struct s3_put *put = bench_begin(&order);
    bench_run();
    ck_assert_uint_eq(s3_put_feed(put, "abcdefghi", 9), 8);
    bench_run();
    ck_assert_uint_eq(s3_put_feed(put, "i", 1), 1);
    bench_run();
    s3_put_end(put);
    (void)standin_turn(&bench.store); /* the look; the manifest is asked for now */
    bench.store.unknown = 1000;
    bench_run();
    ck_assert_int_eq(bench.fault, S3_INTERNAL);
    ck_assert_uint_eq(bench_lots(), 4);
    ck_assert_uint_eq(bench.desk->lots_left, 1);
    bench_close();
}
END_TEST

/* Answers come in an order that each round draws anew. */
START_TEST(two_at_once_come_one_after_the_other)
{
    static const char *const bytes[] = {"0123456789", "abcdefghijklmn"};
    const unsigned lots[] = {4, 5};
    unsigned last[2] = {0};
    for (uint64_t round = 0; round < 100; round++) {
        struct s3_put *put[2];
        bench_open(2, 100);
        bench.store.prng = prng_stream(round, 0, 1);
        ck_assert_int_eq(bench_put("k", "before all"), S3_OK);
        bench.dones = 0;
        for (unsigned i = 0; i < 2; i++) {
            const struct s3_put_order order = bench_order("k", strlen(bytes[i]));
            put[i] = bench_begin(&order);
        }
        size_t fed[2] = {0};
        for (unsigned i = 0; fed[0] < 10 || fed[1] < 14; i ^= 1) {
            fed[i] += s3_put_feed(put[i], bytes[i] + fed[i], strlen(bytes[i]) - fed[i]);
            (void)standin_turn(&bench.store);
        }
        s3_put_end(put[0]);
        s3_put_end(put[1]);
        bench_run();
        SUITE_HOLDS(bench.dones == 2 && bench.fault == S3_OK);
        const char *there = bench_get("k");
        SUITE_HOLDS(there != NULL);
        unsigned winner = strcmp(there, bytes[1]) == 0;
        SUITE_HOLDS(strcmp(there, bytes[winner]) == 0, "%s", there);
        last[winner]++;
        bench_pass(S3_GRACE_S);
        SUITE_HOLDS(bench_lots() == lots[winner], "round %u", (unsigned)round); /* of the other one nothing is left */
        bench_close();
    }
    ck_assert(last[0] > 0 && last[1] > 0);
}
END_TEST

START_TEST(of_two_that_insert_at_once_one_does)
{
    for (uint64_t round = 0; round < 50; round++) {
        bench_open(2, 100);
        bench.store.prng = prng_stream(round, 0, 1);
        struct s3_put_order order = bench_order("k", 1);
        order.put_if = S3_PUT_IF_NONE;
        struct s3_put *one = bench_begin(&order), *other = bench_begin(&order);
        while (s3_put_feed(one, "a", 1) == 0 || s3_put_feed(other, "b", 1) == 0) {
            (void)standin_turn(&bench.store);
        }
        s3_put_end(one);
        s3_put_end(other);
        bench_run();
        SUITE_HOLDS(bench.dones == 2 && bench.fault == S3_PRECONDITION_FAILED);
        SUITE_HOLDS(bench_get("k") != NULL);
        bench_close();
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(short_and_long_ones),
    SUITE_TEST(what_is_replaced_goes_after_a_while),
    SUITE_TEST(nothing_without_a_bucket),
    SUITE_TEST(other_bytes_are_not_put),
    SUITE_TEST(conditions),
    SUITE_TEST(a_put_that_is_given_up_leaves_nothing),
    SUITE_TEST(an_end_before_all_bytes_came_is_a_fault),
    SUITE_TEST(memory_is_the_back_pressure),
    SUITE_TEST(what_ends_unknown_is_left_to_the_sweeper),
    SUITE_TEST(two_at_once_come_one_after_the_other),
    SUITE_TEST(of_two_that_insert_at_once_one_does),
};
SUITE_MAIN("put", tests)
