/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/files/folder.h"

#include "suite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char top[64], path[96];

static void setup(void)
{
    strcpy(top, "/tmp/cubeway-folder-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(top));
    snprintf(path, sizeof path, "%s/data", top);
}

static int opened(const char *name)
{
    int fd = folder_open(name);
    if (fd >= 0) {
        close(fd);
    }
    return fd < 0 ? fd : 0;
}

/* The last part is made; a folder that others may write is refused, unless it is sticky. */
START_TEST(folders)
{
    char deep[128];
    setup();
    snprintf(deep, sizeof deep, "%s/a/b", path);
    ck_assert_int_eq(opened(deep), -ENOENT);
    ck_assert_int_eq(opened(path), 0);
    ck_assert_int_eq(chmod(path, 0777), 0);
    ck_assert_int_eq(opened(path), -EPERM);
    ck_assert_int_eq(chmod(path, 01777), 0);
    ck_assert_int_eq(opened(path), 0);
    ck_assert_int_eq(folder_is_ours(-1), -EBADF);
    ck_assert_int_eq(rmdir(path), 0);
    ck_assert_int_eq(rmdir(top), 0);
}
END_TEST

/* A file is made without a name, or with a drawn one; names lead to nothing outside. */
START_TEST(files)
{
    char drawn[2][FOLDER_DRAWN];
    bool named[2];
    setup();
    int at = folder_open(path), fd[2];
    ck_assert_int_ge(at, 0);
    for (unsigned i = 0; i < 2; i++) {
        fd[i] = folder_make(at, O_RDWR, drawn[i], &named[i]);
        ck_assert_int_ge(fd[i], 0);
        ck_assert_int_eq(folder_write(fd[i], 0, (const uint8_t *)"abcd", 4), 0);
        ck_assert(!named[i] || unlinkat(at, drawn[i], 0) == 0);
        close(fd[i]);
    }
    ck_assert_str_ne(drawn[0], drawn[1]);
    ck_assert_int_eq(folder_below(at, "none", O_RDONLY, 0), -ENOENT);
    ck_assert_int_eq(folder_below(at, "..", O_RDONLY | O_DIRECTORY, 0), -EXDEV);
    ck_assert_int_eq(folder_below(at, "/", O_RDONLY | O_DIRECTORY, 0), -EXDEV);
    close(at);
    ck_assert_int_eq(rmdir(path), 0);
    ck_assert_int_eq(rmdir(top), 0);
}
END_TEST

START_TEST(bytes)
{
    uint8_t out[8] = {0};
    setup();
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(folder_write(fd, 0, (const uint8_t *)"abcd", 4), 0);
    ck_assert_int_eq(folder_write(fd, 2, (const uint8_t *)"xyz", 3), 0);
    ck_assert_int_eq(folder_read(fd, 1, out, 4), 0);
    ck_assert(memcmp(out, "bxyz", 4) == 0);
    ck_assert_int_eq(folder_read(fd, 1, out, 5), -ENODATA);
    ck_assert_int_eq(folder_read(-1, 0, out, 1), -EBADF);
    ck_assert_int_eq(folder_write(-1, 0, out, 1), -EBADF);
    close(fd);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(rmdir(top), 0);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(folders), SUITE_TEST(files), SUITE_TEST(bytes)};
SUITE_MAIN("folder", tests)
