/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/internal.h"
#include "store_bench.h"

#include <errno.h>

START_TEST(names_of_files)
{
    char name[DISK_NAME_BYTES];
    checkpoint_name(42, name);
    ck_assert_str_eq(name, "index-0000000042.ckpt");
    ck_assert_uint_eq(checkpoint_sequence(name), 42);
    ck_assert_uint_eq(checkpoint_sequence("index-000000004x.ckpt"), 0);
    ck_assert_uint_eq(checkpoint_sequence("index-0000000000.ckpt"), 0);
    ck_assert_uint_eq(checkpoint_sequence("meta-000001.seg"), 0);
}
END_TEST

START_TEST(there_is_one_and_it_frees_segments)
{
    struct storage_config c = oracle_config();
    c.checkpoint_every = 4 * DISK_SECTOR;
    c.compact_live = 0;
    struct store_bench b = bench_of(&c);
    for (uint32_t i = 0; i < 200; i++) {
        bench_must_put(&b, (uint8_t)(i % 3), 250);
    }
    uint32_t files = 0;
    for (uint32_t i = 0; sim_disk_file(b.disk, i) != NULL; i++) {
        files += strncmp(sim_disk_file(b.disk, i)->name, "index-", 6) == 0;
    }
    ck_assert_uint_eq(files, 1);
    ck_assert_uint_gt(bench_status(&b).checkpoints, 10);
    ck_assert_uint_le(bench_status(&b).meta_segments, 5);
    ck_assert_int_eq(bench_reopen(&b), STORAGE_RECOVERED);
    ck_assert_uint_lt(b.o->how.replayed, 30);
    oracle_judge(b.o, true, false);
    bench_close(&b);
}
END_TEST

START_TEST(no_room_for_one_is_no_death)
{
    struct storage_config c = oracle_config();
    c.checkpoint_every = UINT64_MAX;
    struct store_bench b = bench_of(&c);
    bench_must_put(&b, 1, 100);
    sim_disk_fail_nth(b.disk, 1, 1u << DISK_WRITE, ENOSPC);
    storage_checkpoint(b.o->s);
    oracle_settle(b.o);
    ck_assert(!bench_status(&b).dead);
    ck_assert_uint_eq(bench_status(&b).checkpoints, 0);
    bench_must_put(&b, 2, 100);
    storage_checkpoint(b.o->s);
    oracle_settle(b.o);
    ck_assert_uint_eq(bench_status(&b).checkpoints, 1);
    ck_assert_int_eq(bench_reopen(&b), STORAGE_RECOVERED);
    oracle_judge(b.o, true, false);
    bench_close(&b);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(names_of_files),
    SUITE_TEST(there_is_one_and_it_frees_segments),
    SUITE_TEST(no_room_for_one_is_no_death),
};
SUITE_MAIN("checkpoint", tests)
