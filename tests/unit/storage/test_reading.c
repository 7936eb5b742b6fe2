/* SPDX-License-Identifier: Apache-2.0 */
#include "store_bench.h"

#include <errno.h>

START_TEST(damage_is_told_for_the_register_alone)
{
    struct storage_config c = oracle_config();
    struct store_bench b = bench_of(&c);
    char file[DISK_NAME_BYTES];
    bench_must_put(&b, 1, 100);
    bench_must_put(&b, 2, 100);
    bench_file_of(&b, 1, false, file);
    sim_disk_flip(b.disk, file, (bench_slot(&b, 1)->record.offset + LOG_RECORD_HEAD + 20) * 8);
    oracle_judge(b.o, true, true);
    ck_assert_int_eq(b.o->reading[1].result, -EBADMSG);
    ck_assert_int_eq(b.o->reading[2].result, 0);
    ck_assert_uint_eq(b.o->damaged, 1);
    bench_close(&b);
}
END_TEST

START_TEST(a_disk_that_cannot_read_says_so)
{
    struct storage_config c = oracle_config();
    struct store_bench b = bench_of(&c);
    bench_must_put(&b, 1, 1000);
    sim_disk_fail_nth(b.disk, 2, 1u << DISK_READ, EIO);
    oracle_judge(b.o, true, true);
    ck_assert_int_eq(b.o->reading[1].result, -EIO);
    ck_assert_uint_eq(b.o->damaged, 0);
    oracle_judge(b.o, true, false);
    cw_key none = {{9}};
    ck_assert_int_eq(storage_read(b.o->s, 1, &none, 0), -ENOENT);
    bench_close(&b);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(damage_is_told_for_the_register_alone),
    SUITE_TEST(a_disk_that_cannot_read_says_so),
};
SUITE_MAIN("reading", tests)
