/* SPDX-License-Identifier: Apache-2.0 */
#include "store_bench.h"

#include <errno.h>

START_TEST(a_torn_tail_is_dropped_and_damage_is_not)
{
    for (int quiet = 0; quiet < 2; quiet++) {
        struct storage_config c = oracle_config();
        struct store_bench b = bench_of(&c);
        char file[DISK_NAME_BYTES];
        bench_must_put(&b, 1, 50);
        bench_must_put(&b, 2, 50);
        if (quiet != 0) {
            bench_quiet(&b); /* from now on the last group is known to have been synced */
        }
        bench_file_of(&b, 2, false, file);
        sim_disk_flip(b.disk, file, (bench_slot(&b, 2)->record.offset + 70) * 8);
        enum storage_opened_as as = bench_reopen(&b);
        ck_assert_int_eq(as, quiet != 0 ? STORAGE_RENEWED : STORAGE_RECOVERED);
        ck_assert_uint_eq(b.o->how.dropped, quiet == 0);
        ck_assert_ptr_nonnull(bench_slot(&b, 1));
        ck_assert_ptr_null(bench_slot(&b, 2));
        ck_assert_int_eq((bench_slot(&b, 1)->flags & KEY_WARM) != 0, quiet != 0);
        bench_close(&b);
    }
}
END_TEST

START_TEST(the_chain_goes_on_through_segments_in_any_order)
{
    struct storage_config c = oracle_config();
    c.checkpoint_every = 30 * DISK_SECTOR;
    struct store_bench b = bench_of(&c);
    for (uint32_t i = 0; i < 300; i++) {
        bench_must_put(&b, (uint8_t)(i % ORACLE_KEYS), 1 + i % 299);
        if (i % 50 == 49) {
            ck_assert_int_eq(bench_reopen(&b), STORAGE_RECOVERED);
            oracle_judge(b.o, true, false);
        }
    }
    bench_close(&b);
}
END_TEST

START_TEST(a_missing_segment_is_damage)
{
    struct storage_config c = oracle_config();
    c.checkpoint_every = UINT64_MAX;
    struct store_bench b = bench_of(&c);
    for (uint32_t i = 0; i < 40; i++) {
        bench_must_put(&b, (uint8_t)(i % ORACLE_KEYS), 250);
    }
    sim_disk_cut(b.disk, "meta-000002.seg", 0);
    ck_assert_int_eq(bench_reopen(&b), STORAGE_RENEWED);
    oracle_judge_warm(b.o);
    bench_close(&b);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_torn_tail_is_dropped_and_damage_is_not),
    SUITE_TEST(the_chain_goes_on_through_segments_in_any_order),
    SUITE_TEST(a_missing_segment_is_damage),
};
SUITE_MAIN("replay", tests)
