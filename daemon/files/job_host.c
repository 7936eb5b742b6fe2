/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/files/job_host.h"

#include "daemon/files/job_store.h"
#include "daemon/machine/log.h"
#include "jobfile/jobfile.h"
#include "seal/job_seal.h"
#include "seal/keyfile.h"
#include "services/builtin.h"
#include "services/jobs/host.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static_assert(sizeof JOBS_SIGN_PREFIX == sizeof JOB_SEAL_PREFIX, "services/jobs and seal/ agree on what is signed");

/* A job of the job file, as a record. */
struct local {
    cw_job job;
    size_t size;    /* of the record */
    uint8_t *bytes; /* with the signature behind it, when there is a key */
};

struct job_host {
    struct log *log;
    uint32_t cluster;
    struct seal_public *key; /* NULL: nothing is signed */
    struct job_store store;
    bool stored;
    unsigned locals;
    struct local *local;
    struct jobs_host host;
    struct node_object object[2];
};

/* ---- The job file ------------------------------------------------------------------------------------------------ */

static cw_job job_named(void *context, const char *name)
{
    const cw_service *service = builtin_service(name);
    (void)context;
    return service != NULL ? service->job : 0;
}

static bool port_named(void *context, cw_job job, const char *name, cw_port *out)
{
    (void)context;
    (void)job;
    (void)name;
    (void)out;
    return false;
}

static const struct jobfile_names names = {.job = job_named, .port = port_named};

struct told {
    config_mistake_fn *mistake;
    void *context;
    unsigned count;
};

static void tell(void *context, const char *text)
{
    struct told *t = context;
    t->count++;
    t->mistake(t->context, text);
}

static int take_local(struct job_host *d, const struct jobfile_entry *e, const char *file, struct told *told)
{
    char why[JOB_PLAN_WHY], text[CONFIG_PATH + JOB_PLAN_WHY];
    uint8_t *bytes, *more;
    size_t size;
    int rc = job_plan_record(&e->plan, &bytes, &size, why);
    if (rc < 0) {
        return rc; /* jobfile_parse() has accepted it, so only memory can be missing */
    }
    if (d->key != NULL && !e->sealed) {
        snprintf(why, sizeof why, "it is not signed, and there is an operator_key; cwctl job sign signs the file");
        rc = -EINVAL;
    } else if (d->key == NULL && e->sealed) {
        snprintf(why, sizeof why, "it is signed, and nobody can tell by whom: expected operator_key");
        rc = -EINVAL;
    } else if (d->key != NULL && job_seal_verify(d->key, d->cluster, bytes, size, e->signature) < 0) {
        snprintf(why, sizeof why,
                 "the signature is not of operator_key, for cluster %u, of what stands here: sign it again (cwctl job "
                 "sign)",
                 d->cluster);
        rc = -EINVAL;
    }
    more = rc == 0 ? realloc(bytes, size + JOB_RECORD_SIGNATURE_BYTES) : NULL;
    if (more == NULL) {
        free(bytes);
        if (rc < 0) {
            snprintf(text, sizeof text, "%s:%u: job %s: %s", file, e->line, e->plan.name, why);
            tell(told, text);
        }
        return rc < 0 ? rc : -ENOMEM;
    }
    memcpy(more + size, e->signature, JOB_RECORD_SIGNATURE_BYTES);
    d->local[d->locals++] = (struct local){.job = e->plan.id, .size = size, .bytes = more};
    return 0;
}

/* keyed: the operator's key is known, or there is none; otherwise nobody can tell whether signatures are right. */
static int read_file(struct job_host *d, const struct daemon_config *config, bool keyed, struct told *told)
{
    const struct jobfile_options options = {.dims = config->dims, .names = &names};
    struct jobfile file;
    if (config->job_file[0] == '\0') {
        return 0;
    }
    int rc = jobfile_load(&file, config->job_file, &options, tell, told);
    if (rc < 0) {
        return rc;
    }
    d->local = calloc(file.count, sizeof *d->local);
    rc = d->local == NULL ? -ENOMEM : 0;
    for (unsigned i = 0; keyed && d->local != NULL && i < file.count; i++) {
        int one = take_local(d, &file.entry[i], config->job_file, told);
        rc = rc < 0 ? rc : one;
    }
    jobfile_close(&file);
    return rc;
}

static int read_key(struct job_host *d, const struct daemon_config *config, struct told *told)
{
    char why[SEAL_WHY], text[SEAL_WHY + 32];
    uint8_t raw[SEAL_PUBLIC_BYTES];
    if (config->operator_key[0] == '\0') {
        return 0;
    }
    int rc = keyfile_public(config->operator_key, raw, why);
    if (rc < 0) {
        snprintf(text, sizeof text, "operator_key: %s", why);
        tell(told, text);
        return rc;
    }
    return seal_public_open(&d->key, raw);
}

static void drop_content(struct job_host *d)
{
    for (unsigned i = 0; i < d->locals; i++) {
        free(d->local[i].bytes);
    }
    free(d->local);
    seal_public_close(d->key);
}

static int read_all(struct job_host *d, const struct daemon_config *config, struct told *told)
{
    d->cluster = config->cluster;
    int rc = read_key(d, config, told);
    int rc_file = read_file(d, config, rc == 0, told);
    rc = rc < 0 ? rc : rc_file;
    if (rc == -ENOMEM && told->count == 0) {
        tell(told, "out of memory");
    }
    return rc;
}

int job_host_check(const struct daemon_config *config, config_mistake_fn *mistake, void *context)
{
    struct job_host d = {.key = NULL};
    struct told told = {mistake, context, 0};
    int rc = read_all(&d, config, &told);
    drop_content(&d);
    return rc < 0 ? -EINVAL : 0;
}

/* ---- For the service jobs ---------------------------------------------------------------------------------------- */

static int verify(void *context, const uint8_t *record, size_t size,
                  const uint8_t signature[static JOBS_SIGNATURE_BYTES])
{
    const struct job_host *d = context;
    int rc = job_seal_verify(d->key, d->cluster, record, size, signature);
    return rc == 0 ? 1 : rc == -EBADMSG ? 0 : rc;
}

static int store(void *context, cw_job job, const uint8_t *signed_record, size_t size)
{
    struct job_host *d = context;
    return job_store_put(&d->store, job, signed_record, size);
}

static void tell_log(void *context, const char *why)
{
    const struct job_host *d = context;
    LOG(d->log, CW_LOG_ERROR, "a job record that was kept cannot be had", {"why", why});
}

static int load(void *context, void (*each)(void *arg, const uint8_t *signed_record, size_t size), void *arg)
{
    struct job_host *d = context;
    for (unsigned i = 0; i < d->locals; i++) {
        each(arg, d->local[i].bytes, d->local[i].size + JOB_RECORD_SIGNATURE_BYTES);
    }
    return d->stored ? job_store_each(&d->store, each, arg, tell_log, d) : 0;
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

static void keep_first(void *context, const char *text)
{
    char *why = context;
    if (why[0] == '\0') {
        snprintf(why, JOB_HOST_WHY, "%s", text);
    }
}

int job_host_open(struct job_host **out, const struct daemon_config *config, struct log *log,
                  char why[static JOB_HOST_WHY])
{
    struct told told = {keep_first, why, 0};
    struct job_host *d = calloc(1, sizeof *d);
    why[0] = '\0';
    if (d == NULL) {
        snprintf(why, JOB_HOST_WHY, "out of memory");
        return -ENOMEM;
    }
    d->log = log;
    int rc = read_all(d, config, &told);
    if (rc == 0 && d->key != NULL && config->place != CONFIG_WHOLE) {
        rc = job_store_open(&d->store, config->state_dir, config->name, config->user, why);
        d->stored = rc == 0;
    }
    if (rc < 0) {
        job_host_close(d);
        return rc;
    }
    if (d->key != NULL) {
        d->host = (struct jobs_host){
            .size = sizeof d->host,
            .context = d,
            .cluster = d->cluster,
            .verify = verify,
            .store = d->stored ? store : NULL,
            .load = load,
        };
        d->object[0] = (struct node_object){JOBS_HOST_NAME, JOBS_HOST_VERSION, &d->host};
    }
    *out = d;
    return 0;
}

void job_host_close(struct job_host *d)
{
    if (d != NULL) {
        if (d->stored) {
            job_store_close(&d->store);
        }
        drop_content(d);
        free(d);
    }
}

const struct node_object *job_host_objects(const struct job_host *d)
{
    return d->object;
}

const uint8_t *job_host_record(void *host, cw_job job, size_t *size)
{
    const struct job_host *d = host;
    for (unsigned i = 0; d->key == NULL && i < d->locals; i++) {
        if (d->local[i].job == job) {
            *size = d->local[i].size;
            return d->local[i].bytes;
        }
    }
    return NULL;
}
