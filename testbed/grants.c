/* SPDX-License-Identifier: Apache-2.0 */
#include "testbed/grants.h"

#include "jobfile/jobfile.h"
#include "nmu/book.h"
#include "scenario/scenario.h"
#include "seal/job_seal.h"
#include "seal/keyfile.h"
#include "services/builtin.h"
#include "services/loader.h"
#include "testbed/conf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char key_name[] = "operator.key", public_name[] = "operator.key.pub", file_name[] = "jobs.conf";

static int write_plan(const struct seal_key *key, const struct job_plan *plan, FILE *out, char why[static GRANTS_WHY])
{
    uint8_t *bytes, signature[SEAL_SIGNATURE_BYTES];
    size_t size;
    int rc = job_plan_record(plan, &bytes, &size, why);
    if (rc < 0) {
        return rc;
    }
    rc = job_seal_sign(key, CONF_CLUSTER, bytes, size, signature);
    if (rc == 0) {
        jobfile_write(plan, signature, out);
    }
    free(bytes);
    return rc;
}

/* Grants all processes and ports of its own job, or nothing. Anything beyond that is for the operator to grant. */
static int write_job(const struct lab *lab, const struct seal_key *key, cw_job job, const char *name, bool grants,
                     FILE *out, char why[static GRANTS_WHY])
{
    const struct job_ports ports = {.all = true};
    const struct processes who = {.all = true};
    struct job_plan plan;
    job_plan_open(&plan, job, job_plan_name_good(name) ? name : "service");
    int rc = job_plan_add_range(&plan, 0, lab->torus.servers - 1, 0, why);
    rc = rc < 0 || !grants ? rc : job_plan_grant(&plan, job, &ports, &who);
    rc = rc < 0 ? rc : write_plan(key, &plan, out, why);
    job_plan_close(&plan);
    return rc;
}

static int write_service(const struct lab *lab, const struct seal_key *key, const char *file, FILE *out,
                         char why[static GRANTS_WHY])
{
    struct loader_module module;
    int rc = loader_open(file, &module, why);
    if (rc == 0) {
        rc = write_job(lab, key, module.service->job, module.service->name, true, out, why);
        loader_close(&module);
    }
    return rc;
}

/* ---- Of a scenario ----------------------------------------------------------------------------------------------- */

enum { SCENARIO_JOBS = 64, BUILT_IN = 1024 /* lower job numbers are those of built-in services */ };

struct town {
    const struct lab *lab;
    struct job_plan plan[SCENARIO_JOBS];
    unsigned plans;
};

static int add_grant(struct job_plan *plan, cw_job to, bool any_port, cw_port port, bool all, cw_process first,
                     cw_process last)
{
    struct job_ports ports = {.all = any_port, .count = !any_port, .port = any_port ? NULL : &port};
    struct processes who = {.all = all};
    int rc = all ? 0 : processes_add(&who, first, last);
    rc = rc < 0 ? rc : job_plan_grant(plan, to, &ports, &who);
    processes_close(&who);
    return rc < 0 ? rc : 0;
}

/* Begins the plan of a built-in service with the grants that the program was built with. */
static int begin_built_in(struct job_plan *plan)
{
    size_t count;
    const struct book_grant *grant = builtin_grants(&count);
    int rc = 0;
    plan->version = 2;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        const struct book_grant *g = &grant[i];
        if (g->from == plan->id) {
            rc = add_grant(plan, g->to, g->any_port, g->port, g->all_processes, g->processes.first, g->processes.last);
        }
    }
    return rc;
}

/* Finds the plan of the job, or begins one. */
static int plan_of(struct town *t, cw_job job, struct job_plan **out, char why[static GRANTS_WHY])
{
    char name[JOB_RECORD_NAME_BYTES];
    for (unsigned i = 0; i < t->plans; i++) {
        if (t->plan[i].id == job) {
            *out = &t->plan[i];
            return 0;
        }
    }
    if (t->plans == SCENARIO_JOBS) {
        snprintf(why, GRANTS_WHY, "grants of the scenario are about more than %d jobs", SCENARIO_JOBS);
        return -ENOSPC;
    }
    *out = &t->plan[t->plans++];
    snprintf(name, sizeof name, "job-%u", job);
    job_plan_open(*out, job, name);
    int rc = job_plan_add_range(*out, 0, t->lab->torus.servers - 1, 0, why);
    return rc < 0 || job >= BUILT_IN ? rc : begin_built_in(*out);
}

static int add_scenario(struct town *t, const struct scenario *s, char why[static GRANTS_WHY])
{
    struct job_plan *plan;
    int rc = 0;
    for (unsigned i = 0; rc == 0 && i < s->grants; i++) {
        const struct scenario_grant *g = &s->grant[i];
        /* A job that others may send to needs a record, too. */
        rc = g->to >= BUILT_IN ? plan_of(t, g->to, &plan, why) : 0;
        rc = rc < 0 ? rc : plan_of(t, g->from, &plan, why);
        rc = rc < 0 ? rc : add_grant(plan, g->to, g->any_port, g->port, g->all_processes, g->first, g->last);
    }
    return rc;
}

static int write_scenario(const struct lab *lab, const struct seal_key *key, FILE *out, char why[static GRANTS_WHY])
{
    struct town *t = calloc(1, sizeof *t);
    if (t == NULL) {
        return -ENOMEM;
    }
    t->lab = lab;
    int rc = add_scenario(t, lab->plays, why);
    for (unsigned i = 0; i < t->plans; i++) {
        rc = rc < 0 ? rc : write_plan(key, &t->plan[i], out, why);
        job_plan_close(&t->plan[i]);
    }
    free(t);
    return rc;
}

/* ---- All --------------------------------------------------------------------------------------------------------- */

static int write_all(const struct lab *lab, const struct seal_key *key, FILE *out, char why[static GRANTS_WHY])
{
    int rc = 0;
    fprintf(out, "# Made by cwlab for lab %s.\n", lab->name);
    if (lab->plays != NULL) {
        rc = write_scenario(lab, key, out, why);
    }
    for (unsigned i = 0; rc == 0 && i < lab->services && lab->plays == NULL && !lab->no_grants; i++) {
        if (lab_service_is_file(lab->service[i])) { /* built-in services bring their own grants */
            rc = write_service(lab, key, lab->service[i], out, why);
        }
    }
    for (unsigned i = 0; rc == 0 && i < lab->networks; i++) {
        rc = write_job(lab, key, LAB_NETWORK_JOB + i, lab->network[i], !lab->no_grants, out, why);
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
    if (lab->plays != NULL && lab->plays->grants > 0) {
        return true;
    }
    bool files = false; /* built-in services bring their own grants */
    for (unsigned i = 0; i < lab->services; i++) {
        files |= lab_service_is_file(lab->service[i]);
    }
    return lab->networks > 0 || lab->witness[0] != '\0' || (files && lab->plays == NULL && !lab->no_grants);
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
