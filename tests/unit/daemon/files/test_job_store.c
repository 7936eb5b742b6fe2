/* SPDX-License-Identifier: Apache-2.0 */
/* test_job_store.c - records come back as they were, whole, and from nobody else's hands. */
#include "daemon/files/job_store.h"
#include "suite.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char state[64], folder[96], why[JOB_STORE_WHY];

static void make_state(void)
{
    strcpy(state, "/tmp/cubeway-jobs-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(state));
    snprintf(folder, sizeof folder, "%s/n.jobs", state);
}

static const char *path_of(const char *name)
{
    static char path[160];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void remove_state(void)
{
    static const char *const names[] = {"5.job", "5.new", "6.job", "7.job", "8.job", "4000000000.job", "x.job", "9"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        unlink(path_of(names[i]));
    }
    rmdir(folder);
    ck_assert_int_eq(rmdir(state), 0);
}

struct seen {
    unsigned count, told;
    char bytes[256];
};

static void each(void *arg, const uint8_t *bytes, size_t size)
{
    struct seen *seen = arg;
    seen->count++;
    snprintf(seen->bytes + strlen(seen->bytes), sizeof seen->bytes - strlen(seen->bytes), "[%.*s]", (int)size,
             (const char *)bytes);
}

static void tell(void *context, const char *text)
{
    struct seen *seen = context;
    ck_assert_ptr_nonnull(strstr(text, folder));
    seen->told++;
}

static struct seen see(struct job_store *s, int rc)
{
    struct seen seen = {0};
    int first = job_store_each(s, each, &seen, tell, &seen);
    ck_assert_msg(rc == 0 ? first == 0 : first < 0, "%d", first);
    return seen;
}

static int put(struct job_store *s, cw_job job, const char *text)
{
    return job_store_put(s, job, (const uint8_t *)text, strlen(text));
}

START_TEST(what_is_put_is_there_again)
{
    struct job_store s;
    make_state();
    ck_assert_msg(job_store_open(&s, state, "n", "", why) == 0, "%s", why);
    ck_assert_uint_eq(see(&s, 0).count, 0);
    ck_assert_int_eq(put(&s, 5, "one"), 0);
    ck_assert_int_eq(put(&s, 5, "two"), 0);
    ck_assert_str_eq(see(&s, 0).bytes, "[two]");
    ck_assert_int_eq(put(&s, 4000000000, "x"), 0);
    job_store_close(&s);
    ck_assert_int_eq(job_store_open(&s, state, "n", "", why), 0);
    ck_assert_uint_eq(see(&s, 0).count, 2);
    ck_assert_int_eq(access(path_of("5.new"), F_OK), -1);
    job_store_close(&s);
    remove_state();
}
END_TEST

START_TEST(what_does_not_count_is_told)
{
    struct job_store s;
    make_state();
    ck_assert_int_eq(job_store_open(&s, state, "n", "", why), 0);
    ck_assert(put(&s, 5, "good") == 0 && put(&s, 6, "others write") == 0 && put(&s, 7, "link") == 0);
    ck_assert_int_eq(chmod(path_of("6.job"), 0646), 0);
    ck_assert_int_eq(unlink(path_of("7.job")), 0);
    ck_assert_int_eq(symlink("5.job", path_of("7.job")), 0);
    ck_assert_int_eq(symlink("5.job", path_of("x.job")), 0); /* no number: not ours */
    struct seen seen = see(&s, -1);
    ck_assert_str_eq(seen.bytes, "[good]");
    ck_assert_uint_eq(seen.told, 2);
    job_store_close(&s);
    remove_state();
}
END_TEST

START_TEST(a_folder_of_others_is_refused)
{
    struct job_store s;
    make_state();
    ck_assert_int_eq(mkdir(folder, 0755), 0);
    ck_assert_int_eq(chmod(folder, 0775), 0);
    ck_assert_int_eq(job_store_open(&s, state, "n", "", why), -EPERM);
    ck_assert_ptr_nonnull(strstr(why, "chmod 755"));
    job_store_close(&s);
    ck_assert_int_eq(chmod(folder, 0755), 0);
    if (geteuid() == 0) {
        ck_assert_int_eq(chown(folder, 12345, 12345), 0);
        ck_assert_int_eq(job_store_open(&s, state, "n", "", why), -EPERM);
        ck_assert_ptr_nonnull(strstr(why, "user 12345"));
        job_store_close(&s);
    }
    rmdir(folder);
    ck_assert_int_eq(symlink("/tmp", folder), 0);
    ck_assert_int_lt(job_store_open(&s, state, "n", "", why), 0);
    unlink(folder);
    ck_assert_int_eq(job_store_open(&s, "/nowhere/at/all", "n", "", why), -ENOENT);
    ck_assert_int_eq(job_store_open(&s, state, "n", "nobody-of-this-name", why), -ENOENT);
    remove_state();
}
END_TEST

START_TEST(what_cannot_be_written_leaves_what_was)
{
    struct job_store s;
    make_state();
    ck_assert_int_eq(job_store_open(&s, state, "n", "", why), 0);
    ck_assert_int_eq(put(&s, 5, "old"), 0);
    ck_assert_int_eq(mkdir(path_of("5.new"), 0755), 0); /* in the way of what is written beside */
    ck_assert_int_lt(put(&s, 5, "new"), 0);
    ck_assert_str_eq(see(&s, 0).bytes, "[old]");
    ck_assert_int_eq(rmdir(path_of("5.new")), 0);
    ck_assert_int_eq(put(&s, 5, "new"), 0);
    ck_assert_str_eq(see(&s, 0).bytes, "[new]");
    job_store_close(&s);
    remove_state();
}
END_TEST

struct worker {
    struct job_store *s;
    unsigned number;
};

static void *work(void *arg)
{
    const struct worker *w = arg;
    for (unsigned i = 0; i < 50; i++) {
        char text[32];
        snprintf(text, sizeof text, "%u", w->number);
        SUITE_HOLDS(put(w->s, i % 2 == 0 ? 5 : 5 + w->number, text) == 0);
    }
    return NULL;
}

START_TEST(several_at_a_time)
{
    enum { WORKERS = 3 };
    struct job_store s;
    pthread_t thread[WORKERS];
    struct worker worker[WORKERS];
    make_state();
    ck_assert_int_eq(job_store_open(&s, state, "n", "", why), 0);
    for (unsigned i = 0; i < WORKERS; i++) {
        worker[i] = (struct worker){&s, i + 1};
        ck_assert_int_eq(pthread_create(&thread[i], NULL, work, &worker[i]), 0);
    }
    for (unsigned i = 0; i < WORKERS; i++) {
        pthread_join(thread[i], NULL);
    }
    ck_assert_uint_eq(see(&s, 0).count, 1 + WORKERS);
    job_store_close(&s);
    remove_state();
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(what_is_put_is_there_again),
    SUITE_TEST(what_does_not_count_is_told),
    SUITE_TEST(a_folder_of_others_is_refused),
    SUITE_TEST(what_cannot_be_written_leaves_what_was),
    SUITE_TEST(several_at_a_time),
};
SUITE_MAIN("job_store", tests)
