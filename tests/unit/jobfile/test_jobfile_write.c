/* SPDX-License-Identifier: Apache-2.0 */
/* test_jobfile_write.c - what is written is read as the same record. */
#include "jobfile/jobfile.h"
#include "suite.h"

#include <string.h>

static char text[4096];

static void tell(void *context, const char *line)
{
    (void)context;
    ck_abort_msg("%s\n%s", line, text);
}

static const struct jobfile_options options = {.names = NULL};

static void write_one(const struct job_plan *plan, const uint8_t *signature)
{
    memset(text, 0, sizeof text);
    FILE *out = fmemopen(text, sizeof text, "w");
    jobfile_write(plan, signature, out);
    fclose(out);
}

START_TEST(there_and_back)
{
    static const char *const files[] = {
        "job a { id = 1 }",
        "job a { id = 1; version = 9; generation = 4; destroyed = true }",
        "job a.b-c_D { id = 4294967295; processes = \"0-3,7,9-20\" }",
        "job a { id = 1; processes { 0-3 = 9; 4 = 1; 100 = 40 } ports { get = 0; put = 65535 } }",
        "job a { id = 1; grant 1 { processes = all; ports = all } grant 2 { processes = \"0-3,9\"; ports = \"1-3,9\" "
        "}\n"
        "grant 2 { processes = all; ports = 4 } grant 3 { processes = \"0-4294967295\"; ports = 0 } }",
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct jobfile one, other;
        uint8_t *a, *b, signature[JOB_RECORD_SIGNATURE_BYTES];
        size_t size, length;
        char why[JOB_PLAN_WHY];
        memset(signature, (int)i + 1, sizeof signature);
        ck_assert_int_eq(jobfile_parse(&one, "f", files[i], strlen(files[i]), &options, tell, NULL), 0);
        write_one(&one.entry[0].plan, i % 2 == 0 ? signature : NULL);
        ck_assert_int_eq(jobfile_parse(&other, "f", text, strlen(text), &options, tell, NULL), 0);
        ck_assert_int_eq(job_plan_record(&one.entry[0].plan, &a, &size, why), 0);
        ck_assert_int_eq(job_plan_record(&other.entry[0].plan, &b, &length, why), 0);
        ck_assert(size == length && memcmp(a, b, size) == 0);
        ck_assert(other.entry[0].sealed == (i % 2 == 0));
        ck_assert(i % 2 != 0 || memcmp(other.entry[0].signature, signature, sizeof signature) == 0);
        free(a);
        free(b);
        jobfile_close(&one);
        jobfile_close(&other);
    }
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(there_and_back)};
SUITE_MAIN("jobfile_write", tests)
