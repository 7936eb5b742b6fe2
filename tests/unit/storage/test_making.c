/* SPDX-License-Identifier: Apache-2.0 */
#include "store_bench.h"

#include <errno.h>

START_TEST(segments_are_made_ahead_and_whole)
{
    struct storage_config c = oracle_config();
    struct store_bench b = bench_of(&c);
    ck_assert_uint_eq(bench_status(&b).meta_free, 2);
    ck_assert_uint_eq(bench_status(&b).blob_segments, 0); /* nobody has had a large value */
    ck_assert_uint_eq(sim_disk_unsynced(b.disk), 0);
    ck_assert_int_eq(bench_put(&b, 1, 1000), -EAGAIN);
    oracle_settle(b.o);
    ck_assert(b.o->room);
    ck_assert_int_gt(bench_put(&b, 1, 1000), 0);
    bench_flush(&b);
    ck_assert_uint_eq(bench_status(&b).blob_segments, 3); /* one is ahead, and one is kept for moves */
    bench_close(&b);
}
END_TEST

START_TEST(a_full_disk_is_no_death)
{
    struct storage_config c = oracle_config();
    struct sim_disk_config small = {.seed = 1, .room = 8192 + 5 * c.meta_segment};
    struct store_bench b = {.disk = sim_disk_open(&small), .o = oracle_new(&c)};
    ck_assert_int_eq(oracle_open(b.o, b.disk), STORAGE_FORMATTED);
    oracle_settle(b.o);
    int rc = 0;
    for (uint32_t i = 0; i < 400 && rc != -ENOSPC; i++) {
        rc = bench_put(&b, (uint8_t)(i % ORACLE_KEYS), 300);
        bench_flush(&b);
    }
    ck_assert(!bench_status(&b).dead);
    ck_assert_int_gt(bench_drop(&b, 1), 0);
    bench_flush(&b);
    oracle_judge(b.o, true, false);
    ck_assert_int_eq(bench_reopen(&b), STORAGE_RECOVERED);
    oracle_judge(b.o, true, false);
    bench_close(&b);
}
END_TEST

START_TEST(an_unfinished_segment_is_finished_by_the_next_life)
{
    struct storage_config c = oracle_config();
    struct sim_disk *disk = sim_disk_open(&(struct sim_disk_config){.seed = 1});
    struct store_bench b = {.disk = disk, .o = oracle_new(&c)};
    ck_assert_int_eq(oracle_open(b.o, b.disk), STORAGE_FORMATTED);
    for (int i = 0; i < 2; i++) {
        sim_disk_step(disk); /* the file is there, and its length perhaps */
    }
    ck_assert_int_eq(bench_reopen(&b), STORAGE_RECOVERED);
    ck_assert_uint_eq(bench_status(&b).meta_free, 2);
    bench_must_put(&b, 1, 10);
    bench_close(&b);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(segments_are_made_ahead_and_whole),
    SUITE_TEST(a_full_disk_is_no_death),
    SUITE_TEST(an_unfinished_segment_is_finished_by_the_next_life),
};
SUITE_MAIN("making", tests)
