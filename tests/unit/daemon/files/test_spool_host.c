/* SPDX-License-Identifier: Apache-2.0 */
/* test_spool_host.c - real files: what is spilled and has no name, inputs, and names that lead elsewhere. */
#include "daemon/files/spool_host.h"

#include "suite.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char top[64], folder[96];
static struct spool_host h;

static void setup(void)
{
    strcpy(top, "/tmp/cubeway-spool-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(top));
    snprintf(folder, sizeof folder, "%s/spool", top);
    spool_host_open(&h, true);
    ck_assert(h.several);
}

static void teardown(void)
{
    char line[128];
    snprintf(line, sizeof line, "rm -rf %s", top);
    ck_assert_int_eq(system(line), 0);
}

/* How many names are in the folder, those that begin with a dot, too. */
static unsigned entries(void)
{
    DIR *d = opendir(folder);
    unsigned n = 0;
    ck_assert_ptr_nonnull(d);
    for (const struct dirent *e; (e = readdir(d)) != NULL;) {
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    }
    closedir(d);
    return n;
}

START_TEST(spilled)
{
    struct spool_file *f[2] = {NULL, NULL};
    uint8_t out[8] = {0};
    setup();
    ck_assert_int_eq(h.make(h.context, folder, &f[0]), 0); /* makes the folder */
    ck_assert_int_eq(h.make(h.context, folder, &f[1]), 0);
    ck_assert_uint_eq(entries(), 0);
    ck_assert_int_eq(h.write(h.context, f[0], (const uint8_t *)"abc", 3), 0);
    ck_assert_int_eq(h.write(h.context, f[1], (const uint8_t *)"xyz", 3), 0);
    ck_assert_int_eq(h.write(h.context, f[0], (const uint8_t *)"defg", 4), 0);
    ck_assert_int_eq(h.read(h.context, f[0], 2, out, 4), 0);
    ck_assert_mem_eq(out, "cdef", 4);
    ck_assert_int_eq(h.read(h.context, f[1], 0, out, 3), 0);
    ck_assert_mem_eq(out, "xyz", 3);
    ck_assert_int_eq(h.read(h.context, f[0], 5, out, 3), -ENODATA);
    ck_assert_uint_eq(entries(), 0);
    h.close(h.context, f[0]);
    h.close(h.context, f[1]);
    ck_assert_uint_eq(entries(), 0);
    teardown();
}
END_TEST

START_TEST(folders)
{
    struct spool_file *f = NULL;
    char deep[160];
    setup();
    snprintf(deep, sizeof deep, "%s/a/b", folder);
    ck_assert_int_eq(h.make(h.context, deep, &f), -ENOENT);
    ck_assert_int_eq(mkdir(folder, 0777), 0);
    ck_assert_int_eq(chmod(folder, 0777), 0);
    ck_assert_int_eq(h.make(h.context, folder, &f), -EPERM);
    ck_assert_ptr_null(f);
    teardown();
}
END_TEST

/* Opens a name as an input: its length, or -errno. */
static int64_t input(const char *name)
{
    struct spool_file *f = NULL;
    uint64_t length = 0;
    int rc = h.input(h.context, folder, name, &f, &length);
    if (rc == 0) {
        uint8_t out[16];
        ck_assert_int_eq(h.read(h.context, f, 0, out, length), 0);
        ck_assert_int_eq(h.read(h.context, f, 1, out, length), -ENODATA);
        h.close(h.context, f);
    }
    return rc < 0 ? rc : (int64_t)length;
}

START_TEST(inputs)
{
    char path[160];
    setup();
    ck_assert_int_eq(input("a"), -ENOENT);
    ck_assert_int_eq(mkdir(folder, 0755), 0);
    snprintf(path, sizeof path, "%s/a", folder);
    FILE *file = fopen(path, "w");
    ck_assert(file != NULL && fputs("twelve bytes", file) >= 0 && fclose(file) == 0);
    snprintf(path, sizeof path, "%s/link", folder);
    ck_assert_int_eq(symlink("a", path), 0);
    snprintf(path, sizeof path, "%s/sub", folder);
    ck_assert_int_eq(mkdir(path, 0755), 0);
    snprintf(path, sizeof path, "%s/pipe", folder);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert_int_eq(input("a"), 12);
    ck_assert_int_eq(input("sub/../a"), 12);
    ck_assert_int_eq(input("b"), -ENOENT);
    ck_assert_int_eq(input("sub"), -EINVAL);
    ck_assert_int_eq(input("pipe"), -EINVAL); /* at once */
    ck_assert_int_eq(input("link"), -ELOOP);
    ck_assert_int_eq(input("../spool/a"), -EXDEV);
    ck_assert_int_eq(input("/etc/passwd"), -EXDEV);
    teardown();
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(spilled), SUITE_TEST(folders), SUITE_TEST(inputs)};
SUITE_MAIN("spool_host", tests)
