/* SPDX-License-Identifier: Apache-2.0 */
#include "store_bench.h"

#include <errno.h>

/* Little is alive and much was written: what is alive moves together, and the room is used again. */
START_TEST(what_lives_moves_and_the_room_comes_back)
{
    for (uint32_t size = 100; size <= 1100; size += 1000) {
        struct storage_config c = oracle_config();
        c.checkpoint_every = 8 * DISK_SECTOR;
        struct store_bench b = bench_of(&c);
        for (uint32_t i = 0; i < 300; i++) {
            bench_must_put(&b, (uint8_t)(i % 29 == 0 ? 11 : i % 5), size);
        }
        struct storage_status status = bench_status(&b);
        ck_assert_uint_gt(status.compacted, 0);
        ck_assert_uint_le(status.meta_segments, 8);
        ck_assert_uint_le(status.blob_segments, size > 1000 ? 8 : 0);
        oracle_judge(b.o, true, false);
        ck_assert_int_eq(bench_reopen(&b), STORAGE_RECOVERED);
        oracle_judge(b.o, true, false);
        bench_close(&b);
    }
}
END_TEST

START_TEST(what_cannot_be_read_stays_and_is_told_once)
{
    struct storage_config c = oracle_config();
    c.checkpoint_every = 8 * DISK_SECTOR;
    struct store_bench b = bench_of(&c);
    char file[DISK_NAME_BYTES];
    bench_must_put(&b, 7, 200);
    bench_file_of(&b, 7, false, file);
    sim_disk_flip(b.disk, file, (bench_slot(&b, 7)->record.offset + LOG_RECORD_HEAD + 40) * 8);
    for (uint32_t i = 0; i < 200; i++) {
        bench_must_put(&b, (uint8_t)(i % 5), 250);
    }
    ck_assert_uint_eq(b.o->damaged, 1);
    ck_assert_uint_ne(bench_slot(&b, 7)->flags & KEY_DAMAGED, 0);
    oracle_judge(b.o, true, true);
    bench_close(&b);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(what_lives_moves_and_the_room_comes_back),
    SUITE_TEST(what_cannot_be_read_stays_and_is_told_once),
};
SUITE_MAIN("compaction", tests)
