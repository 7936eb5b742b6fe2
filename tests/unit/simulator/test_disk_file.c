/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/disk_file.h"
#include "suite.h"

#include <string.h>

/* A file of 3 sectors, 'a' synced and 'b' written over it. */
static struct sim_file *file_with_two_versions(struct sim_files *fs)
{
    char a[3 * DISK_SECTOR], b[3 * DISK_SECTOR];
    struct sim_file *f = sim_files_make(fs, "f");
    memset(a, 'a', sizeof a);
    memset(b, 'b', sizeof b);
    sim_file_write(f, 0, a, sizeof a);
    sim_file_sync(f);
    sim_file_write(f, 0, b, sizeof b);
    return f;
}

static char sector_of(const struct sim_file *f, unsigned n)
{
    char byte = 0;
    ck_assert_uint_eq(sim_file_read(f, n * DISK_SECTOR + 100, &byte, 1), 1);
    return byte;
}

START_TEST(a_crash_keeps_the_sectors_it_is_told)
{
    for (unsigned keep = 0; keep < 8; keep++) {
        struct sim_files fs = {0};
        struct sim_file *f = file_with_two_versions(&fs);
        ck_assert_uint_eq(sim_file_unsynced(f), 3);
        ck_assert_uint_eq(sim_file_crash(f, &(uint8_t){(uint8_t)keep}, 0, NULL), 3);
        for (unsigned n = 0; n < 3; n++) {
            ck_assert_int_eq(sector_of(f, n), (keep >> n & 1) != 0 ? 'b' : 'a');
        }
        ck_assert_uint_eq(sim_file_unsynced(f), 0);
        sim_files_close(&fs);
    }
}
END_TEST

START_TEST(what_a_failed_sync_left_is_read_and_not_on_the_plate)
{
    struct sim_files fs = {0};
    struct sim_file *f = file_with_two_versions(&fs);
    sim_file_spoil(f);
    sim_file_sync(f);
    ck_assert_int_eq(sector_of(f, 0), 'b');
    sim_file_write(f, DISK_SECTOR, "x", 1); /* only what is written again can be synced */
    sim_file_sync(f);
    sim_file_crash(f, (const uint8_t[]){0xff}, 0, NULL);
    ck_assert_int_eq(sector_of(f, 0), 'a');
    ck_assert_int_eq(sector_of(f, 1), 'b');
    ck_assert_int_eq(sector_of(f, 2), 'a');
    sim_files_close(&fs);
}
END_TEST

START_TEST(files_are_sparse_and_kept_by_name)
{
    struct sim_files fs = {0};
    struct sim_file *b = sim_files_make(&fs, "b"), *a = sim_files_make(&fs, "a");
    sim_file_lengthen(a, UINT64_C(1) << 30);
    ck_assert_uint_eq(sim_file_memory(a), 0);
    sim_file_write(a, 5000, "hello", 5);
    ck_assert_uint_le(sim_file_memory(a), 3 * SIM_PAGE);
    char read[8] = "zzzzzzz";
    ck_assert_uint_eq(sim_file_read(a, 4999, read, 7), 7);
    ck_assert_mem_eq(read, "\0hello\0", 7);
    ck_assert_ptr_eq(fs.file[0], a);
    ck_assert_ptr_eq(fs.file[1], b);
    ck_assert_uint_eq(sim_files_bytes(&fs), UINT64_C(1) << 30);
    sim_file_cut(a, 5002);
    sim_file_lengthen(a, 5005);
    sim_file_read(a, 5000, read, 5);
    ck_assert_mem_eq(read, "he\0\0\0", 5);
    struct sim_files copy = {0};
    sim_files_copy(&copy, &fs);
    sim_file_write(a, 5000, "HE", 2);
    sim_file_read(sim_files_find(&copy, "a"), 5000, read, 2);
    ck_assert_mem_eq(read, "he", 2);
    sim_files_close(&copy);
    sim_files_close(&fs);
}
END_TEST

START_TEST(names_that_are_not_synced_go_and_come_back)
{
    struct sim_files fs = {0};
    struct sim_file *old = sim_files_make(&fs, "old");
    sim_file_write(old, 0, "x", 1);
    sim_file_sync(old);
    sim_files_make(&fs, "new");
    sim_files_remove(&fs, old);
    ck_assert_ptr_null(sim_files_find(&fs, "old"));
    sim_files_crash(&fs, true, true);
    ck_assert_ptr_nonnull(sim_files_find(&fs, "old"));
    ck_assert_ptr_null(sim_files_find(&fs, "new"));
    sim_files_remove(&fs, sim_files_find(&fs, "old"));
    sim_files_settle(&fs);
    sim_files_crash(&fs, true, true);
    ck_assert_uint_eq(fs.count, 0);
    sim_files_close(&fs);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_crash_keeps_the_sectors_it_is_told),
    SUITE_TEST(what_a_failed_sync_left_is_read_and_not_on_the_plate),
    SUITE_TEST(files_are_sparse_and_kept_by_name),
    SUITE_TEST(names_that_are_not_synced_go_and_come_back),
};
SUITE_MAIN("disk_file", tests)
