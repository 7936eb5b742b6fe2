/* SPDX-License-Identifier: Apache-2.0 */
#include "store_bench.h"

#include <errno.h>

/* A kill of the program leaves what it wrote in the kernel: it can be read, and is not on the disk. */
START_TEST(what_can_be_read_is_written_again)
{
    struct storage_config c = oracle_config();
    struct store_bench b = bench_of(&c);
    bench_must_put(&b, 1, 500);
    ck_assert_int_gt(bench_put(&b, 1, 600), 0);
    storage_flush(b.o->s);
    /* The group is synced first. Then the value's sync fails, and the kernel calls its pages clean. */
    sim_disk_fail_nth(b.disk, 2, 1u << DISK_SYNC, EIO);
    while (!bench_status(&b).dead) {
        sim_disk_step(b.disk);
    }
    oracle_end(b.o); /* killed before it can say that it died */
    sim_disk_fail_nth(b.disk, 0, 0, 0);
    ck_assert_int_eq(oracle_open(b.o, b.disk), STORAGE_RECOVERED);
    oracle_judge(b.o, false, false);
    uint32_t size = bench_slot(&b, 1)->value.length;
    ck_assert_uint_eq(size, 600);
    ck_assert_int_eq(bench_reopen(&b), STORAGE_RECOVERED);
    ck_assert_uint_eq(bench_slot(&b, 1)->value.length, size);
    oracle_judge(b.o, true, false);
    bench_close(&b);
}
END_TEST

/* The dropped group must not continue the chain when the next one goes elsewhere. */
START_TEST(what_was_dropped_is_wiped)
{
    struct storage_config c = oracle_config();
    struct store_bench b = bench_of(&c);
    char file[DISK_NAME_BYTES];
    while (bench_slot(&b, 1) == NULL || bench_slot(&b, 1)->record.offset < c.meta_segment - 2 * DISK_SECTOR) {
        bench_must_put(&b, 1, 10);
    }
    bench_must_put(&b, 2, 500); /* the last block of its segment, with a value elsewhere */
    ck_assert_uint_ge(bench_slot(&b, 2)->record.offset, c.meta_segment - DISK_SECTOR);
    uint32_t offset = bench_slot(&b, 2)->value.offset;
    bench_file_of(&b, 2, true, file);
    sim_disk_flip(b.disk, file, offset * 8);
    ck_assert_int_eq(bench_reopen(&b), STORAGE_RECOVERED); /* as if the value had not come to the disk */
    ck_assert_uint_eq(b.o->how.dropped, 1);
    ck_assert_ptr_null(bench_slot(&b, 2));
    b.o->appended = b.o->acked = b.o->acked - 1;
    struct oracle_batch large = {.count = 3, .put = {{3, false, 290}, {4, false, 290}, {5, false, 290}}};
    ck_assert_int_gt(oracle_append(b.o, &large), 0);
    bench_flush(&b);
    ck_assert_int_eq(bench_reopen(&b), STORAGE_RECOVERED);
    oracle_judge(b.o, true, false);
    bench_close(&b);
}
END_TEST

START_TEST(a_new_store_id_keeps_warm_registers_through_any_crash)
{
    struct storage_config c = oracle_config();
    struct store_bench b = bench_of(&c);
    bench_must_put(&b, 1, 50);
    bench_must_put(&b, 2, 700);
    sim_disk_fail_nth(b.disk, 1, 1u << DISK_SYNC, EIO);
    ck_assert_int_gt(bench_put(&b, 3, 50), 0);
    storage_flush(b.o->s);
    oracle_settle(b.o);
    oracle_end(b.o);
    for (uint32_t step = 0; step < 200; step++) {
        struct sim_disk *copy = sim_disk_copy(b.disk);
        struct oracle *o = oracle_new(&c);
        oracle_copy(o, b.o);
        o->config.fresh_id += step;
        /* The power goes after `step` orders of the opening. */
        sim_disk_fail_nth(copy, step + 1, UINT32_MAX, EIO);
        enum storage_opened_as as = oracle_open(o, copy);
        bool through = sim_disk_fail_pending(copy);
        oracle_end(o);
        sim_disk_fail_nth(copy, 0, 0, 0);
        sim_disk_crash(copy, NULL, SIM_DISK_KEEPS);
        if (!through) {
            as = oracle_open(o, copy);
            ck_assert(as == STORAGE_RENEWED || as == STORAGE_RECOVERED);
            ck_assert_uint_ge(bench_status(&(struct store_bench){copy, o}).registers, 2);
            oracle_judge_warm(o);
            ck_assert_str_eq(o->wrong, "");
        }
        oracle_free(o);
        sim_disk_close(copy);
        if (through) {
            break;
        }
    }
    sim_disk_close(b.disk);
    oracle_free(b.o);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(what_can_be_read_is_written_again),
    SUITE_TEST(what_was_dropped_is_wiped),
    SUITE_TEST(a_new_store_id_keeps_warm_registers_through_any_crash),
};
SUITE_MAIN("renewing", tests)
