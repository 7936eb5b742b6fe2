/* SPDX-License-Identifier: Apache-2.0 */
/* test_files.c - options, sweeping, notes that are none, and the folder of one server among several. */
#include "fake_engine.h"
#include "services/multicast/file/internal.h"
#include "suite.h"

#include <errno.h>

START_TEST(options)
{
    static const struct {
        const char *option;
        int rc;
    } cases[] = {
        {"folder=/srv/files", 0}, {"folder=files", -EINVAL}, {"folder=", 0},       {"part_age=2h", 0},
        {"part_age=1s", -EINVAL}, {"part_age=old", -EINVAL}, {"part_age=1min", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const with[] = {cases[i].option, NULL};
        ck_assert_msg(fake_town_begin(with) == cases[i].rc, "%s", cases[i].option);
        ck_assert_uint_eq(fake_town_end(), 0);
    }
    char longest[600] = "folder=/";
    memset(longest + 8, 'f', sizeof longest - 9);
    ck_assert_int_eq(fake_town_begin((const char *const[]){longest, NULL}), -EINVAL);
    ck_assert_uint_eq(fake_town_end(), 0);
}
END_TEST

START_TEST(a_folder_of_its_own)
{
    const char *const with[] = {"folder=/srv/files", NULL};
    ck_assert_int_eq(fake_town_begin(with), 0);
    ck_assert_str_eq(town.files->env.folder, "/srv/files");
    (void)fake_town_end();
    fake_files_init(&town.disk);
    town.no_host = true; /* it is not known then whether there are several */
    ck_assert_int_eq(fake_town_begin(with), 0);
    town.no_host = false;
    ck_assert_str_eq(town.files->env.folder, "/srv/files");
    (void)fake_town_end();
}
END_TEST

START_TEST(parts_are_swept)
{
    const char *const with[] = {"folder=/srv/files", NULL};
    ck_assert_int_eq(fake_town_begin(with), 0);
    fake_files_put(&town.disk, ".a.part", "x", 1);
    fake_run(town.s, CW_SEC(6));
    ck_assert_ptr_null(fake_files_find(&town.disk, ".a.part"));
    fake_files_put(&town.disk, ".a.part", "x", 1);
    fake_run(town.s, CW_SEC(3500));
    ck_assert_ptr_nonnull(fake_files_find(&town.disk, ".a.part"));
    fake_run(town.s, CW_SEC(200));
    ck_assert_ptr_null(fake_files_find(&town.disk, ".a.part"));
    ck_assert_uint_eq(fake_town_end(), 0);
}
END_TEST

START_TEST(packets_that_are_no_notes)
{
    struct file_progress note = {.state = FILE_PART_TAKING};
    uint8_t bytes[FILE_PROGRESS_BYTES];
    cw_verdict verdict;
    ck_assert_int_eq(fake_town_begin(NULL), 0);
    file_progress_encode(&note, bytes);
    cw_rx rx = {.size = sizeof rx, .where = CW_ARRIVED, .port = FILE_PORT, .src_job = 7, .src_process = 3};
    cw_packet *p = fake_packet(town.s, bytes, sizeof bytes, 0);
    ck_assert_int_eq(files_packet(town.files, bytes, sizeof bytes, &rx), 0);
    ck_assert_int_eq(files_packet(town.files, bytes, sizeof bytes - 1, &rx), -EBADMSG);
    rx.src_process = 27;
    ck_assert_int_eq(files_packet(town.files, bytes, sizeof bytes, &rx), -EBADMSG);
    rx.src_process = 3;
    rx.src_job = 8;
    (void)fake_arrive(town.s, p, &rx, &verdict);
    ck_assert_int_eq(verdict, CW_DROP);
    ck_assert_uint_eq(fake_town_end(), 0);
}
END_TEST

START_TEST(words)
{
    struct fake_result r;
    ck_assert_int_eq(fake_town_begin(NULL), 0);
    fake_command(town.s, "file-status", &r);
    ck_assert(r.done && r.rc == 0 && r.fields == 0);
    fake_command(town.s, "file-status members=1", &r);
    ck_assert(r.done && r.rc == 0);
    fake_command(town.s, "file-status all", &r);
    ck_assert(r.done && r.rc == -EINVAL);
    ck_assert_uint_eq(fake_town_end(), 0);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(options),         SUITE_TEST(a_folder_of_its_own),
    SUITE_TEST(parts_are_swept), SUITE_TEST(packets_that_are_no_notes),
    SUITE_TEST(words),
};
SUITE_MAIN("files", tests)
