/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_job_host.c - keys and job files of a configuration: what is taken or refused, and what the service `jobs` is
 * given.
 */
#include "daemon/files/job_host.h"
#include "jobfile/jobfile.h"
#include "seal/job_seal.h"
#include "seal/keyfile.h"
#include "services/jobs/host.h"
#include "suite.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static char folder[64], key_path[96], pub_path[112], file_path[96], told[4096];
static struct daemon_config config;

static void begin(void)
{
    strcpy(folder, "/tmp/cubeway-jobs-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(key_path, sizeof key_path, "%s/k", folder);
    snprintf(pub_path, sizeof pub_path, "%s.pub", key_path);
    snprintf(file_path, sizeof file_path, "%s/jobs.conf", folder);
    config = config_default();
    config.cluster = 7;
    config.dims = (cw_dims){3, 3, 3};
    config.place = CONFIG_STATIC;
    snprintf(config.name, sizeof config.name, "n");
    snprintf(config.state_dir, sizeof config.state_dir, "%s", folder);
    told[0] = '\0';
}

static void end(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static void tell(void *context, const char *text)
{
    (void)context;
    snprintf(told + strlen(told), sizeof told - strlen(told), "%s\n", text);
}

static void with_key(void)
{
    char why[SEAL_WHY];
    uint8_t raw[SEAL_PUBLIC_BYTES];
    ck_assert_int_eq(keyfile_make(key_path, raw, why), 0);
    snprintf(config.operator_key, sizeof config.operator_key, "%s", pub_path);
}

/* The file; signed for that cluster, when it is not 0. */
static void with_file(const char *text, uint32_t cluster)
{
    static const struct jobfile_options options = {.dims = {3, 3, 3}};
    snprintf(config.job_file, sizeof config.job_file, "%s", file_path);
    FILE *out = fopen(file_path, "w");
    if (cluster == 0) {
        fputs(text, out);
        fclose(out);
        return;
    }
    struct jobfile file;
    struct seal_key *key;
    char why[SEAL_WHY];
    ck_assert_int_eq(jobfile_parse(&file, "f", text, strlen(text), &options, tell, NULL), 0);
    ck_assert_int_eq(keyfile_open(&key, key_path, why), 0);
    for (unsigned i = 0; i < file.count; i++) {
        uint8_t *bytes, signature[SEAL_SIGNATURE_BYTES];
        size_t size;
        ck_assert_int_eq(job_plan_record(&file.entry[i].plan, &bytes, &size, why), 0);
        ck_assert_int_eq(job_seal_sign(key, cluster, bytes, size, signature), 0);
        jobfile_write(&file.entry[i].plan, signature, out);
        free(bytes);
    }
    fclose(out);
    seal_key_close(key);
    jobfile_close(&file);
}

static struct job_host *open_good(void)
{
    char why[JOB_HOST_WHY];
    struct job_host *d = NULL;
    ck_assert_msg(job_host_check(&config, tell, NULL) == 0, "%s", told);
    ck_assert_msg(job_host_open(&d, &config, NULL, why) == 0, "%s", why);
    return d;
}

static void refused(const char *said)
{
    char why[JOB_HOST_WHY];
    struct job_host *d = NULL;
    told[0] = '\0';
    ck_assert_int_eq(job_host_check(&config, tell, NULL), -EINVAL);
    ck_assert_msg(strstr(told, said) != NULL, "%s", told);
    ck_assert_int_lt(job_host_open(&d, &config, NULL, why), 0);
    ck_assert_msg(strstr(why, said) != NULL, "%s", why);
}

static void count(void *arg, const uint8_t *bytes, size_t size)
{
    struct job_record record;
    ck_assert_uint_gt(size, JOB_RECORD_SIGNATURE_BYTES);
    ck_assert_int_eq(job_record_decode(bytes, size - JOB_RECORD_SIGNATURE_BYTES, &record), WIRE_OK);
    *(uint64_t *)arg = *(uint64_t *)arg * 100 + record.version;
}

START_TEST(without_a_key_the_file_counts_as_it_is)
{
    size_t size;
    struct job_record record;
    begin();
    struct job_host *d = open_good();
    ck_assert_ptr_null(job_host_objects(d)[0].name);
    ck_assert_ptr_null(job_host_record(d, 5001, &size));
    job_host_close(d);
    with_file(
        "job a { id = 5001; processes = 0-26; grant a { processes = all; ports = 1 } grant ping { processes = all; "
        "ports = 1 } }",
        0);
    d = open_good();
    ck_assert_ptr_null(job_host_objects(d)[0].name);
    const uint8_t *bytes = job_host_record(d, 5001, &size);
    ck_assert_ptr_nonnull(bytes);
    ck_assert_int_eq(job_record_decode(bytes, size, &record), WIRE_OK);
    ck_assert_uint_eq(record.grants, 2);
    ck_assert_ptr_null(job_host_record(d, 5002, &size));
    job_host_close(d);
    end();
}
END_TEST

START_TEST(with_a_key_records_are_signed)
{
    size_t size;
    uint64_t versions = 0;
    begin();
    with_key();
    with_file("job a { id = 5001; version = 3 }", 7);
    struct job_host *d = open_good();
    const struct node_object *o = job_host_objects(d);
    ck_assert_str_eq(o->name, JOBS_HOST_NAME);
    ck_assert_uint_eq(o->version, JOBS_HOST_VERSION);
    ck_assert_ptr_null(o[1].name);
    ck_assert_ptr_null(job_host_record(d, 5001, &size)); /* the service has it, when it is good */
    const struct jobs_host *host = o->object;
    ck_assert_uint_eq(host->cluster, 7);
    ck_assert_int_eq(host->load(host->context, count, &versions), 0);
    ck_assert_uint_eq(versions, 3);
    struct job_plan plan;
    struct seal_key *key;
    uint8_t *bytes, signature[SEAL_SIGNATURE_BYTES];
    char why[SEAL_WHY];
    job_plan_open(&plan, 5001, "a");
    plan.version = 4;
    ck_assert_int_eq(job_plan_record(&plan, &bytes, &size, why), 0);
    ck_assert_int_eq(keyfile_open(&key, key_path, why), 0);
    ck_assert_int_eq(job_seal_sign(key, 8, bytes, size, signature), 0);
    ck_assert_int_eq(host->verify(host->context, bytes, size, signature), 0); /* of another cluster */
    ck_assert_int_eq(job_seal_sign(key, 7, bytes, size, signature), 0);
    ck_assert_int_eq(host->verify(host->context, bytes, size, signature), 1);
    bytes = realloc(bytes, size + sizeof signature);
    memcpy(bytes + size, signature, sizeof signature);
    ck_assert_int_eq(host->store(host->context, 5001, bytes, size + sizeof signature), 0);
    versions = 0;
    ck_assert_int_eq(host->load(host->context, count, &versions), 0);
    ck_assert_uint_eq(versions, 304);
    job_host_close(d);
    config.place = CONFIG_WHOLE; /* keeps nothing */
    d = open_good();
    host = job_host_objects(d)->object;
    ck_assert(host->store == NULL);
    job_host_close(d);
    job_plan_close(&plan);
    seal_key_close(key);
    free(bytes);
    end();
}
END_TEST

START_TEST(what_is_wrong_is_told)
{
    begin();
    snprintf(config.operator_key, sizeof config.operator_key, "no-such-file");
    refused("operator_key: 'no-such-file': expected 64 hex digits");
    with_key();
    with_file("job a { id = 5001 }", 0);
    refused("job a: it is not signed, and there is an operator_key; cwctl job sign signs the file");
    with_file("job a { id = 5001 }", 8);
    refused("job a: the signature is not of operator_key, for cluster 7, of what stands here");
    with_file("job a { id = 5001; colour = 1 }", 0);
    refused("jobs.conf:1: job a: colour: no such key of a job");
    with_file("job a { id = 5001 }", 7);
    config.operator_key[0] = '\0';
    refused("job a: it is signed, and nobody can tell by whom: expected operator_key");
    unlink(file_path);
    refused("jobs.conf: No such file");
    end();
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(without_a_key_the_file_counts_as_it_is),
    SUITE_TEST(with_a_key_records_are_signed),
    SUITE_TEST(what_is_wrong_is_told),
};
SUITE_MAIN("job_host", tests)
