/* SPDX-License-Identifier: Apache-2.0 */
/* test_job_words.c - the words of `cwctl job`: what they name, and what they are not. */
#include "ctl/jobs/job_words.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static char why[JOB_WORDS_WHY];

static const char *or_none(const char *text)
{
    return text != NULL ? text : "-";
}

START_TEST(targets)
{
    static const struct {
        const char *word, *job, *processes, *ports; /* job NULL: refused */
    } rows[] = {
        {"kv", "kv", "-", "-"},         {"kv:0-3,7", "kv", "0-3,7", "-"}, {"kv:all:get,put", "kv", "all", "get,put"},
        {"5001:1:2", "5001", "1", "2"}, {"", NULL, NULL, NULL},           {":", NULL, NULL, NULL},
        {"kv:", NULL, NULL, NULL},      {"kv::1", NULL, NULL, NULL},      {"kv:1:", NULL, NULL, NULL},
        {"kv:1:2:3", NULL, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct job_words w;
        int rc = job_words_target(rows[i].word, &w, why);
        ck_assert_msg(rc == (rows[i].job != NULL ? 0 : -EINVAL), "%s", rows[i].word);
        if (rc == 0) {
            ck_assert_str_eq(w.job, rows[i].job);
            ck_assert_str_eq(or_none(w.processes), rows[i].processes);
            ck_assert_str_eq(or_none(w.ports), rows[i].ports);
        } else {
            ck_assert_ptr_nonnull(strstr(why, "expected JOB"));
        }
    }
    char *long_word = malloc(JOB_WORDS_TEXT + 1);
    struct job_words w;
    memset(long_word, 'a', JOB_WORDS_TEXT);
    long_word[JOB_WORDS_TEXT] = '\0';
    ck_assert_int_eq(job_words_target(long_word, &w, why), -EINVAL);
    free(long_word);
}
END_TEST

START_TEST(who_sends)
{
    struct job_words w;
    cw_process process;
    ck_assert_int_eq(job_words_process("web:4294967295", &w, &process, why), 0);
    ck_assert_uint_eq(process, UINT32_MAX);
    static const char *const bad[] = {"web", "web:", "web:x", "web:1:2", "web:4294967296", "web:*", "web:1-2"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_msg(job_words_process(bad[i], &w, &process, why) == -EINVAL, "%s", bad[i]);
        ck_assert_ptr_nonnull(strstr(why, "JOB:PROCESS"));
    }
}
END_TEST

START_TEST(doors)
{
    struct job_words w;
    cw_process process;
    bool key;
    ck_assert_int_eq(job_words_door("kv:7:get", &w, &key, &process, why), 0);
    ck_assert(!key && process == 7);
    ck_assert_str_eq(w.ports, "get");
    ck_assert_int_eq(job_words_door("kv:*:9", &w, &key, &process, why), 0);
    ck_assert(key && process == 0);
    static const char *const bad[] = {"kv", "kv:7", "kv:x:1", "kv:7:", "kv:*", "kv:all:1", "kv:7:1:2"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_msg(job_words_door(bad[i], &w, &key, &process, why) == -EINVAL, "%s", bad[i]);
        ck_assert_ptr_nonnull(strstr(why, "JOB:PROCESS:PORT"));
    }
}
END_TEST

START_TEST(numbers)
{
    ck_assert_uint_eq(job_words_number("5001"), 5001);
    ck_assert_uint_eq(job_words_number("0"), 0);
    ck_assert_uint_eq(job_words_number("kv"), 0);
    ck_assert_uint_eq(job_words_number("4294967296"), 0);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(targets),
    SUITE_TEST(who_sends),
    SUITE_TEST(doors),
    SUITE_TEST(numbers),
};
SUITE_MAIN("job_words", tests)
