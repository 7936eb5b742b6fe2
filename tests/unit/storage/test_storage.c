/* SPDX-License-Identifier: Apache-2.0 */
#include "store_bench.h"

#include <errno.h>

START_TEST(config_is_judged)
{
    struct storage *s;
    struct sim_disk *disk = sim_disk_open(&(struct sim_disk_config){.seed = 1});
    struct storage_events events = {.arg = NULL};
    struct storage_config good = storage_config_default(), bad;
    good.fresh_id = 1;
    bad = good;
    bad.block = 1000;
    ck_assert_int_eq(storage_open(&s, &bad, &events, sim_disk_face(disk)), -EINVAL);
    bad = good;
    bad.meta_segment = 3 * good.block;
    ck_assert_int_eq(storage_open(&s, &bad, &events, sim_disk_face(disk)), -EINVAL);
    bad = good;
    bad.group_max = good.meta_segment;
    ck_assert_int_eq(storage_open(&s, &bad, &events, sim_disk_face(disk)), -EINVAL);
    bad = good;
    bad.fresh_id = 0;
    ck_assert_int_eq(storage_open(&s, &bad, &events, sim_disk_face(disk)), -EINVAL);
    ck_assert_int_eq(storage_open(&s, &good, &events, sim_disk_face(disk)), 0);
    storage_close(s);
    sim_disk_close(disk);
}
END_TEST

START_TEST(registers_and_names_live_from_put_to_drop)
{
    struct storage_config c = oracle_config();
    struct store_bench b = bench_of(&c);
    bench_must_put(&b, 2, 10);
    bench_must_put(&b, 4, 2000);
    bench_must_put(&b, 2, 30);
    oracle_judge(b.o, true, false);
    ck_assert_uint_eq(bench_status(&b).registers, 2);
    ck_assert_uint_eq(bench_status(&b).names, 2);
    ck_assert_uint_eq(bench_slot(&b, 2)->value.length, 30);
    ck_assert_int_gt(bench_drop(&b, 2), 0);
    bench_flush(&b);
    ck_assert_ptr_null(bench_slot(&b, 2));
    ck_assert_uint_eq(bench_status(&b).names, 1);
    oracle_judge(b.o, true, false);
    bench_close(&b);
}
END_TEST

START_TEST(an_orderly_end_leaves_nothing_to_replay)
{
    struct storage_config c = oracle_config();
    struct store_bench b = bench_of(&c);
    for (uint8_t key = 0; key < 8; key++) {
        bench_must_put(&b, key, 100);
    }
    storage_stop(b.o->s);
    oracle_settle(b.o);
    ck_assert(b.o->stopped);
    ck_assert_int_eq(b.o->stop_result, 0);
    ck_assert_int_eq(bench_reopen(&b), STORAGE_RECOVERED);
    ck_assert_uint_eq(b.o->how.replayed, 0);
    ck_assert_uint_eq(b.o->how.boot, 2);
    oracle_judge(b.o, true, false);
    bench_close(&b);
}
END_TEST

START_TEST(an_empty_group_follows_the_last_once)
{
    struct storage_config c = oracle_config();
    struct store_bench b = bench_of(&c);
    ck_assert_int_eq(storage_next_wake(b.o->s).ns, CW_NEVER.ns);
    bench_must_put(&b, 1, 1);
    uint64_t position = bench_status(&b).position;
    storage_tick(b.o->s, (cw_time){5});
    ck_assert_int_eq(storage_next_wake(b.o->s).ns, 5 + CW_MS(100).ns);
    storage_tick(b.o->s, cw_time_add((cw_time){5}, CW_MS(99)));
    oracle_settle(b.o);
    ck_assert_uint_eq(bench_status(&b).position, position);
    storage_tick(b.o->s, cw_time_add((cw_time){5}, CW_MS(100)));
    oracle_settle(b.o);
    ck_assert_uint_eq(bench_status(&b).position, position + 1);
    bench_quiet(&b);
    ck_assert_uint_eq(bench_status(&b).position, position + 1);
    ck_assert_int_eq(storage_next_wake(b.o->s).ns, CW_NEVER.ns);
    bench_close(&b);
}
END_TEST

START_TEST(scrubbing_finds_what_rotted)
{
    struct storage_config c = oracle_config();
    struct store_bench b = bench_of(&c);
    char file[DISK_NAME_BYTES];
    bench_must_put(&b, 1, 100);
    bench_must_put(&b, 2, 1000);
    bench_file_of(&b, 2, true, file);
    sim_disk_flip(b.disk, file, (bench_slot(&b, 2)->value.offset + 500) * 8);
    while (storage_scrub(b.o->s) != 0) {
        oracle_settle(b.o);
    }
    ck_assert_uint_eq(bench_status(&b).scrubbed, 2);
    ck_assert_uint_eq(bench_status(&b).damaged, 1);
    ck_assert_uint_eq(b.o->damaged, 1);
    ck_assert_uint_ne(bench_slot(&b, 2)->flags & KEY_DAMAGED, 0);
    bench_must_put(&b, 2, 900); /* a new value heals it */
    ck_assert_uint_eq(bench_slot(&b, 2)->flags & KEY_DAMAGED, 0);
    oracle_judge(b.o, true, false);
    bench_close(&b);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(config_is_judged),
    SUITE_TEST(registers_and_names_live_from_put_to_drop),
    SUITE_TEST(an_orderly_end_leaves_nothing_to_replay),
    SUITE_TEST(an_empty_group_follows_the_last_once),
    SUITE_TEST(scrubbing_finds_what_rotted),
};
SUITE_MAIN("storage", tests)
