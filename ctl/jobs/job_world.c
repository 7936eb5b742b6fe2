/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/jobs/job_world.h"

#include "base/base64.h"
#include "base/nearest.h"
#include "base/quantity.h"
#include "ctl/jobs/job_words.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 30000 /* bytes of a record in one request; a multiple of 3 */, RECORD_MOST = 1 << 20 };
static const cw_span spare = CW_SEC(5); /* by which an answer may be late */

int job_world_fail(struct job_world *w, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    call_vcomplain(w->call, format, args);
    va_end(args);
    w->code = code;
    return -1;
}

/* ---- Asking ------------------------------------------------------------------------------------------------------ */

static int ask(struct job_world *w, struct request_draft *request, cw_span patience, struct rows *rows,
               char why[static CLIENT_WHY])
{
    int rc = client_ask(w->call->client, request, patience, rows_add, rows, why);
    if (rc < 0 && client_failed(w->call->client)) {
        (void)job_world_fail(w, rc == -ETIME ? EXIT_TIMEOUT : EXIT_NOBODY, "%s", why);
    }
    return rc;
}

int job_world_ask(struct job_world *w, const char *const *words, cw_span patience, struct rows *rows,
                  char why[static CLIENT_WHY])
{
    struct request_draft *request = request_draft_open("service", w->call->server);
    request_draft_word(request, "jobs");
    for (; *words != NULL; words++) {
        request_draft_word(request, *words);
    }
    int rc = ask(w, request, patience, rows, why);
    request_draft_close(request);
    return rc;
}

static int ask_plain(struct job_world *w, const char *command, struct rows *rows)
{
    char why[CLIENT_WHY];
    struct request_draft *request = request_draft_open(command, w->call->server);
    int rc = ask(w, request, call_patience(w->call), rows, why);
    request_draft_close(request);
    if (rc < 0 && !client_failed(w->call->client)) {
        return job_world_fail(w, EXIT_NO, "%s", why);
    }
    return rc;
}

static int read_status(struct job_world *w)
{
    struct rows rows = {NULL, 0, 0};
    int rc = ask_plain(w, "status", &rows);
    const char *torus = rc >= 0 && rows.count > 0 ? message_get_text(rows.row[0], "torus", "") : "";
    if (rc >= 0 && quantity_dims(torus, strlen(torus), &w->dims) < 0) {
        rc = job_world_fail(w, EXIT_NO, "the server has no place in the torus yet; cwctl status says more");
    }
    if (rc >= 0) {
        w->cluster = (uint32_t)message_get_integer(rows.row[0], "cluster", 0);
        w->servers = (uint32_t)w->dims.x * w->dims.y * w->dims.z;
    }
    rows_clear(&rows);
    return rc;
}

int job_world_open(struct job_world *w, const struct call *call)
{
    static const char *const list[] = {"list", NULL};
    char why[CLIENT_WHY];
    *w = (struct job_world){.call = call, .code = EXIT_FINE};
    int rc = read_status(w);
    rc = rc < 0 ? rc : ask_plain(w, "services", &w->services);
    if (rc < 0) {
        return rc;
    }
    rc = job_world_ask(w, list, call_patience(call), &w->jobs, why);
    rows_type(&w->jobs, "destroyed kept", "");
    if (rc < 0 && !client_failed(call->client)) {
        (void)job_world_fail(w, EXIT_NO, "%s (the service jobs)", why);
    }
    return rc;
}

void job_world_close(struct job_world *w)
{
    rows_clear(&w->jobs);
    rows_clear(&w->services);
    job_plan_close(&w->seen);
}

/* ---- Names ------------------------------------------------------------------------------------------------------- */

static cw_job number_of(const struct message *row)
{
    int64_t number = message_get_integer(row, "job", 0);
    return number > 0 && number <= UINT32_MAX ? (cw_job)number : 0;
}

/* Finds a job by name: that of a living job, then of a service, then of a job that was destroyed. 0: none. */
static cw_job named(const struct job_world *w, const char *name)
{
    cw_job dead = 0;
    for (size_t i = 0; i < w->jobs.count; i++) {
        const struct message *row = w->jobs.row[i];
        if (strcmp(message_get_text(row, "name", ""), name) == 0) {
            if (!message_get_flag(row, "destroyed")) {
                return number_of(row);
            }
            dead = number_of(row);
        }
    }
    for (size_t i = 0; i < w->services.count; i++) {
        if (strcmp(message_get_text(w->services.row[i], "service", ""), name) == 0) {
            return number_of(w->services.row[i]);
        }
    }
    return dead;
}

cw_job job_world_find(const struct job_world *w, const char *text)
{
    cw_job job = job_words_number(text);
    return job != 0 ? job : named(w, text);
}

static const char *name_nth(const void *context, size_t i)
{
    const struct job_world *w = context;
    return i < w->jobs.count ? message_get_text(w->jobs.row[i], "name", "")
                             : message_get_text(w->services.row[i - w->jobs.count], "service", "");
}

const char *job_world_nearest(const struct job_world *w, const char *name)
{
    return nearest_name(name, strlen(name), name_nth, w, w->jobs.count + w->services.count);
}

cw_job job_world_job(struct job_world *w, const char *text)
{
    cw_job job = job_world_find(w, text);
    const char *near = job == 0 ? job_world_nearest(w, text) : NULL;
    if (near != NULL) {
        (void)job_world_fail(w, EXIT_USAGE, "'%.60s': no job has this name, and no service here; did you mean %s?",
                             text, near);
    } else if (job == 0) {
        (void)job_world_fail(
            w, EXIT_USAGE,
            "'%.60s': no job has this name, and no service here; cwctl job list and cwctl services say "
            "who there is, and a number will do",
            text);
    }
    return job;
}

void job_world_name(const struct job_world *w, cw_job job, char out[static JOB_RECORD_NAME_BYTES])
{
    snprintf(out, JOB_RECORD_NAME_BYTES, "%" PRIu32, job);
    for (size_t i = 0; i < w->services.count; i++) {
        if (number_of(w->services.row[i]) == job) {
            snprintf(out, JOB_RECORD_NAME_BYTES, "%s", message_get_text(w->services.row[i], "service", ""));
        }
    }
    for (size_t i = 0; i < w->jobs.count; i++) {
        if (number_of(w->jobs.row[i]) == job) {
            snprintf(out, JOB_RECORD_NAME_BYTES, "%s", message_get_text(w->jobs.row[i], "name", ""));
        }
    }
}

bool job_world_runs(const struct job_world *w, cw_job job)
{
    for (size_t i = 0; i < w->services.count; i++) {
        if (number_of(w->services.row[i]) == job) {
            return true;
        }
    }
    return false;
}

static const struct message *signed_row(const struct job_world *w, cw_job job)
{
    for (size_t i = 0; i < w->jobs.count; i++) {
        if (number_of(w->jobs.row[i]) == job) {
            return w->jobs.row[i];
        }
    }
    return NULL;
}

bool job_world_signed(const struct job_world *w, cw_job job)
{
    return signed_row(w, job) != NULL;
}

bool job_world_destroyed(const struct job_world *w, cw_job job)
{
    const struct message *row = signed_row(w, job);
    return row != NULL && message_get_flag(row, "destroyed");
}

bool job_world_knows(const struct job_world *w, cw_job job)
{
    return job_world_signed(w, job) || job_world_runs(w, job);
}

static int see(struct job_world *w, cw_job job)
{
    if (w->seen.id == job) {
        return 1;
    }
    struct job_plan plan;
    int rc = job_world_fetch(w, job, &plan, NULL);
    if (rc == 1) {
        job_plan_close(&w->seen);
        w->seen = plan;
    }
    return rc;
}

static bool port_named(void *world, cw_job job, const char *name, cw_port *out)
{
    struct job_world *w = world;
    const struct job_port *port = see(w, job) == 1 ? job_plan_port_named(&w->seen, name) : NULL;
    if (port != NULL) {
        *out = port->port;
    }
    return port != NULL;
}

static cw_job job_named(void *world, const char *name)
{
    return named(world, name);
}

struct jobfile_names job_world_names(struct job_world *w)
{
    return (struct jobfile_names){.context = w, .job = job_named, .port = port_named};
}

struct door {
    struct job_world *w;
    cw_job job;
};

static bool find_port(void *context, const char *name, cw_port *out)
{
    const struct door *d = context;
    return port_named(d->w, d->job, name, out);
}

int job_world_ports(struct job_world *w, cw_job job, const char *text, struct job_ports *out)
{
    struct door door = {w, job};
    const struct job_port_names names = {.context = &door, .find = find_port};
    char why[JOB_PORTS_WHY];
    int rc = job_ports_read(out, text, &names, why);
    if (rc < 0 && w->code == EXIT_FINE) {
        char name[JOB_RECORD_NAME_BYTES];
        job_world_name(w, job, name);
        return job_world_fail(w, EXIT_USAGE, "ports of job %s: %s", name, why);
    }
    return rc;
}

/* ---- Records ----------------------------------------------------------------------------------------------------- */

/* Joins the pieces in the rows' fields `record`. Gives the number of bytes, to be freed; < 0: it is no record. */
static int64_t join(const struct rows *rows, uint8_t **bytes)
{
    size_t used = 0;
    *bytes = malloc(RECORD_MOST);
    for (size_t i = 0; *bytes != NULL && i < rows->count; i++) {
        const char *piece = message_get_text(rows->row[i], "record", NULL);
        int got = piece != NULL ? base64_decode(piece, *bytes + used, RECORD_MOST - used) : 0;
        if (got < 0) {
            return got;
        }
        used += (size_t)got;
    }
    return *bytes == NULL ? -ENOMEM : (int64_t)used;
}

static int read_record(struct job_world *w, const struct rows *rows, struct job_plan *out, struct job_held *held)
{
    struct job_record record;
    int64_t size = join(rows, &held->bytes);
    if (size <= JOB_RECORD_SIGNATURE_BYTES ||
        job_record_decode(held->bytes, (size_t)size - JOB_RECORD_SIGNATURE_BYTES, &record) != WIRE_OK) {
        return job_world_fail(w, EXIT_NO, "the server gave a record that is none");
    }
    if (job_plan_from(out, &record) < 0) {
        return job_world_fail(w, EXIT_NO, "out of memory");
    }
    held->size = (size_t)size;
    snprintf(held->digest, sizeof held->digest, "%s", message_get_text(rows->row[0], "digest", ""));
    return 1;
}

void job_held_close(struct job_held *held)
{
    free(held->bytes);
    *held = (struct job_held){.bytes = NULL};
}

int job_world_fetch(struct job_world *w, cw_job job, struct job_plan *out, uint8_t *signature)
{
    struct job_held held;
    int rc = job_world_hold(w, job, out, &held);
    if (rc > 0 && signature != NULL) {
        memcpy(signature, held.bytes + held.size - JOB_RECORD_SIGNATURE_BYTES, JOB_RECORD_SIGNATURE_BYTES);
    }
    job_held_close(&held);
    return rc;
}

int job_world_hold(struct job_world *w, cw_job job, struct job_plan *out, struct job_held *held)
{
    char number[16], why[CLIENT_WHY];
    *held = (struct job_held){.bytes = NULL, .digest = "none"};
    const char *const words[] = {"show", number, "raw=1", NULL};
    struct rows rows = {NULL, 0, 0};
    snprintf(number, sizeof number, "%" PRIu32, job);
    int rc = job_world_ask(w, words, call_patience(w->call), &rows, why);
    if (rc >= 0) {
        rc = read_record(w, &rows, out, held);
    } else if (rc == -ENOENT && !client_failed(w->call->client)) {
        rc = 0;
    } else if (!client_failed(w->call->client)) {
        (void)job_world_fail(w, EXIT_NO, "%s", why);
    }
    rows_clear(&rows);
    return rc;
}

/* Sends all of the record but its last piece. */
static int put_beginning(struct job_world *w, const uint8_t *bytes, size_t size, size_t *at, char *text,
                         char why[static CLIENT_WHY])
{
    int rc = 0;
    for (*at = 0; rc >= 0 && size - *at > PIECE; *at += PIECE) {
        char offset[24];
        const char *const words[] = {"more", offset, text, NULL};
        struct rows rows = {NULL, 0, 0};
        snprintf(offset, sizeof offset, "%zu", *at);
        base64_encode(bytes + *at, PIECE, text);
        rc = job_world_ask(w, words, call_patience(w->call), &rows, why);
        rows_clear(&rows);
    }
    return rc;
}

int job_world_put(struct job_world *w, const struct job_putting *what, struct rows *rows, char why[static CLIENT_WHY])
{
    enum { BASE = 5 };
    cw_span patience = call_patience(w->call);
    char timeout[32], base[JOB_DIGEST + 8], *text = malloc(base64_length(PIECE) + 1);
    const char *words[] = {
        "put", text, what->wait ? "wait=1" : "wait=0", timeout, "rows=1", what->base[0] != '\0' ? base : NULL, NULL};
    size_t at = 0;
    if (text == NULL) {
        snprintf(why, CLIENT_WHY, "out of memory");
        return -ENOMEM;
    }
    int64_t ms = cw_span_ms(patience);
    snprintf(timeout, sizeof timeout, "timeout=%" PRId64, ms > 0 ? ms : 1);
    snprintf(base, sizeof base, "base=%.*s", JOB_DIGEST, what->base);
    int rc = put_beginning(w, what->bytes, what->size, &at, text, why);
    if (rc >= 0) {
        base64_encode(what->bytes + at, what->size - at, text);
        rc = job_world_ask(w, words, cw_span_add(patience, spare), rows, why);
        if (rc == -EINVAL && words[BASE] != NULL) { /* a server of an older version knows no base */
            words[BASE] = NULL;
            rows_clear(rows);
            rc = job_world_ask(w, words, cw_span_add(patience, spare), rows, why);
        }
    }
    free(text);
    return rc;
}
