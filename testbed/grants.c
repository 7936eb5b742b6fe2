/* SPDX-License-Identifier: Apache-2.0 */
#include "testbed/grants.h"

#include "jobfile/jobfile.h"
#include "seal/job_seal.h"
#include "seal/keyfile.h"
#include "services/loader.h"
#include "testbed/conf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char key_name[] = "operator.key", public_name[] = "operator.key.pub", file_name[] = "jobs.conf";

/* To its own job, whole: what it needs beyond that is for the operator to say. */
static int write_job(const struct lab *lab, const struct seal_key *key, const cw_service *service, FILE *out,
                     char why[static GRANTS_WHY])
{
    const struct job_ports ports = {.all = true};
    const struct processes who = {.all = true};
    struct job_plan plan;
    uint8_t *bytes = NULL, signature[SEAL_SIGNATURE_BYTES];
    size_t size;
    job_plan_open(&plan, service->job, job_plan_name_good(service->name) ? service->name : "service");
    int rc = job_plan_add_range(&plan, 0, lab->torus.servers - 1, 0, why);
    rc = rc < 0 ? rc : job_plan_grant(&plan, service->job, &ports, &who);
    rc = rc < 0 ? rc : job_plan_record(&plan, &bytes, &size, why);
    rc = rc < 0 ? rc : job_seal_sign(key, CONF_CLUSTER, bytes, size, signature);
    if (rc == 0) {
        jobfile_write(&plan, signature, out);
    }
    free(bytes);
    job_plan_close(&plan);
    return rc;
}

static int write_service(const struct lab *lab, const struct seal_key *key, const char *file, FILE *out,
                         char why[static GRANTS_WHY])
{
    struct loader_module module;
    int rc = loader_open(file, &module, why);
    if (rc == 0) {
        rc = write_job(lab, key, module.service, out, why);
        loader_close(&module);
    }
    return rc;
}

static int write_all(const struct lab *lab, const struct seal_key *key, FILE *out, char why[static GRANTS_WHY])
{
    int rc = 0;
    fprintf(out, "# Made by cwlab for lab %s.\n", lab->name);
    for (unsigned i = 0; rc == 0 && i < lab->services && !lab->no_grants; i++) {
        rc = write_service(lab, key, lab->service[i], out, why);
    }
    return rc == 0 && lab->witness[0] != '\0' ? write_service(lab, key, lab->witness, out, why) : rc;
}

int grants_make(const struct lab *lab, char why[static GRANTS_WHY])
{
    char path[LAB_PATH];
    uint8_t raw[SEAL_PUBLIC_BYTES];
    struct seal_key *key = NULL;
    FILE *out = NULL;
    why[0] = '\0';
    int rc = keyfile_make(lab_path(lab, NULL, key_name, path), raw, why);
    rc = rc < 0 ? rc : keyfile_open(&key, path, why);
    if (rc == 0 && (out = fopen(lab_path(lab, NULL, file_name, path), "we")) == NULL) {
        rc = -errno;
    }
    rc = rc < 0 ? rc : write_all(lab, key, out, why);
    if (out != NULL && fclose(out) != 0 && rc == 0) {
        rc = -EIO;
    }
    seal_key_close(key);
    if (rc < 0 && why[0] == '\0') {
        snprintf(why, GRANTS_WHY, "%s: %s", path, strerror(-rc));
    }
    return rc;
}

static bool has_jobs(const struct lab *lab)
{
    return lab->witness[0] != '\0' || (lab->services > 0 && !lab->no_grants);
}

void grants_write(const struct lab *lab, FILE *out)
{
    char path[LAB_PATH];
    fprintf(out, "operator_key = \"%s\"\n", lab_path(lab, NULL, public_name, path));
    if (has_jobs(lab)) {
        fprintf(out, "job_file = \"%s\"\n", lab_path(lab, NULL, file_name, path));
    }
}

void grants_lend_key(const struct lab *lab)
{
    char path[LAB_PATH];
    struct stat st;
    if (stat(lab_path(lab, NULL, key_name, path), &st) == 0) {
        (void)setenv("CUBEWAY_OPERATOR_KEY", path, 0);
    }
}
