/* SPDX-License-Identifier: Apache-2.0 */
#include "store_bench.h"

#include <errno.h>

START_TEST(a_folder_of_another_class_or_of_other_sizes_is_refused)
{
    struct storage_config c = oracle_config();
    struct store_bench b = bench_of(&c);
    bench_must_put(&b, 1, 10);
    b.o->config.class_id++;
    ck_assert_int_eq(bench_reopen(&b), STORAGE_OTHER);
    ck_assert_ptr_nonnull(strstr(b.o->how.why, "another class"));
    b.o->config.class_id--;
    b.o->config.block *= 2;
    ck_assert_int_eq(bench_reopen(&b), STORAGE_OTHER);
    b.o->config.block /= 2;
    b.o->config.blob_segment *= 2; /* there is none yet */
    ck_assert_int_eq(bench_reopen(&b), STORAGE_RECOVERED);
    ck_assert_int_eq(bench_put(&b, 2, 1000), -EAGAIN);
    oracle_settle(b.o);
    ck_assert_int_gt(bench_put(&b, 2, 1000), 0);
    bench_flush(&b);
    b.o->config.blob_segment *= 2;
    ck_assert_int_eq(bench_reopen(&b), STORAGE_OTHER);
    ck_assert_ptr_nonnull(strstr(b.o->how.why, "large values"));
    b.o->config.blob_segment /= 2;
    ck_assert_int_eq(bench_reopen(&b), STORAGE_RECOVERED);
    oracle_judge(b.o, true, false);
    bench_close(&b);
}
END_TEST

START_TEST(a_lost_identity_is_a_new_one)
{
    struct storage_config c = oracle_config();
    struct store_bench b = bench_of(&c);
    bench_must_put(&b, 1, 10);
    uint64_t id = b.o->how.store_id;
    sim_disk_cut(b.disk, "id", 0);
    ck_assert_int_eq(bench_reopen(&b), STORAGE_RENEWED);
    ck_assert_uint_ne(b.o->how.store_id, id);
    ck_assert_ptr_null(bench_slot(&b, 1));
    bench_close(&b);
}
END_TEST

START_TEST(a_disk_that_cannot_read_is_no_empty_one)
{
    struct storage_config c = oracle_config();
    struct store_bench b = bench_of(&c);
    bench_must_put(&b, 1, 1000);
    for (uint32_t n = 1;; n++) {
        sim_disk_fail_nth(b.disk, n, 1u << DISK_READ | 1u << DISK_OPEN | 1u << DISK_LIST, EIO);
        enum storage_opened_as as = bench_reopen(&b);
        if (sim_disk_fail_pending(b.disk)) {
            break;
        }
        ck_assert(as == STORAGE_FAILED || as == STORAGE_RECOVERED);
        ck_assert_int_eq(b.o->how.error, as == STORAGE_FAILED ? -EIO : 0);
    }
    sim_disk_fail_nth(b.disk, 0, 0, 0);
    ck_assert_int_eq(bench_reopen(&b), STORAGE_RECOVERED);
    oracle_judge(b.o, true, false);
    bench_close(&b);
}
END_TEST

START_TEST(files_of_others_are_left_alone)
{
    struct storage_config c = oracle_config();
    struct store_bench b = bench_of(&c);
    bench_must_put(&b, 1, 10);
    sim_disk_put(b.disk, "notes.txt", "hello", 5);
    ck_assert_int_eq(bench_reopen(&b), STORAGE_RECOVERED);
    oracle_judge(b.o, true, false);
    char text[6] = "";
    sim_disk_peek(b.disk, "notes.txt", 0, text, 5);
    ck_assert_str_eq(text, "hello");
    bench_close(&b);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_folder_of_another_class_or_of_other_sizes_is_refused),
    SUITE_TEST(a_lost_identity_is_a_new_one),
    SUITE_TEST(a_disk_that_cannot_read_is_no_empty_one),
    SUITE_TEST(files_of_others_are_left_alone),
};
SUITE_MAIN("opening", tests)
