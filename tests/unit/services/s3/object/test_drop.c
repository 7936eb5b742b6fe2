/* SPDX-License-Identifier: Apache-2.0 */
#include "services/s3/object/drop.h"

#include "s3_bench.h"

START_TEST(notes)
{
    struct s3_lot_note note = {.made_s = 7, .chunk = 4}, back;
    struct s3_buffer out = {0};
    s3_place_part(&note.owner, "0123456789abcdef0123456789abcdef", 3);
    s3_place_object(&note.object, "bucket", 6, "k", 1);
    s3_lot_note_write(&note, &out);
    ck_assert(s3_lot_note_read((const uint8_t *)out.bytes, out.length, &back));
    ck_assert_int_eq(back.made_s, 7);
    ck_assert_uint_eq(back.chunk, 4);
    ck_assert_str_eq(back.owner.text, note.owner.text);
    ck_assert_str_eq(back.object.text, "O/bucket/k");
    for (size_t length = 0; length < out.length - 10; length++) {
        SUITE_HOLDS(!s3_lot_note_read((const uint8_t *)out.bytes, length, &back), "%zu", length);
    }
    s3_buffer_drop(&out);
}
END_TEST

START_TEST(the_lots_register_goes_last)
{
    bench_open(2, 100);
    ck_assert_int_eq(bench_put("k", "0123456789abcdefghij"), S3_OK);
    ck_assert_int_eq(bench_remove("k"), S3_OK);
    bench.now_s += S3_GRACE_S;
    s3_desk_tick(bench.desk);
    while (standin_count(&bench.store, "D/") > 0) {
        ck_assert_uint_eq(standin_count(&bench.store, "L/"), 1);
        ck_assert(standin_turn(&bench.store));
    }
    bench_run();
    ck_assert_uint_eq(bench_lots(), 0);
    bench_close();
}
END_TEST

START_TEST(what_fails_is_left_to_the_sweeper)
{
    bench_open(2, 100);
    ck_assert_int_eq(bench_put("k", "0123456789"), S3_OK);
    ck_assert_int_eq(bench_remove("k"), S3_OK);
    bench.store.failing = 1000;
    bench_pass(S3_GRACE_S);
    ck_assert_uint_eq(bench.desk->lots_left, 1);
    ck_assert_uint_eq(standin_count(&bench.store, "L/"), 1);
    bench_close();
}
END_TEST

START_TEST(only_so_many_wait)
{
    const struct s3_lot lot = {{1}, 4, 4};
    bench_open(2, 100);
    for (unsigned i = 0; i < S3_DROPS_MOST + 5; i++) {
        s3_drop(bench.desk, BENCH_JOB, &lot, 10);
    }
    ck_assert_uint_eq(bench.desk->drops_waiting, S3_DROPS_MOST);
    ck_assert_uint_eq(bench.desk->lots_left, 5);
    bench_close();
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(notes), SUITE_TEST(the_lots_register_goes_last),
                                          SUITE_TEST(what_fails_is_left_to_the_sweeper), SUITE_TEST(only_so_many_wait)};
SUITE_MAIN("drop", tests)
