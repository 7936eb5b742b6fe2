/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_command.c - commands of operators: a service answers at once or later, in named, typed fields, and exactly once.
 */
#include "core/node_internal.h"

#include <errno.h>
#include <string.h>

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
    *r = (struct cw_request){.node = n, .sink = *sink, .service = svc->index, .open = true};
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
            finish(r, -ECANCELED);
        }
    }
}

void cw_request_int(cw_request *r, const char *name, int64_t value)
{
    if (r != NULL && r->open && name != NULL && r->sink.integer != NULL) {
        r->sink.integer(r->sink.context, name, value);
    }
}

void cw_request_text(cw_request *r, const char *name, const char *value)
{
    if (r != NULL && r->open && name != NULL && r->sink.text != NULL) {
        r->sink.text(r->sink.context, name, value != NULL ? value : "");
    }
}

void cw_request_row(cw_request *r)
{
    if (r != NULL && r->open && r->sink.row != NULL) {
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
