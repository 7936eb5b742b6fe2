/* SPDX-License-Identifier: Apache-2.0 */
#include "store_bench.h"

#include <errno.h>

START_TEST(what_comes_while_a_group_is_on_its_way_shares_the_next)
{
    struct storage_config c = oracle_config();
    struct store_bench b = bench_of(&c);
    uint64_t groups = bench_status(&b).groups;
    for (uint8_t key = 0; key < 10; key++) {
        ck_assert_int_gt(bench_put(&b, key, 50), 0);
        if (key == 0) {
            storage_flush(b.o->s);
        }
    }
    bench_flush(&b);
    ck_assert_uint_eq(bench_status(&b).groups - groups, 2);
    oracle_judge(b.o, true, false);
    bench_close(&b);
}
END_TEST

START_TEST(what_cannot_be_appended_is_refused_untouched)
{
    struct storage_config c = oracle_config();
    struct store_bench b = bench_of(&c);
    ck_assert_int_eq(bench_put(&b, 1, c.blob_segment + 1), -EMSGSIZE);
    static const uint8_t note[LOG_NOTE_MAX + 1];
    struct storage_put put = {.note = note, .note_size = sizeof note};
    ck_assert_int_eq(storage_append(b.o->s, &put, 1, 1), -EINVAL);
    struct oracle_batch many = {.count = 3, .put = {{.key = 1, .size = 300}, {.key = 2, .size = 300}, {.key = 3}}};
    int rc = 0;
    for (int i = 0; i < 20 && rc >= 0; i++) {
        rc = oracle_append(b.o, &many);
    }
    ck_assert_int_eq(rc, -EAGAIN); /* the group is full */
    b.o->room = false;
    bench_flush(&b);
    ck_assert(b.o->room);
    ck_assert_int_gt(oracle_append(b.o, &many), 0);
    bench_flush(&b);
    oracle_judge(b.o, true, false);
    bench_close(&b);
}
END_TEST

START_TEST(a_failed_write_or_sync_is_final)
{
    static const unsigned kinds[] = {1u << DISK_WRITE, 1u << DISK_SYNC};
    for (int i = 0; i < 2; i++) {
        struct storage_config c = oracle_config();
        struct store_bench b = bench_of(&c);
        bench_must_put(&b, 1, 10);
        sim_disk_fail_nth(b.disk, 1, kinds[i], EIO);
        ck_assert_int_gt(bench_put(&b, 2, 10), 0);
        storage_flush(b.o->s);
        oracle_settle(b.o);
        ck_assert(b.o->failed);
        ck_assert(bench_status(&b).dead);
        ck_assert_uint_eq(b.o->acked, 1);
        ck_assert_int_eq(bench_put(&b, 3, 10), -EIO);
        ck_assert_int_eq(bench_reopen(&b), STORAGE_RENEWED);
        oracle_judge_warm(b.o);
        bench_close(&b);
    }
}
END_TEST

START_TEST(memory_has_a_limit_that_drops_pass)
{
    struct storage_config c = oracle_config();
    c.memory_max = 1;
    struct store_bench b = bench_of(&c);
    bench_must_put(&b, 1, 10);
    ck_assert_int_eq(bench_put(&b, 2, 10), -ENOSPC);
    ck_assert_int_gt(bench_drop(&b, 1), 0);
    bench_flush(&b);
    bench_close(&b);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(what_comes_while_a_group_is_on_its_way_shares_the_next),
    SUITE_TEST(what_cannot_be_appended_is_refused_untouched),
    SUITE_TEST(a_failed_write_or_sync_is_final),
    SUITE_TEST(memory_has_a_limit_that_drops_pass),
};
SUITE_MAIN("gather", tests)
