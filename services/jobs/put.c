/* SPDX-License-Identifier: Apache-2.0 */
/*
 * put.c - `put`: a change, from the operator's bytes until nobody who can send does so by an older record (jobs rule
 * 4). Acknowledgements come by themselves. Silent servers are given the record again, and every few milliseconds who is
 * in reach is looked at again, until the change is complete.
 */
#include "services/jobs/jobs_internal.h"

#include "base/words.h"
#include "nmu/job_record.h"
#include "services/reply/refuse.h"
#include "services/reply/servers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static const cw_span look_span = CW_MS(5);

struct jobs_put {
    struct jobs *jobs;
    struct jobs_put *next;
    cw_request *request; /* NULL: answered */
    uint8_t *bytes;      /* of the signed record, until jobs_take() has judged it */
    size_t size;
    uint64_t wait, timeout_ms, rows;
    enum put_base {
        BASE_ANY,
        BASE_NONE,
        BASE_DIGEST
    } base;               /* what the record was made from: anything, no record, .. */
    uint64_t base_digest; /* .. or the one of this digest */
    struct change change; /* once it is open */
    bool open;
    cw_time deadline;
    cw_timer *timer;
};

uint64_t jobs_put_ticket(const struct jobs_put *c)
{
    return c->change.ticket;
}

bool jobs_put_fits(const struct jobs *j, const struct jobs_put *c)
{
    const struct records_item *item = records_find(&j->records, c->change.mark.job);
    if (c->base == BASE_ANY) {
        return true;
    }
    return item == NULL ? c->base == BASE_NONE : c->base == BASE_DIGEST && item->mark.digest == c->base_digest;
}

/*
 * A server that is in no view may not speak for the others: that they are out of its reach says nothing about what they
 * may send.
 */
static bool is_complete(const struct jobs *j, const struct jobs_put *c)
{
    return change_complete(&c->change) && (j->desk == NULL || j->desk->serving(j->desk->node));
}

/* ---- Its end ----------------------------------------------------------------------------------------------------- */

static void drop(struct jobs *j, struct jobs_put *c)
{
    struct jobs_put **at = &j->puts;
    while (*at != c) {
        at = &(*at)->next;
    }
    *at = c->next;
    j->put_count--;
    cw_timer_stop(j->svc, c->timer);
    if (c->open) {
        change_close(&c->change);
    }
    free(c->bytes);
    free(c);
}

static void tell(const struct jobs *j, const struct jobs_put *c, bool complete)
{
    unsigned of[CHANGE_FENCED + 1] = {0}, unkept = 0, closed = 0;
    for (cw_server s = 0; s < c->change.servers; s++) {
        const struct change_server *server = &c->change.server[s];
        bool holds = server->state == CHANGE_ACKED || server->state == CHANGE_SUPERSEDED;
        of[server->state]++;
        unkept += holds && !server->kept;
        closed += holds && server->closed;
        bool simply = server->state == CHANGE_ACKED && !server->closed;
        if (server->state == CHANGE_ABSENT || (simply && c->rows == 0)) {
            continue;
        }
        tell_server_id(j->svc, c->request, "server", s);
        cw_request_text(c->request, "state", change_state_name((enum change_state)server->state));
        cw_request_int(c->request, "after_ns", server->after.ns);
        if (holds) {
            cw_request_int(c->request, "kept", server->kept);
            cw_request_int(c->request, "closed", server->closed);
        }
        cw_request_row(c->request);
    }
    cw_request_int(c->request, "job", c->change.mark.job);
    cw_request_int(c->request, "version", (int64_t)c->change.mark.version);
    cw_request_int(c->request, "generation", (int64_t)c->change.mark.generation);
    cw_request_int(c->request, "destroyed", c->change.mark.destroyed);
    cw_request_int(c->request, "complete", complete);
    cw_request_int(c->request, "took_ns", cw_time_since(cw_now(j->svc), c->change.put).ns);
    cw_request_int(c->request, "acked", of[CHANGE_ACKED]);
    cw_request_int(c->request, "superseded", of[CHANGE_SUPERSEDED]);
    cw_request_int(c->request, "fenced", of[CHANGE_FENCED]);
    cw_request_int(c->request, "missing", of[CHANGE_WAITING]);
    cw_request_int(c->request, "absent", of[CHANGE_ABSENT]);
    cw_request_int(c->request, "unkept", unkept);
    cw_request_int(c->request, "closed", closed);
}

static void finish(struct jobs *j, struct jobs_put *c, int rc)
{
    if (c->open) {
        tell(j, c, c->wait != 0 && is_complete(j, c));
    }
    cw_request_done(c->request, rc);
    drop(j, c);
}

/* ---- On the way -------------------------------------------------------------------------------------------------- */

static bool in_reach(const struct jobs *j, cw_server s)
{
    if (s == j->self) {
        return true;
    }
    return j->desk != NULL ? j->desk->in_reach(j->desk->node, s) : cw_reachable(j->svc, cw_server_coord(j->svc, s));
}

static void look(struct jobs *j, struct jobs_put *c)
{
    for (cw_server s = 0; s < j->servers; s++) {
        change_reach(&c->change, s, in_reach(j, s), cw_now(j->svc));
    }
}

static void ask_the_silent(struct jobs *j, struct jobs_put *c)
{
    const struct records_item *item = records_find(&j->records, c->change.mark.job);
    cw_server from = 0;
    for (unsigned i = 0; i < JOBS_ASK_BURST && item != NULL; i++) {
        cw_server s = change_ask(&c->change, &from, cw_now(j->svc));
        if (s == CW_SERVER_NONE) {
            return;
        }
        if (s != j->self && cw_reachable(j->svc, cw_server_coord(j->svc, s))) {
            jobs_give(j, s, item, j->self, c->change.ticket);
        }
    }
}

static void look_again(cw_svc *s, void *state, void *arg)
{
    struct jobs *j = state;
    struct jobs_put *c = arg;
    c->timer = NULL;
    look(j, c);
    if (is_complete(j, c)) {
        finish(j, c, 0);
        return;
    }
    if (cw_time_due(c->deadline, cw_now(s))) {
        finish(j, c, -ETIMEDOUT);
        return;
    }
    ask_the_silent(j, c);
    c->timer = cw_timer_start(s, look_span, look_again, c);
    if (c->timer == NULL) {
        finish(j, c, -EAGAIN);
    }
}

/* False: the acknowledgement is for another put. The put may have ended when this returns. */
static bool heard(struct jobs *j, struct jobs_put *c, cw_server from, uint64_t ticket, const struct jobs_mark *mark,
                  unsigned word)
{
    if (!c->open || !change_ack(&c->change, from, ticket, mark, word, cw_now(j->svc))) {
        return false;
    }
    if (change_complete(&c->change)) {
        look(j, c); /* who is in reach may have changed */
    }
    if (is_complete(j, c)) {
        finish(j, c, 0);
    }
    return true;
}

void jobs_put_ack(struct jobs *j, cw_server from, uint64_t ticket, const struct jobs_mark *mark, unsigned word)
{
    struct jobs_put *c = j->puts;
    while (c != NULL && !heard(j, c, from, ticket, mark, word)) {
        c = c->next;
    }
}

void jobs_put_held(struct jobs *j, const struct jobs_mark *mark, unsigned word)
{
    for (struct jobs_put *c = j->puts, *next; c != NULL; c = next) {
        next = c->next;
        (void)heard(j, c, j->self, c->change.ticket, mark, word);
    }
}

void jobs_put_doubt(struct jobs *j, cw_server s)
{
    for (struct jobs_put *c = j->puts; c != NULL; c = c->next) {
        if (c->open && s < j->servers && s != j->self) {
            change_doubt(&c->change, s, cw_now(j->svc));
        }
    }
}

/* ---- Its beginning ----------------------------------------------------------------------------------------------- */

static const char first_came[] =
    "another change of the job came first: look at the record as it is now, and change that";

static void refuse(struct jobs *j, struct jobs_put *c, int rc)
{
    const char *why = "the record cannot be taken in";
    switch (rc) {
    case -EBADMSG:
        why = "the operator of this cluster did not sign these bytes: they were signed with another key or for another "
              "cluster, or were changed since";
        break;
    case -ESTALE:
        why = "a later record of the job is held here (\"show\" prints it): change that one";
        break;
    case -EEXIST:
        why = first_came;
        break;
    case -ENOTSUP:
        why = "this server takes no signed jobs: no operator's key is configured";
        break;
    case -ENOSPC:
        why = "this server already holds as many jobs, or bytes of records, as it may";
        break;
    case -EBUSY:
        why = "too many records are being checked here: try again";
        break;
    default:
        break;
    }
    cw_request_text(c->request, "error", why);
    finish(j, c, rc);
}

void jobs_put_taken(struct jobs *j, struct jobs_put *c, int rc)
{
    free(c->bytes);
    c->bytes = NULL;
    struct jobs_mark mark = c->change.mark;
    uint64_t ticket = c->change.ticket;
    if (rc == 0) {
        rc = change_open(&c->change, j->servers, &mark, ticket, c->change.put);
    }
    if (rc < 0) {
        refuse(j, c, rc);
        return;
    }
    c->open = true;
    look(j, c);
    if (c->wait == 0) {
        finish(j, c, 0);
        return;
    }
    c->timer = cw_timer_start(j->svc, look_span, look_again, c);
    if (c->timer == NULL) {
        finish(j, c, -EAGAIN);
    }
}

/* Refuses a change that an operator cannot mean, although records_judge() might take it: 0 or -errno. */
static int judge(const struct jobs *j, const struct jobs_put *c)
{
    cw_request *r = c->request;
    const struct jobs_mark *mark = &c->change.mark;
    const struct records_item *item = records_find(&j->records, mark->job);
    bool fork;
    if (item != NULL && jobs_mark_compare(mark, &item->mark, &fork) == 0) {
        return 0;
    }
    if (item == NULL) {
        return jobs_put_fits(j, c) ? 0 : refuse_with(r, -EEXIST, "%s", first_came);
    }
    unsigned long long version = item->mark.version, generation = item->mark.generation;
    if (fork) {
        return refuse_with(r, -EEXIST, "version %llu is held here with other contents: sign version %llu or higher",
                           version, version + 1);
    }
    if (mark->version <= item->mark.version) {
        return refuse_with(r, -ESTALE, "version %llu of generation %llu is held here: sign version %llu or higher",
                           version, generation, version + 1);
    }
    if (mark->generation > item->mark.generation && !item->mark.destroyed) {
        return refuse_with(r, -ESTALE, "generation %llu still exists: destroy it before the next one begins",
                           generation);
    }
    if (item->mark.destroyed && mark->generation <= item->mark.generation) {
        return refuse_with(r, -ESTALE,
                           "generation %llu was destroyed: a new job of this number must be of generation %llu",
                           generation, generation + 1);
    }
    if (mark->generation < item->mark.generation) {
        return refuse_with(r, -ESTALE, "generation %llu is held here: sign a record of that generation", generation);
    }
    return jobs_put_fits(j, c) ? 0 : refuse_with(r, -EEXIST, "%s", first_came);
}

/* A record that no server's NMU has room for would be held everywhere, and its job could do nothing anywhere. */
static int judge_size(const struct jobs *j, const struct jobs_put *c)
{
    struct job_record record;
    if (j->desk == NULL || job_record_decode(c->bytes, c->size - JOBS_SIGNATURE_BYTES, &record) != WIRE_OK) {
        return 0;
    }
    const struct nmu *nmu = j->desk->nmu(j->desk->node);
    if (nmu_could_hold(nmu, &record)) {
        return 0;
    }
    return refuse_with(c->request, -ENOSPC,
                       "the record is larger than a server's tables: they hold %u pairs of remote job and port, %u "
                       "spans of processes, %u jobs",
                       nmu->tables.privilege.limit, nmu->tables.privilege.sets.limit, nmu->tables.map.jobs);
}

/* "none", or a digest as `show` prints it. */
static bool read_base(struct jobs_put *c, const char *text)
{
    if (strcmp(text, "none") == 0) {
        c->base = BASE_NONE;
        return true;
    }
    if (strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16) {
        return false;
    }
    c->base = BASE_DIGEST;
    c->base_digest = strtoull(text, NULL, 16);
    return true;
}

/* 0 or -errno. */
static int read_options(struct jobs_put *c, int argc, const char *const *argv)
{
    const struct words_option options[] = {
        {"wait", 0, 1, &c->wait},
        {"rows", 0, 1, &c->rows},
        {"timeout", 1, UINT64_C(3600) * 1000, &c->timeout_ms},
    };
    for (int i = 0; i < argc; i++) {
        const char *base = words_value(argv[i], "base");
        if (base == NULL && words_options(1, argv + i, options, sizeof options / sizeof *options) == 0) {
            return refuse_option(c->request, argv[i], options, sizeof options / sizeof *options);
        }
        if (base != NULL && !read_base(c, base)) {
            return refuse_request(c->request,
                                  "base is the digest of the record that this one was made from, as \"show\" prints "
                                  "it, or none; not: '%.60s'",
                                  base);
        }
    }
    return 0;
}

static int read_put(struct jobs *j, struct jobs_put *c, int argc, const char *const *argv)
{
    int words = jobs_stage_join(j, argc, argv, &c->bytes, &c->size);
    if (words == -EMSGSIZE) {
        return refuse_with(c->request, words, "a signed record has at most %d bytes", RECORDS_RECORD_MAX);
    }
    if (words < 0) {
        return words == -EINVAL ? refuse_request(c->request, "a signed record in base64 is expected, not: '%.60s'",
                                                 argc > 0 ? argv[0] : "")
                                : words;
    }
    int rc = read_options(c, argc - words, argv + words);
    if (rc < 0) {
        return rc;
    }
    struct jobs_mark *mark = &c->change.mark;
    if (c->size <= JOBS_SIGNATURE_BYTES || !jobs_mark_of(c->bytes, c->size - JOBS_SIGNATURE_BYTES, mark)) {
        return refuse_request(c->request, "a job record followed by a signature of 64 bytes is expected, not: '%.60s'",
                              argc > 0 ? argv[0] : "");
    }
    if (mark->job == JOBS_JOB) {
        return refuse_request(c->request, "job %d, 'jobs', carries these changes: what it may do is built in",
                              JOBS_JOB);
    }
    rc = judge_size(j, c);
    return rc < 0 ? rc : judge(j, c);
}

int jobs_command_put(struct jobs *j, cw_request *r, int argc, const char *const *argv)
{
    if (j->put_count == JOBS_CHANGES) {
        return -EBUSY;
    }
    struct jobs_put *c = calloc(1, sizeof *c);
    if (c == NULL) {
        return -ENOMEM;
    }
    *c = (struct jobs_put){.jobs = j, .request = r, .wait = 1, .timeout_ms = 10000};
    int rc = read_put(j, c, argc, argv);
    if (rc < 0) {
        free(c->bytes);
        free(c);
        return rc;
    }
    do {
        c->change.ticket = cw_random(j->svc);
    } while (c->change.ticket == 0);
    c->change.put = cw_now(j->svc);
    c->deadline = cw_time_add(c->change.put, CW_MS((int64_t)c->timeout_ms));
    c->next = j->puts;
    j->puts = c;
    j->put_count++;
    const struct jobs_taking taking = {
        .bytes = c->bytes,
        .size = c->size,
        .from = CW_SERVER_NONE,
        .origin = CW_SERVER_NONE,
        .put = c,
    };
    rc = jobs_take(j, &taking);
    if (rc == 0) { /* held here already: whether the others hold it is asked all the same */
        uint64_t ticket = c->change.ticket;
        struct records_item *item = records_find(&j->records, c->change.mark.job);
        jobs_put_taken(j, c, 0);
        jobs_owe(j, item, j->self, ticket);
    } else if (rc < 0) {
        refuse(j, c, rc);
    }
    return 1;
}

void jobs_put_close(struct jobs *j)
{
    while (j->puts != NULL) {
        cw_request_done(j->puts->request, -ECANCELED);
        drop(j, j->puts);
    }
}
