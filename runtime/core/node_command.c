/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_command.c - commands of operators: a service answers at once or later, in named, typed fields, and exactly once.
 */
#include "core/node_internal.h"

#include "base/text.h"
#include "base/utf8.h"

#include <errno.h>
#include <string.h>

enum { SENTENCE = NODE_COMMAND_WORDS + 120 }; /* bytes of one that names a command */

/* A command of whose answer nothing has come for so long is named; it may be one that takes long by right. */
static const cw_span silent = CW_SEC(10);
/* When the service closes, a command that has just been taken was under way; one that is older was forgotten. */
static const cw_span forgotten = CW_SEC(1);

static struct cw_svc *service_named(const struct node *n, const char *name)
{
    uint64_t all = n->services;
    for (struct cw_svc *svc; (svc = node_next_service(n, &all)) != NULL;) {
        const char *own = svc->table->name;
        if (own[0] == name[0] && strcmp(own, name) == 0) { /* asked for by every question of a gateway */
            return svc;
        }
    }
    return NULL;
}

static struct cw_request *free_request(struct node *n)
{
    for (unsigned i = 0; i < NODE_REQUESTS; i++) {
        if (!n->request[i].open) {
            return &n->request[i];
        }
    }
    return NULL;
}

static void note_words(struct cw_request *r, int argc, const char *const *argv)
{
    size_t used = 0;
    for (int i = 0; i < argc && used < sizeof r->words - 1; i++) {
        used += i > 0 ? utf8_show(" ", 1, r->words + used, sizeof r->words - used) : 0;
        used += utf8_show(argv[i], strlen(argv[i]), r->words + used, sizeof r->words - used);
    }
}

/* "cw_request_done: not called for the command 'ask 1,2,0'" and what follows. */
static void sentence_of(const struct cw_request *r, const char *rest, char out[static SENTENCE])
{
    struct text t = text_of(out, SENTENCE);
    text_put(&t, "cw_request_done: not called for the command '");
    text_put(&t, r->words);
    text_put(&t, "'");
    text_put(&t, rest);
}

static void finish(struct cw_request *r, int rc)
{
    if (r->open) {
        r->open = false;
        r->sink.done(r->sink.context, rc);
    }
}

/* Starts the command. A refusal is the result; 0: the request is open, or has been answered. */
static int start(struct node *n, const char *service, int argc, const char *const *argv,
                 const struct node_request_sink *sink)
{
    struct cw_svc *svc = service_named(n, service);
    if (svc == NULL) {
        return -ENOENT;
    }
    if (svc->table->on_command == NULL) {
        return -EOPNOTSUPP;
    }
    struct cw_request *r = free_request(n);
    if (r == NULL) {
        return -EBUSY;
    }
    *r = (struct cw_request){.node = n, .sink = *sink, .service = (uint8_t)svc->index, .open = true};
    r->came = r->moved = n->now;
    note_words(r, argc, argv);
    struct node_outer outer = node_upcall_begin(svc, UPCALL_COMMAND);
    int rc = svc->table->on_command(svc, svc->state, r, argc, argv);
    node_upcall_end(svc, UPCALL_COMMAND, outer);
    if (rc > 1) {
        node_misuse(svc, "on_command: it returned more than 1");
    }
    if (rc <= 0) {
        finish(r, rc);
    }
    return 0;
}

cw_links node_command(struct node *n, const char *service, int argc, const char *const *argv,
                      const struct node_request_sink *sink, cw_time now)
{
    node_enter(n, now);
    node_sync(n);
    int rc = start(n, service, argc, argv, sink);
    if (rc < 0) {
        sink->done(sink->context, rc);
    }
    return node_leave_entry(n);
}

bool node_visit(struct node *n, const char *service, unsigned version,
                void (*visit)(void *context, cw_svc *s, const void *exports), void *context, cw_time now,
                cw_links *links)
{
    node_enter(n, now);
    node_sync(n);
    struct cw_svc *svc = service_named(n, service);
    bool here = svc != NULL && svc->table->exports != NULL && svc->table->exports_version == version;
    if (here) {
        struct node_outer outer = node_upcall_begin(svc, UPCALL_VISIT);
        visit(context, svc, svc->table->exports);
        node_upcall_end(svc, UPCALL_VISIT, outer);
    }
    *links = node_leave_entry(n);
    return here;
}

void node_end_requests(struct cw_svc *svc)
{
    for (unsigned i = 0; i < NODE_REQUESTS; i++) {
        struct cw_request *r = &svc->node->request[i];
        if (r->open && r->service == svc->index) {
            if (cw_time_since(svc->node->now, r->moved).ns >= forgotten.ns) {
                char sentence[SENTENCE];
                sentence_of(r, " when the service closed", sentence);
                node_misuse(svc, sentence);
            }
            finish(r, -ECANCELED);
        }
    }
}

void node_count_requests(const struct cw_svc *svc, struct node_service_info *out)
{
    const struct node *n = svc->node;
    const struct cw_request *oldest = NULL;
    out->commands = 0;
    for (unsigned i = 0; i < NODE_REQUESTS; i++) {
        const struct cw_request *r = &n->request[i];
        if (r->open && r->service == svc->index) {
            out->commands++;
            oldest = oldest == NULL || cw_time_before(r->came, oldest->came) ? r : oldest;
        }
    }
    out->command = oldest != NULL ? oldest->words : "";
    out->command_came = oldest != NULL ? oldest->came : n->now;
}

cw_time node_requests_wake(const struct node *n)
{
    cw_time wake = CW_NEVER;
    for (unsigned i = 0; i < NODE_REQUESTS; i++) {
        const struct cw_request *r = &n->request[i];
        wake = r->open && !r->named ? cw_time_min(wake, cw_time_add(r->moved, silent)) : wake;
    }
    return wake;
}

void node_check_requests(struct node *n)
{
    for (unsigned i = 0; n->config.strict && n->env.watch.log != NULL && i < NODE_REQUESTS; i++) {
        struct cw_request *r = &n->request[i];
        if (r->open && !r->named && cw_time_since(n->now, r->moved).ns >= silent.ns) {
            char sentence[SENTENCE];
            r->named = true;
            sentence_of(r, ", of whose answer nothing has come for 10 s", sentence);
            n->env.watch.log(n->env.watch.context, n, CW_LOG_ERROR, n->service[r->service]->table->name, sentence,
                             n->now);
        }
    }
}

void cw_request_int(cw_request *r, const char *name, int64_t value)
{
    if (r != NULL && r->open && name != NULL && r->sink.integer != NULL) {
        r->moved = r->node->now;
        r->sink.integer(r->sink.context, name, value);
    }
}

void cw_request_text(cw_request *r, const char *name, const char *value)
{
    if (r != NULL && r->open && name != NULL && r->sink.text != NULL) {
        r->moved = r->node->now;
        r->sink.text(r->sink.context, name, value != NULL ? value : "");
    }
}

void cw_request_row(cw_request *r)
{
    if (r != NULL && r->open && r->sink.row != NULL) {
        r->moved = r->node->now;
        r->sink.row(r->sink.context);
    }
}

void cw_request_done(cw_request *r, int rc)
{
    if (r == NULL) {
        return;
    }
    struct cw_svc *svc = r->node != NULL ? r->node->service[r->service] : NULL;
    if (!r->open && svc != NULL) {
        node_misuse(svc, "cw_request_done: the request is done already");
    }
    finish(r, rc);
}
