/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ask.c - `explain` and `audit`: what the NMUs of other servers say. `explain` asks the server where the source lives
 * whether a packet would be let in, because only that server decides it; `audit` asks all servers what they refused.
 */
#include "services/jobs/jobs_internal.h"

#include "base/words.h"
#include "nmu/check.h"
#include "nmu/job_record.h"
#include "services/reply/refuse.h"
#include "services/reply/servers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct jobs_asking {
    struct jobs *jobs;
    struct jobs_asking *next;
    cw_request *request;
    /* explain */
    struct denied_row row;
    cw_server source;
    /* audit */
    bool audit;
    cw_server cursor; /* the next to be asked */
    unsigned flying;
    uint64_t asked, silent, total, overflow;
    int error;
    struct jobs_call {
        struct jobs_asking *asking; /* NULL: free */
        cw_server server;
        uint32_t from;
    } call[JOBS_ASK_SERVERS];
};

static void drop(struct jobs *j, struct jobs_asking *a)
{
    struct jobs_asking **at = &j->askings;
    while (*at != a) {
        at = &(*at)->next;
    }
    *at = a->next;
    j->asking_count--;
    free(a);
}

static struct jobs_asking *begin(struct jobs *j, cw_request *r)
{
    struct jobs_asking *a = j->asking_count < JOBS_ASKING ? calloc(1, sizeof *a) : NULL;
    if (a != NULL) {
        *a = (struct jobs_asking){.jobs = j, .next = j->askings, .request = r};
        j->askings = a;
        j->asking_count++;
    }
    return a;
}

static int call(struct jobs *j, cw_server to, struct jobs_frame *frame, cw_reply_fn done, void *arg)
{
    cw_packet *p = jobs_packet(j, frame, 0, NULL);
    if (p == NULL) {
        return -ENOMEM;
    }
    const cw_call_options options = {CW_CALL_INIT, .timeout = CW_MS(300), .retries = 2};
    cw_to where = jobs_to(j, to);
    int64_t number = cw_call(j->svc, p, &where, &options, done, arg);
    if (number < 0) {
        cw_packet_free(j->svc, p);
        return (int)number;
    }
    return 0;
}

/* Decodes a reply; false: it is not a frame of that kind. */
static bool answer(const struct jobs *j, int status, cw_packet *reply, unsigned kind, struct jobs_frame *out)
{
    size_t size;
    const uint8_t *bytes = status == 0 && reply != NULL ? cw_packet_data(reply, &size) : NULL;
    return bytes != NULL && jobs_decode(bytes, size, j->cluster, out) == JOBS_GOOD && out->kind == kind;
}

static void tell_row(const struct denied_row *row, cw_request *r)
{
    char text[64];
    snprintf(text, sizeof text, "%u:%u", row->source_job, row->source_process);
    cw_request_text(r, "source", text);
    snprintf(text, sizeof text, row->key ? "%u:*:%u" : "%u:%u:%u", row->job, row->key ? row->port : row->process,
             row->port);
    cw_request_text(r, "destination", text);
}

/* ---- Answering --------------------------------------------------------------------------------------------------- */

static const struct nmu *nmu_here(const struct jobs *j)
{
    return j->desk != NULL ? j->desk->nmu(j->desk->node) : NULL;
}

static bool same_refusal(const struct denied_row *a, const struct denied_row *b)
{
    return a->source_job == b->source_job && a->source_process == b->source_process && a->job == b->job &&
           a->port == b->port && a->key == b->key && (a->key || a->process == b->process);
}

void jobs_say(struct jobs *j, uint32_t number, cw_packet *p, const struct jobs_frame *frame)
{
    const struct nmu *nmu = nmu_here(j);
    struct denied_row what = frame->row;
    struct jobs_frame said = {.kind = JOBS_SAID, .server = CW_SERVER_NONE, .row = {.cause = NMU_NO_SPEAKER}};
    cw_packet_free(j->svc, p);
    if (nmu != NULL) {
        const struct nmu_to to = {.job = what.job, .port = what.port, .key = what.key, .process = what.process};
        uint32_t speaker = nmu_speaker_of(nmu, what.source_job, what.source_process);
        struct nmu_pass pass = {.server = CW_SERVER_NONE};
        enum nmu_cause cause = nmu_check(&nmu->tables, speaker, &to, &pass);
        const struct map_job *source = nmu_job(nmu, what.source_job);
        said.row.cause = (uint8_t)cause;
        said.server = cause == NMU_ALLOWED ? pass.server : CW_SERVER_NONE;
        said.version = source != NULL ? source->version : 0;
        uint32_t from = 0;
        for (const struct denied_row *row; (row = denied_next(&nmu->denied, &from)) != NULL;) {
            said.row.times += same_refusal(row, &what) ? row->times : 0;
        }
    }
    cw_packet *reply = jobs_packet(j, &said, 0, NULL);
    if (reply != NULL) {
        cw_reply(j->svc, number, 0, reply);
    }
}

void jobs_give_rows(struct jobs *j, uint32_t number, cw_packet *p, const struct jobs_frame *frame)
{
    const struct nmu *nmu = nmu_here(j);
    size_t room = (cw_mtu(j->svc) - jobs_frame_size(JOBS_ROWS) - 32) / JOBS_ROW_BYTES;
    struct jobs_frame rows = {.kind = JOBS_ROWS};
    uint32_t from = frame->from;
    cw_packet_free(j->svc, p);
    uint8_t *at;
    cw_packet *reply = jobs_packet(j, &rows, room * JOBS_ROW_BYTES, &at);
    if (reply == NULL) {
        return;
    }
    const struct denied_row *row = NULL;
    while (nmu != NULL && rows.count < room && (row = denied_next(&nmu->denied, &from)) != NULL) {
        jobs_row_put(row, at, rows.count++);
    }
    if (nmu != NULL) {
        rows.from = row != NULL ? from : 0;
        rows.all = nmu->denied.total;
        rows.overflow = nmu->denied.overflow;
    }
    jobs_encode(&rows, cw_packet_data(reply, NULL));
    if (cw_packet_resize(reply, jobs_frame_size(JOBS_ROWS) + rows.count * JOBS_ROW_BYTES) < 0) {
        cw_packet_free(j->svc, reply);
        return;
    }
    cw_reply(j->svc, number, 0, reply);
}

/* ---- explain ----------------------------------------------------------------------------------------------------- */

/* Tells, in words, the grant of the source's record that covers the destination's job and port. */
static void tell_entry(const struct jobs *j, const struct jobs_asking *a)
{
    const struct records_item *item = records_find(&j->records, a->row.source_job);
    struct job_record record;
    if (item == NULL ||
        job_record_decode(item->blob->bytes, item->blob->size - JOBS_SIGNATURE_BYTES, &record) != WIRE_OK) {
        return;
    }
    cw_request_int(a->request, "held_version", (int64_t)record.version);
    const uint8_t *at = record.grant_bytes;
    for (unsigned i = 0; i < record.grants; i++) {
        struct job_grant g = job_record_next_grant(&at);
        bool port = g.all_ports;
        for (unsigned k = 0; k < g.ports && !port; k++) {
            port = job_grant_port(&g, k) == a->row.port;
        }
        if (g.job == a->row.job && port) {
            char text[120];
            snprintf(text, sizeof text, "grant %u of %u: job %u, %s, %s", i + 1, record.grants, g.job,
                     g.all_ports ? "all ports" : "that port", g.all_processes ? "all processes" : "some processes");
            cw_request_text(a->request, "entry", text);
            return;
        }
    }
}

static void explained(cw_svc *s, void *state, void *arg, int status, cw_packet *reply, const cw_rx *rx)
{
    (void)s;
    (void)rx;
    struct jobs *j = state;
    struct jobs_asking *a = arg;
    struct jobs_frame said;
    int rc = status;
    if (answer(j, status, reply, JOBS_SAID, &said)) {
        enum nmu_cause cause = (enum nmu_cause)said.row.cause;
        tell_row(&a->row, a->request);
        cw_request_int(a->request, "allowed", cause == NMU_ALLOWED);
        cw_request_text(a->request, "because", cause_text(cause));
        cw_request_text(a->request, "cause", cause_name(cause));
        tell_entry(j, a);
        tell_server_id(j->svc, a->request, "asked", a->source);
        if (cause == NMU_ALLOWED && !a->row.key) {
            tell_server_id(j->svc, a->request, "leads_to", said.server);
        }
        cw_request_int(a->request, "version", (int64_t)said.version);
        cw_request_int(a->request, "refused", (int64_t)said.row.times);
    } else {
        rc = rc == 0 ? -EBADMSG : rc;
        tell_server_id(j->svc, a->request, "asked", a->source);
        cw_request_text(a->request, "error", "the server where the source lives does not answer");
    }
    cw_request_done(a->request, rc);
    drop(j, a);
}

/* Reads n numbers with colons between them, the first a job, the second perhaps "*". False: it is something else. */
static bool read_end(const struct jobs *j, const char *word, unsigned n, uint64_t out[static 3], bool *key)
{
    *key = false;
    for (unsigned i = 0; i < n; i++) {
        size_t length = strcspn(word, ":");
        char part[24];
        if (i == 0) {
            out[0] = jobs_named(j, word, length);
            if (out[0] == 0) {
                return false;
            }
        } else if (i == 1 && n == 3 && length == 1 && word[0] == '*') {
            *key = true;
            out[1] = 0;
        } else {
            if (length >= sizeof part) {
                return false;
            }
            memcpy(part, word, length);
            part[length] = '\0';
            if (words_number(part, 0, i == 2 ? UINT16_MAX : UINT32_MAX, &out[i]) < 0) {
                return false;
            }
        }
        word += length;
        if (*word == (i + 1 < n ? ':' : '\0')) {
            word++;
        } else {
            return false;
        }
    }
    return true;
}

/* Where a process lives, by its job's record. Without one the job is a service, whose processes are the servers. */
static cw_server home_of(const struct jobs *j, cw_job job, cw_process process)
{
    const struct records_item *item = records_find(&j->records, job);
    struct job_record record;
    if (item == NULL ||
        job_record_decode(item->blob->bytes, item->blob->size - JOBS_SIGNATURE_BYTES, &record) != WIRE_OK) {
        return process < j->servers ? process : CW_SERVER_NONE;
    }
    for (unsigned i = 0; i < record.ranges; i++) {
        struct job_range range = job_record_range(&record, i);
        if (process >= range.first && process - range.first < range.count) {
            cw_server s = range.server + (process - range.first);
            return s < j->servers ? s : CW_SERVER_NONE;
        }
    }
    return CW_SERVER_NONE;
}

int jobs_command_explain(struct jobs *j, cw_request *r, int argc, const char *const *argv)
{
    uint64_t from[3], to[3];
    bool key, none;
    if (argc != 2 || !read_end(j, argv[0], 2, from, &none) || !read_end(j, argv[1], 3, to, &key)) {
        return refuse_request(r,
                              "the command is: explain SOURCE:PROCESS JOB:PROCESS:PORT, with jobs by number or name "
                              "and * as the process for keys; not: '%.60s'",
                              argc > 0 ? argv[argc - 1] : "");
    }
    cw_server home = home_of(j, (cw_job)from[0], (cw_process)from[1]);
    if (home == CW_SERVER_NONE) {
        return refuse_with(r, -ENOENT, "the record of the source's job has no such process: '%.60s'", argv[0]);
    }
    struct jobs_asking *a = begin(j, r);
    if (a == NULL) {
        return -EBUSY;
    }
    a->source = home;
    a->row = (struct denied_row){
        .source_job = (cw_job)from[0],
        .source_process = (cw_process)from[1],
        .job = (cw_job)to[0],
        .process = (cw_process)to[1],
        .port = (cw_port)to[2],
        .key = key,
    };
    struct jobs_frame frame = {.kind = JOBS_ASK, .flag = key, .row = a->row};
    int rc = call(j, home, &frame, explained, a);
    if (rc < 0) {
        tell_server_id(j->svc, r, "asked", home);
        cw_request_text(r, "error", "the server where the source lives is not in view");
        drop(j, a);
        return rc;
    }
    return 1;
}

/* ---- audit ------------------------------------------------------------------------------------------------------- */

static void audit_on(struct jobs *j, struct jobs_asking *a);
static void rows_came(cw_svc *s, void *state, void *arg, int status, cw_packet *reply, const cw_rx *rx);

static int ask_rows(struct jobs *j, struct jobs_call *c)
{
    struct jobs_frame frame = {.kind = JOBS_AUDIT, .from = c->from};
    int rc = call(j, c->server, &frame, rows_came, c);
    c->asking->flying += rc == 0;
    return rc;
}

static void rows_came(cw_svc *s, void *state, void *arg, int status, cw_packet *reply, const cw_rx *rx)
{
    (void)s;
    (void)rx;
    struct jobs *j = state;
    struct jobs_call *c = arg;
    struct jobs_asking *a = c->asking;
    struct jobs_frame frame;
    a->flying--;
    if (status == -ECANCELED) {
        a->error = -ECANCELED;
    }
    if (!answer(j, status, reply, JOBS_ROWS, &frame)) {
        a->silent++;
        c->asking = NULL;
        audit_on(j, a);
        return;
    }
    for (size_t i = 0; i < frame.count; i++) {
        struct denied_row row = jobs_row_at(&frame, i);
        tell_server_id(j->svc, a->request, "server", c->server);
        tell_row(&row, a->request);
        cw_request_text(a->request, "because", cause_text((enum nmu_cause)row.cause));
        cw_request_int(a->request, "times", (int64_t)row.times);
        cw_request_row(a->request);
    }
    if (frame.from > c->from) { /* there are more */
        c->from = frame.from;
        if (ask_rows(j, c) == 0) {
            return;
        }
        a->silent++;
    } else {
        a->total += frame.all;
        a->overflow += frame.overflow;
    }
    c->asking = NULL;
    audit_on(j, a);
}

static void audit_on(struct jobs *j, struct jobs_asking *a)
{
    for (unsigned i = 0; i < JOBS_ASK_SERVERS; i++) {
        struct jobs_call *c = &a->call[i];
        while (c->asking == NULL && a->cursor < j->servers && a->error == 0) {
            cw_server s = a->cursor++;
            if (s != j->self && !cw_reachable(j->svc, cw_server_coord(j->svc, s))) {
                continue;
            }
            a->asked++;
            *c = (struct jobs_call){.asking = a, .server = s};
            if (ask_rows(j, c) < 0) {
                a->silent++;
                c->asking = NULL;
            }
        }
    }
    if (a->flying > 0) {
        return;
    }
    cw_request_int(a->request, "servers", (int64_t)a->asked);
    cw_request_int(a->request, "silent", (int64_t)a->silent);
    cw_request_int(a->request, "refused", (int64_t)a->total);
    cw_request_int(a->request, "in_no_row", (int64_t)a->overflow);
    cw_request_done(a->request, a->error);
    drop(j, a);
}

int jobs_command_audit(struct jobs *j, cw_request *r, int argc, const char *const *argv)
{
    if (argc != 0) {
        return refuse_request(r, "audit takes no arguments: '%.60s'", argv[0]);
    }
    struct jobs_asking *a = begin(j, r);
    if (a == NULL) {
        return -EBUSY;
    }
    a->audit = true;
    audit_on(j, a);
    return 1;
}

void jobs_ask_close(struct jobs *j)
{
    while (j->askings != NULL) { /* those that had calls out have ended with their calls; these had none */
        cw_request_done(j->askings->request, -ECANCELED);
        drop(j, j->askings);
    }
}
