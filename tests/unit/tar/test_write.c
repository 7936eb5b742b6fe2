/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* mkdtemp */
#include "archive.h"

#include "suite.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static struct archive archive;
static struct tar_file file;

static void put(const char *path, const void *bytes, size_t size)
{
    snprintf(file.path, sizeof file.path, "%s", path);
    file.size = size;
    ck_assert_int_eq(tar_put(&file, archive_write, &archive), 0);
    ck_assert_int_eq(archive_write(&archive, bytes, size), 0);
    ck_assert_int_eq(tar_put_end(size, archive_write, &archive), 0);
}

START_TEST(words)
{
    char key[TAR_KEY_MOST + 1], text[TAR_TEXT_MOST + 1];
    memset(key, 'k', sizeof key - 1);
    memset(text, 't', sizeof text - 1);
    key[sizeof key - 1] = text[sizeof text - 1] = '\0';
    ck_assert_ptr_null(tar_word(&file, "a"));
    ck_assert_int_eq(tar_word_set(&file, "a", "1"), 0);
    ck_assert_int_eq(tar_word_set(&file, "b", ""), 0);
    ck_assert_int_eq(tar_word_set(&file, "a", "2"), 0);
    ck_assert_uint_eq(file.words, 2);
    ck_assert_str_eq(tar_word(&file, "a"), "2");
    ck_assert_str_eq(tar_word(&file, "b"), "");
    ck_assert_int_eq(tar_word_set(&file, key, "1"), -ENOBUFS);
    ck_assert_int_eq(tar_word_set(&file, "c", text), -ENOBUFS);
    for (char more[] = "0"; file.words < TAR_WORDS_MOST; more[0]++) {
        ck_assert_int_eq(tar_word_set(&file, more, "x"), 0);
    }
    ck_assert_int_eq(tar_word_set(&file, "one more", "x"), -ENOBUFS);
    ck_assert_int_eq(tar_word_set(&file, "b", "there is room for those that are there"), 0);
}
END_TEST

/* Everything is in whole blocks, and what a writer refuses is passed on. */
START_TEST(blocks)
{
    put("short", "hello", 5);
    put("empty", "", 0);
    put("whole", archive.bytes, TAR_BLOCK);
    ck_assert_int_eq(tar_close(archive_write, &archive), 0);
    ck_assert_uint_eq(archive.size % TAR_BLOCK, 0);
    ck_assert_uint_eq(archive.size, (3 * 3 + 2 + 2) * TAR_BLOCK);
    archive.size = sizeof archive.bytes - TAR_BLOCK;
    ck_assert_int_eq(tar_put(&file, archive_write, &archive), -ENOSPC);
}
END_TEST

/* What tar itself makes of it. */
START_TEST(tar_reads_it)
{
    char folder[] = "/tmp/cubeway-tar-XXXXXX", line[1024], long_name[300];
    memset(long_name, 'n', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    long_name[100] = long_name[200] = '/';
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
    ck_assert_int_eq(tar_word_set(&file, "SCHILY.xattr.user.cubeway.version", "12"), 0);
    put("config/a name", "hello\n", 6);
    put("\xc3\xa4", "umlaut\n", 7);
    put(long_name, "long\n", 5);
    ck_assert_int_eq(tar_close(archive_write, &archive), 0);
    FILE *out = fopen("x.tar", "wb");
    ck_assert_uint_eq(fwrite(archive.bytes, 1, archive.size, out), archive.size);
    ck_assert_int_eq(fclose(out), 0);
    ck_assert_int_eq(system("tar -xf x.tar 2>said && test ! -s said"), 0);
    snprintf(line, sizeof line, "test \"$(cat 'config/a name' \xc3\xa4 %s)\" = 'hello\numlaut\nlong'", long_name);
    ck_assert_int_eq(system(line), 0);
    ck_assert_int_eq(chdir("/"), 0);
    snprintf(line, sizeof line, "rm -r %s", folder);
    ck_assert_int_eq(system(line), 0);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(words), SUITE_TEST(blocks), SUITE_TEST(tar_reads_it)};
SUITE_MAIN("write", tests)
