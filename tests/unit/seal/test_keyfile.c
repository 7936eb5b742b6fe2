/* SPDX-License-Identifier: Apache-2.0 */
/* test_keyfile.c - a pair on disk: who may read it, who may have written it, and that none is ever lost to another. */
#include "seal/keyfile.h"
#include "suite.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64], path[96], beside[112];

static void make_folder(void)
{
    strcpy(folder, "/tmp/cubeway-seal-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/operator.key", folder);
    snprintf(beside, sizeof beside, "%s.pub", path);
}

static void remove_folder(void)
{
    unlink(path);
    unlink(beside);
    rmdir(folder);
}

static mode_t mode_of(const char *file)
{
    struct stat st;
    ck_assert_int_eq(stat(file, &st), 0);
    return st.st_mode & 07777;
}

static void write_text(const char *file, const char *text, mode_t mode)
{
    FILE *out = fopen(file, "w");
    ck_assert_ptr_nonnull(out);
    fputs(text, out);
    fclose(out);
    ck_assert_int_eq(chmod(file, mode), 0);
}

START_TEST(a_pair_is_written_and_read)
{
    char why[SEAL_WHY], hex[SEAL_HEX];
    uint8_t raw[SEAL_PUBLIC_BYTES], read[SEAL_PUBLIC_BYTES], signature[SEAL_SIGNATURE_BYTES];
    struct seal_key *key;
    struct seal_public *half;
    make_folder();
    umask(0);
    ck_assert_msg(keyfile_make(path, raw, why) == 0, "%s", why);
    ck_assert_uint_eq(mode_of(path), 0600);
    ck_assert_uint_eq(mode_of(beside), 0644);
    ck_assert_msg(keyfile_open(&key, path, why) == 0, "%s", why);
    ck_assert_int_eq(seal_sign(key, "x", 1, signature), 0);
    seal_key_close(key);
    ck_assert_msg(keyfile_public(beside, read, why) == 0, "%s", why);
    ck_assert_int_eq(memcmp(raw, read, sizeof raw), 0);
    seal_public_hex(raw, hex);
    memset(read, 0, sizeof read);
    ck_assert_int_eq(keyfile_public(hex, read, why), 0);
    ck_assert_int_eq(memcmp(raw, read, sizeof raw), 0);
    ck_assert_int_eq(seal_public_open(&half, read), 0);
    ck_assert(seal_verify(half, "x", 1, signature));
    seal_public_close(half);
    remove_folder();
}
END_TEST

START_TEST(no_key_is_written_over)
{
    char why[SEAL_WHY];
    uint8_t raw[SEAL_PUBLIC_BYTES], again[SEAL_PUBLIC_BYTES];
    make_folder();
    ck_assert_int_eq(keyfile_make(path, raw, why), 0);
    ck_assert_int_eq(keyfile_make(path, again, why), -EEXIST);
    ck_assert_ptr_nonnull(strstr(why, "is there already"));
    ck_assert_int_eq(keyfile_public(beside, again, why), 0);
    ck_assert_int_eq(memcmp(raw, again, sizeof raw), 0);
    unlink(path);
    ck_assert_int_eq(keyfile_make(path, again, why), -EEXIST); /* the public half's file is there */
    ck_assert_int_eq(access(path, F_OK), -1);                  /* and no half of a pair is left */
    remove_folder();
    ck_assert_int_eq(keyfile_make(path, again, why), -ENOENT);
    ck_assert_ptr_nonnull(strstr(why, path));
}
END_TEST

START_TEST(files_that_others_can_touch_are_refused)
{
    char why[SEAL_WHY];
    uint8_t raw[SEAL_PUBLIC_BYTES];
    struct seal_key *key;
    make_folder();
    ck_assert_int_eq(keyfile_make(path, raw, why), 0);
    for (mode_t bit = 1; bit < 0100; bit <<= 1) {
        ck_assert_int_eq(chmod(path, 0600 | bit), 0);
        ck_assert_int_eq(keyfile_open(&key, path, why), -EPERM);
        ck_assert_ptr_nonnull(strstr(why, "chmod 600"));
    }
    ck_assert_int_eq(chmod(path, 0400), 0);
    ck_assert_int_eq(keyfile_open(&key, path, why), 0);
    seal_key_close(key);
    ck_assert_int_eq(chmod(beside, 0664), 0);
    ck_assert_int_eq(keyfile_public(beside, raw, why), -EPERM);
    ck_assert_ptr_nonnull(strstr(why, "others may write there"));
    ck_assert_int_eq(keyfile_open(&key, folder, why), -EPERM);
    ck_assert_ptr_nonnull(strstr(why, "not a file"));
    if (geteuid() == 0) {
        ck_assert_int_eq(chown(path, 12345, 12345), 0);
        ck_assert_int_eq(keyfile_open(&key, path, why), -EPERM);
        ck_assert_ptr_nonnull(strstr(why, "belongs to user 12345"));
    }
    remove_folder();
}
END_TEST

START_TEST(what_is_no_key_is_named)
{
    char why[SEAL_WHY];
    uint8_t raw[SEAL_PUBLIC_BYTES];
    struct seal_key *key;
    make_folder();
    ck_assert_int_eq(keyfile_open(&key, path, why), -ENOENT);
    ck_assert_int_eq(keyfile_public(path, raw, why), -ENOENT);
    ck_assert_ptr_nonnull(strstr(why, "expected 64 hex digits, or a file"));
    write_text(path, "nothing\n", 0600);
    ck_assert_int_eq(keyfile_open(&key, path, why), -EBADMSG);
    ck_assert_ptr_nonnull(strstr(why, path));
    ck_assert_int_eq(keyfile_public(path, raw, why), -EBADMSG);
    ck_assert_ptr_nonnull(strstr(why, path));
    write_text(path, "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a\n", 0644);
    ck_assert_int_eq(keyfile_public(path, raw, why), 0);
    remove_folder();
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_pair_is_written_and_read),
    SUITE_TEST(no_key_is_written_over),
    SUITE_TEST(files_that_others_can_touch_are_refused),
    SUITE_TEST(what_is_no_key_is_named),
};
SUITE_MAIN("keyfile", tests)
