/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_jobfile.c - any bytes are job files or are refused with a word; a job that is good survives being written and
 * read, byte for byte.
 */
#include "jobfile/jobfile.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct jobfile_options options = {.dims = {3, 3, 3}};
static const struct jobfile_options any = {.names = NULL};

static void count(void *context, const char *text)
{
    if (text[0] == '\0') {
        abort();
    }
    ++*(unsigned *)context;
}

static uint8_t *record_of(const struct job_plan *plan, size_t *size)
{
    char why[JOB_PLAN_WHY];
    uint8_t *bytes = NULL;
    if (job_plan_record(plan, &bytes, size, why) != 0) {
        abort();
    }
    return bytes;
}

static void again(const struct jobfile_entry *e)
{
    char *text = NULL;
    size_t length = 0, size, other;
    unsigned mistakes = 0;
    struct jobfile read;
    struct job_record record;
    struct job_plan plan;
    FILE *out = open_memstream(&text, &length);
    if (out == NULL) {
        abort();
    }
    jobfile_write(&e->plan, e->sealed ? e->signature : NULL, out);
    fclose(out);
    if (jobfile_parse(&read, "f", text, length, &any, count, &mistakes) != 0 || read.count != 1 ||
        read.entry[0].sealed != e->sealed) {
        abort();
    }
    uint8_t *a = record_of(&e->plan, &size), *b = record_of(&read.entry[0].plan, &other);
    if (size != other || memcmp(a, b, size) != 0 || job_record_decode(a, size, &record) != WIRE_OK ||
        job_plan_from(&plan, &record) != 0) {
        abort();
    }
    free(b);
    b = record_of(&plan, &other);
    if (size != other || memcmp(a, b, size) != 0) {
        abort();
    }
    job_plan_close(&plan);
    jobfile_close(&read);
    free(a);
    free(b);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned mistakes = 0;
    struct jobfile f;
    int rc = jobfile_parse(&f, "f", (const char *)data, size, &options, count, &mistakes);
    if ((rc == 0) != (mistakes == 0)) {
        abort();
    }
    for (unsigned i = 0; rc == 0 && i < f.count; i++) {
        again(&f.entry[i]);
    }
    if (rc == 0) {
        jobfile_close(&f);
    }
    return 0;
}
