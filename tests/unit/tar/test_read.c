/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* mkdtemp */
#include "archive.h"

#include "suite.h"

#include <stdlib.h>
#include <unistd.h>

static struct archive archive, damaged;
static struct tar_file file;
static struct tar_reader reader;

static void put(const char *path, size_t size)
{
    uint8_t bytes[4096];
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)(i * 7);
    }
    snprintf(file.path, sizeof file.path, "%s", path);
    file.size = size;
    ck_assert_int_eq(tar_put(&file, archive_write, &archive), 0);
    ck_assert_int_eq(archive_write(&archive, bytes, size), 0);
    ck_assert_int_eq(tar_put_end(size, archive_write, &archive), 0);
}

/* Reads the file that has come, and compares it. */
static void take(const char *path, size_t size)
{
    uint8_t bytes[1000];
    size_t at = 0;
    int64_t n;
    ck_assert_str_eq(file.path, path);
    ck_assert_uint_eq(file.size, size);
    while ((n = tar_get(&reader, bytes, sizeof bytes)) > 0) {
        for (int64_t i = 0; i < n; i++, at++) {
            ck_assert_uint_eq(bytes[i], (uint8_t)(at * 7));
        }
    }
    ck_assert(n == 0 && at == size);
}

/* Whatever is in it: how many files; or a negative error, which must say why. */
static int read_all(struct archive *a)
{
    uint8_t bytes[1000];
    int files = 0, rc;
    int64_t n = 0;
    a->at = 0;
    tar_open(&reader, archive_read, a, "SCHILY.xattr.user.");
    while ((rc = tar_next(&reader, &file)) > 0) {
        files++;
        while ((n = tar_get(&reader, bytes, sizeof bytes)) > 0) {
        }
        if (n < 0) {
            break;
        }
    }
    rc = n < 0 ? (int)n : rc;
    ck_assert(rc == 0 || reader.why[0] != '\0');
    return rc < 0 ? rc : files;
}

/* What is written is read: any path, and words; in pieces of any length; a file may be left after some of its bytes. */
START_TEST(there_and_back)
{
    char long_name[2000];
    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    put("a", 0);
    ck_assert_int_eq(tar_word_set(&file, "SCHILY.xattr.user.cubeway.version", "12"), 0);
    ck_assert_int_eq(tar_word_set(&file, "SCHILY.xattr.user.cubeway.name", "YWI="), 0);
    put("b/\xff\n=\x01", 512);
    put("c", 4000);
    file.words = 0;
    put(long_name, 1);
    ck_assert_int_eq(tar_close(archive_write, &archive), 0);
    for (archive.most = 0; archive.most < 600; archive.most += 199) {
        archive.at = 0;
        tar_open(&reader, archive_read, &archive, "SCHILY.xattr.user.");
        ck_assert_int_eq(tar_next(&reader, &file), 1);
        take("a", 0);
        ck_assert_ptr_null(tar_word(&file, "SCHILY.xattr.user.cubeway.version"));
        ck_assert_int_eq(tar_next(&reader, &file), 1);
        ck_assert_str_eq(tar_word(&file, "SCHILY.xattr.user.cubeway.version"), "12");
        ck_assert_str_eq(tar_word(&file, "SCHILY.xattr.user.cubeway.name"), "YWI=");
        take("b/\xff\n=\x01", 512);
        ck_assert_int_eq(tar_next(&reader, &file), 1);
        uint8_t some[100];
        ck_assert_int_eq(tar_get(&reader, some, sizeof some), 100);
        ck_assert_int_eq(tar_next(&reader, &file), 1);
        ck_assert_uint_eq(file.words, 0);
        take(long_name, 1);
        ck_assert_int_eq(tar_next(&reader, &file), 0);
    }
}
END_TEST

/* No byte that is missing or wrong does worse than an error; what breaks off says so. */
START_TEST(damage)
{
    ck_assert_int_eq(tar_word_set(&file, "key", "a text"), 0);
    put("first", 700);
    put("second", 3);
    size_t body = archive.size;
    ck_assert_int_eq(tar_close(archive_write, &archive), 0);
    ck_assert_int_eq(read_all(&archive), 2);
    for (size_t cut = 0; cut < body + TAR_BLOCK; cut++) { /* one block of zeros is an end */
        memcpy(damaged.bytes, archive.bytes, cut);
        damaged.size = cut;
        int files = read_all(&damaged);
        SUITE_HOLDS(files == -EPROTO, "cut to %zu: %d", cut, files);
    }
    for (size_t bit = 0; bit < 8 * archive.size; bit++) {
        memcpy(damaged.bytes, archive.bytes, archive.size);
        damaged.size = archive.size;
        damaged.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        (void)read_all(&damaged);
    }
}
END_TEST

/* Words of other programs do not push out those that are asked for; and a file with holes is refused. */
START_TEST(words_of_others)
{
    char key[TAR_KEY_MOST];
    for (unsigned i = 0; i < TAR_WORDS_MOST - 1; i++) {
        snprintf(key, sizeof key, "LIBARCHIVE.%u", i);
        ck_assert_int_eq(tar_word_set(&file, key, "x"), 0);
    }
    ck_assert_int_eq(tar_word_set(&file, "SCHILY.xattr.user.last", "here"), 0);
    put("a", 1);
    ck_assert_int_eq(tar_close(archive_write, &archive), 0);
    tar_open(&reader, archive_read, &archive, "SCHILY.xattr.user.");
    ck_assert_int_eq(tar_next(&reader, &file), 1);
    ck_assert_uint_eq(file.words, 1);
    ck_assert_str_eq(tar_word(&file, "SCHILY.xattr.user.last"), "here");
    archive.size = archive.at = 0;
    file.words = 0;
    ck_assert_int_eq(tar_word_set(&file, "GNU.sparse.major", "1"), 0);
    put("a", 1);
    ck_assert_int_eq(read_all(&archive), -EOPNOTSUPP);
    ck_assert_ptr_nonnull(strstr(reader.why, "has holes"));
}
END_TEST

static int64_t broken_read(void *context, void *out, size_t size)
{
    (void)context;
    (void)out;
    (void)size;
    return -EIO;
}

START_TEST(sentences)
{
    tar_open(&reader, archive_read, &archive, "SCHILY.xattr.user.");
    ck_assert_int_eq(tar_next(&reader, &file), -EPROTO);
    ck_assert_str_eq(reader.why, "it is empty");
    memset(archive.bytes, 'x', 600);
    archive.size = 600;
    ck_assert_int_eq(read_all(&archive), -EPROTO);
    ck_assert_str_eq(reader.why, "it is no tar archive");
    archive.size = 100;
    ck_assert_int_eq(read_all(&archive), -EPROTO);
    ck_assert_str_eq(reader.why, "it is no tar archive");
    tar_open(&reader, broken_read, NULL, "");
    ck_assert_int_eq(tar_next(&reader, &file), -EIO);
    ck_assert_str_eq(reader.why, "byte 0: Input/output error");
    archive.size = 0;
    put("a", 700);
    archive.size -= 600;
    ck_assert_int_eq(read_all(&archive), -EPROTO);
    ck_assert_str_eq(reader.why, "it breaks off at byte 1960");
}
END_TEST

/* Archives that tar has made: all of its formats. */
START_TEST(tar_wrote_it)
{
    static const char *const formats[] = {"pax", "gnu", "ustar", "v7"};
    char folder[] = "/tmp/cubeway-tar-XXXXXX", line[512];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
    ck_assert_int_eq(system("mkdir d && printf hello >d/a && printf 12345 >d/$(printf %090d 7) && ln -s a link"), 0);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        snprintf(line, sizeof line, "tar --format=%s -cf x.tar d && tar --format=%s -cf y.tar d link", formats[i],
                 formats[i]);
        ck_assert_int_eq(system(line), 0);
        for (char name[] = "x.tar"; name[0] <= 'y'; name[0]++) {
            FILE *in = fopen(name, "rb");
            archive.size = fread(archive.bytes, 1, sizeof archive.bytes, in);
            fclose(in);
            int files = read_all(&archive);
            SUITE_HOLDS(files == (name[0] == 'x' ? 2 : -EOPNOTSUPP), "%s of %s: %d", name, formats[i], files);
        }
        ck_assert_str_eq(reader.why, "'link' is no file: its kind is '2'");
    }
    ck_assert_int_eq(system("printf %200s | tr ' ' p >/dev/null; touch $(printf %200s | tr ' ' p)"), 0);
    ck_assert_int_eq(system("tar --format=gnu -cf x.tar p*"), 0);
    FILE *in = fopen("x.tar", "rb");
    archive.size = fread(archive.bytes, 1, sizeof archive.bytes, in);
    fclose(in);
    ck_assert_int_eq(read_all(&archive), 1);
    ck_assert_uint_eq(strlen(file.path), 200);
    ck_assert_int_eq(chdir("/"), 0);
    snprintf(line, sizeof line, "rm -r %s", folder);
    ck_assert_int_eq(system(line), 0);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(there_and_back), SUITE_TEST(words_of_others), SUITE_TEST(damage),
                                          SUITE_TEST(sentences), SUITE_TEST(tar_wrote_it)};
SUITE_MAIN("read", tests)
