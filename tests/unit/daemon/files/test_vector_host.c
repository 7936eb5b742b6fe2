/* SPDX-License-Identifier: Apache-2.0 */
/* test_vector_host.c - real files: read, written whole, and names that lead elsewhere. */
#include "daemon/files/vector_host.h"
#include "suite.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char top[64], folder[96];
static struct vectors_host h;

static void setup(void)
{
    strcpy(top, "/tmp/cubeway-vectors-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(top));
    snprintf(folder, sizeof folder, "%s/data", top);
    vector_host_open(&h, false);
}

static void teardown(void)
{
    char line[128];
    snprintf(line, sizeof line, "rm -rf %s", top);
    ck_assert_int_eq(system(line), 0);
}

static int load(const char *name, uint64_t most, const char *expected)
{
    uint8_t *bytes = NULL;
    uint64_t length = 0;
    int rc = h.load(h.context, folder, name, most, &bytes, &length);
    if (rc == 0) {
        ck_assert_uint_eq(length, strlen(expected));
        ck_assert(memcmp(bytes, expected, length) == 0);
    }
    free(bytes);
    return rc;
}

/* In two pieces. */
static int store_bytes(const char *name, const uint8_t *bytes, uint64_t length)
{
    struct vectors_file *f = NULL;
    int rc = h.begin(h.context, folder, name, &f);
    if (rc < 0) {
        return rc;
    }
    rc = h.write(h.context, f, bytes, length / 2);
    rc = rc < 0 ? rc : h.write(h.context, f, bytes + length / 2, length - length / 2);
    if (rc < 0) {
        h.abandon(h.context, f);
        return rc;
    }
    return h.end(h.context, f);
}

static int store(const char *name, const char *text)
{
    return store_bytes(name, (const uint8_t *)text, strlen(text));
}

/* How many files are in the folder, those that begin with a dot, too. */
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

START_TEST(there_and_back)
{
    setup();
    ck_assert_int_eq(load("a", 10, ""), -ENOENT);
    ck_assert_int_eq(store("a", "one"), 0); /* makes the folder */
    ck_assert_int_eq(load("a", 10, "one"), 0);
    ck_assert_int_eq(store("a", "another"), 0);
    ck_assert_int_eq(load("a", 7, "another"), 0);
    ck_assert_int_eq(load("a", 6, ""), -EFBIG);
    ck_assert_int_eq(store("none", ""), 0);
    ck_assert_int_eq(load("none", 0, ""), 0);
    teardown();
}
END_TEST

START_TEST(names)
{
    char path[160], link[160];
    setup();
    ck_assert_int_eq(store("a", "one"), 0);
    snprintf(path, sizeof path, "%s/sub", folder);
    ck_assert_int_eq(mkdir(path, 0755), 0);
    ck_assert_int_eq(store("sub/b", "two"), 0);
    ck_assert_int_eq(load("sub/b", 10, "two"), 0);
    ck_assert_int_eq(load("sub/../a", 10, "one"), 0);
    ck_assert_int_eq(load("sub", 10, ""), -EINVAL);
    ck_assert_int_eq(load("../data/a", 10, ""), -EXDEV);
    ck_assert_int_eq(load("/etc/passwd", 10, ""), -EXDEV);
    ck_assert_int_eq(store("../c", "x"), -EXDEV);
    ck_assert_int_eq(store("sub/..", "x"), -EINVAL);
    ck_assert_int_eq(store("nowhere/c", "x"), -ENOENT);
    snprintf(link, sizeof link, "%s/link", folder);
    ck_assert_int_eq(symlink("a", link), 0);
    ck_assert_int_eq(load("link", 10, ""), -ELOOP);
    ck_assert_int_eq(store("link", "x"), 0); /* in the link's place */
    ck_assert_int_eq(load("a", 10, "one"), 0);
    snprintf(link, sizeof link, "%s/pipe", folder);
    ck_assert_int_eq(mkfifo(link, 0600), 0);
    ck_assert_int_eq(load("pipe", 10, ""), -EINVAL); /* at once */
    teardown();
}
END_TEST

/* A folder that others may write is none for results. */
START_TEST(others)
{
    setup();
    ck_assert_int_eq(store("a", "one"), 0);
    ck_assert_int_eq(chmod(folder, 0777), 0);
    ck_assert_int_eq(store("a", "two"), -EPERM);
    ck_assert_int_eq(load("a", 10, "one"), 0);
    ck_assert_int_eq(chmod(folder, 01777), 0);
    ck_assert_int_eq(store("a", "two"), 0);
    teardown();
}
END_TEST

/* What is abandoned leaves the file that is there, and nothing beside it. */
START_TEST(abandoned)
{
    struct vectors_file *f = NULL;
    setup();
    ck_assert_int_eq(store("a", "one"), 0);
    ck_assert_int_eq(h.begin(h.context, folder, "a", &f), 0);
    ck_assert_int_eq(h.write(h.context, f, (const uint8_t *)"two", 3), 0);
    h.abandon(h.context, f);
    ck_assert_int_eq(load("a", 10, "one"), 0);
    ck_assert_uint_eq(entries(), 1);
    teardown();
}
END_TEST

enum { RACE_BYTES = 3 << 20, RACE_ROUNDS = 6 };

static void *race(void *arg)
{
    static uint8_t bytes[2][RACE_BYTES];
    const unsigned which = *(const unsigned *)arg;
    memset(bytes[which], (int)('a' + which), RACE_BYTES);
    for (unsigned i = 0; i < RACE_ROUNDS; i++) {
        int rc = store_bytes("same", bytes[which], RACE_BYTES - which);
        if (rc < 0) {
            return &bytes[which][0];
        }
    }
    return NULL;
}

/* Two threads write to one name: neither sees an error, and one whole result is there. Nothing is left beside it. */
START_TEST(one_name)
{
    pthread_t thread[2];
    unsigned which[2] = {0, 1};
    uint8_t *bytes = NULL;
    uint64_t length = 0;
    setup();
    ck_assert_int_eq(store(".same~", "an operator's own file"), 0);
    for (unsigned i = 0; i < 2; i++) {
        ck_assert_int_eq(pthread_create(&thread[i], NULL, race, &which[i]), 0);
    }
    for (unsigned i = 0; i < 2; i++) {
        void *failed;
        ck_assert_int_eq(pthread_join(thread[i], &failed), 0);
        ck_assert_ptr_null(failed);
    }
    ck_assert_int_eq(h.load(h.context, folder, "same", RACE_BYTES, &bytes, &length), 0);
    ck_assert(length == (bytes[0] == 'a' ? RACE_BYTES : RACE_BYTES - 1));
    ck_assert(bytes[0] == bytes[length - 1] && memcmp(bytes, bytes + 1, length - 1) == 0);
    free(bytes);
    ck_assert_int_eq(load(".same~", 100, "an operator's own file"), 0);
    ck_assert_uint_eq(entries(), 2);
    teardown();
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(there_and_back), SUITE_TEST(names), SUITE_TEST(others),
                                          SUITE_TEST(one_name), SUITE_TEST(abandoned)};
SUITE_MAIN("vector_host", tests)
