/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_job.c - looks at jobs, and does what an operator can do without a daemon: draw keys, and sign job files where the
 * key is.
 */
#include "ctl/jobs/job_world.h"
#include "ctl/jobs/jobs.h"

#include "base/quantity.h"
#include "seal/job_seal.h"
#include "seal/keyfile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- list -------------------------------------------------------------------------------------------------------- */

int run_job_list(struct call *call)
{
    static const struct table_column columns[] = {
        {"job", "JOB", TABLE_TEXT},
        {"name", "NAME", TABLE_TEXT},
        {"version", "VERSION", TABLE_COUNT},
        {"generation", "GENERATION", TABLE_COUNT},
        {"is", "IS", TABLE_STATE},
        {"processes", "PROCESSES", TABLE_COUNT},
        {"ports", "PORTS", TABLE_COUNT},
        {"grants", "GRANTS", TABLE_COUNT},
        {"bytes", "RECORD", TABLE_BYTES},
        {"on_disk", "KEPT", TABLE_STATE},
        {NULL, NULL, TABLE_TEXT},
    };
    struct job_world w;
    if (job_world_open(&w, call) >= 0) {
        for (size_t i = 0; i < w.jobs.count; i++) {
            struct message *row = w.jobs.row[i];
            if (call->arguments->json) {
                message_print(row, call->out);
                continue;
            }
            char number[16];
            snprintf(number, sizeof number, "%" PRId64,
                     message_get_integer(row, "job", 0)); /* no thousands in a name */
            message_text(row, "job", number);
            message_text(row, "on_disk", message_get_flag(row, "kept") ? "yes" : "no");
            message_text(row, "is", message_get_flag(row, "destroyed") ? "destroyed" : "alive");
        }
        if (!call->arguments->json && w.jobs.count > 0) {
            table_print(w.jobs.row, w.jobs.count, columns, call->style, call->out);
        } else if (!call->arguments->json) {
            fprintf(call->out, "no signed records: built-in services may what they need, others what a job file of "
                               "their server says\n");
        }
    }
    job_world_close(&w);
    return w.code;
}

/* ---- show -------------------------------------------------------------------------------------------------------- */

static void show_plan(const struct job_world *w, const struct job_plan *p, const uint8_t *signature)
{
    FILE *out = w->call->out;
    for (unsigned i = 0; i < p->rights; i++) {
        char name[JOB_RECORD_NAME_BYTES];
        bool first = i == 0 || p->right[i - 1].job != p->right[i].job;
        job_world_name(w, p->right[i].job, name);
        if (first && job_plan_name_good(name)) {
            fprintf(out, "# job %" PRIu32 " is %s\n", p->right[i].job, name);
        } else if (first && !job_world_knows(w, p->right[i].job)) {
            fprintf(out, "# job %" PRIu32 " is known to nobody\n", p->right[i].job);
        }
    }
    jobfile_write(p, signature, out);
}

int run_job_show(struct call *call)
{
    struct job_world w;
    struct job_plan plan;
    uint8_t signature[JOB_RECORD_SIGNATURE_BYTES];
    cw_job job = job_world_open(&w, call) >= 0 ? job_world_job(&w, call->arguments->word[2]) : 0;
    int rc = job != 0 ? job_world_fetch(&w, job, &plan, signature) : -1;
    if (rc == 0) {
        (void)job_world_fail(&w, EXIT_NO, "no signed record of job %s is held; %s", call->arguments->word[2],
                             job_world_runs(&w, job) ? "it is a service of this server, which may what is built in, or "
                                                       "what its server's job file says"
                                                     : "cwctl job list says of which");
    } else if (rc > 0 && call->arguments->json) {
        char number[16], why[CLIENT_WHY];
        const char *const words[] = {"show", number, NULL};
        struct rows rows = {NULL, 0, 0};
        snprintf(number, sizeof number, "%" PRIu32, job);
        if (job_world_ask(&w, words, call_patience(call), &rows, why) < 0 && w.code == EXIT_FINE) {
            (void)job_world_fail(&w, EXIT_NO, "%s", why);
        }
        rows_type(&rows, "destroyed kept", "");
        for (size_t i = 0; i < rows.count; i++) {
            int64_t to = message_get_integer(rows.row[i], "to", 0);
            if (to > 0 && to <= UINT32_MAX && job_world_knows(&w, (cw_job)to)) {
                char name[JOB_RECORD_NAME_BYTES];
                job_world_name(&w, (cw_job)to, name);
                message_text(rows.row[i], "to_name", name);
            }
            message_print(rows.row[i], call->out);
        }
        rows_clear(&rows);
    } else if (rc > 0) {
        show_plan(&w, &plan, signature);
    }
    if (rc > 0) {
        job_plan_close(&plan);
    }
    job_world_close(&w);
    return w.code;
}

/* ---- keygen and sign, without a daemon --------------------------------------------------------------------------- */

int run_job_keygen(struct call *call)
{
    char why[SEAL_WHY], hex[SEAL_HEX];
    uint8_t raw[SEAL_PUBLIC_BYTES];
    const char *file = call->arguments->word[2];
    if (keyfile_make(file, raw, why) < 0) {
        fprintf(call->errors, "cwctl: %s\n", why);
        return EXIT_NO;
    }
    seal_public_hex(raw, hex);
    if (call->arguments->json) {
        struct message *row = message_open();
        message_text(row, "file", file);
        message_text(row, "operator_key", hex);
        message_print(row, call->out);
        message_close(row);
        return EXIT_FINE;
    }
    fprintf(call->out,
            "%s is the private key: it never has to leave this machine\n"
            "%s.pub is the public one; in cubewayd.conf of every server:\n"
            "operator_key = %s;\n",
            file, file, hex);
    return EXIT_FINE;
}

static void tell(void *context, const char *text)
{
    const struct call *call = context;
    fprintf(call->errors, "cwctl: %s\n", text);
}

struct seal_key *job_key(const struct call *call, int *code)
{
    char why[SEAL_WHY];
    struct seal_key *key = NULL;
    const struct arguments_given *given = call_given(call, "key");
    const char *file = given != NULL ? given->text : getenv("CUBEWAY_OPERATOR_KEY");
    if (file == NULL || file[0] == '\0') {
        fprintf(call->errors,
                "cwctl: --key FILE is needed, or CUBEWAY_OPERATOR_KEY: the operator's private key (cwctl job "
                "keygen makes one)\n");
        *code = EXIT_USAGE;
    } else if (keyfile_open(&key, file, why) < 0) {
        fprintf(call->errors, "cwctl: %s\n", why);
        *code = EXIT_NO;
    }
    return key;
}

int job_sign(const struct seal_key *key, uint32_t cluster, const struct job_plan *plan, uint8_t **bytes, size_t *size,
             char why[static JOB_PLAN_WHY])
{
    int rc = job_plan_record(plan, bytes, size, why);
    if (rc < 0) {
        return rc;
    }
    uint8_t *whole = realloc(*bytes, *size + SEAL_SIGNATURE_BYTES);
    if (whole == NULL || job_seal_sign(key, cluster, whole, *size, whole + *size) < 0) {
        free(whole != NULL ? whole : *bytes);
        snprintf(why, JOB_PLAN_WHY, "out of memory");
        return -1;
    }
    *bytes = whole;
    *size += SEAL_SIGNATURE_BYTES;
    return 0;
}

/* The job as a job file; as JSON one object, which has the job file in it. */
static void write_signed(const struct call *call, const struct job_plan *plan, const uint8_t *signature)
{
    char *text = NULL;
    size_t length;
    FILE *out = call->arguments->json ? open_memstream(&text, &length) : call->out;
    if (out == NULL) {
        fprintf(call->errors, "cwctl: out of memory\n");
        return;
    }
    jobfile_write(plan, signature, out);
    if (out != call->out) {
        (void)fclose(out);
        struct message *row = message_open();
        message_text(row, "signed", text);
        message_print(row, call->out);
        message_close(row);
        free(text);
    }
}

static int sign_all(const struct call *call, const struct seal_key *key, uint32_t cluster, const struct jobfile *file)
{
    for (unsigned i = 0; i < file->count; i++) {
        const struct job_plan *plan = &file->entry[i].plan;
        char why[JOB_PLAN_WHY];
        uint8_t *bytes;
        size_t size;
        if (job_sign(key, cluster, plan, &bytes, &size, why) < 0) {
            fprintf(call->errors, "cwctl: %s\n", why);
            return EXIT_NO;
        }
        write_signed(call, plan, bytes + size - SEAL_SIGNATURE_BYTES);
        free(bytes);
    }
    return EXIT_FINE;
}

int run_job_sign(struct call *call)
{
    struct jobfile_options options = {.names = NULL};
    struct jobfile file;
    int code = EXIT_FINE;
    const struct arguments_given *cluster = call_given(call, "cluster");
    if (cluster == NULL || cluster->number > UINT32_MAX) {
        fprintf(call->errors, "cwctl: --cluster N is needed: what is signed is good for one cluster (cubewayd.conf)\n");
        return EXIT_USAGE;
    }
    const struct arguments_given *dims = call_given(call, "dims");
    if (dims != NULL && quantity_dims(dims->text, strlen(dims->text), &options.dims) < 0) {
        fprintf(call->errors, "cwctl: --dims '%.40s': expected the torus as XxYxZ, such as 4x4x4\n", dims->text);
        return EXIT_USAGE;
    }
    struct seal_key *key = job_key(call, &code);
    if (key == NULL) {
        return code;
    }
    if (jobfile_load(&file, call->arguments->word[2], &options, tell, call) < 0) {
        code = EXIT_USAGE;
    } else {
        code = sign_all(call, key, (uint32_t)cluster->number, &file);
        jobfile_close(&file);
    }
    seal_key_close(key);
    return code;
}
