/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_drain.c - may this server go, who inherits its keys; and it goes.
 */
#include "daemon/commands/commands.h"
#include "daemon/machine/log.h"
#include "keyspace/owner.h"

#include <errno.h>
#include <stdlib.h>

enum { ORDERS = 48, HOMES_MOST = 64 };

/* Why it should not go now; NULL: it may. *wait: that may change by itself. */
static const char *objection(struct host_server *s, bool force, bool *wait)
{
    struct linkstate *ls = node_linkstate(s->node);
    const struct reach *view = ls_committed(ls);
    const struct torus *t = host_torus(s->host);
    *wait = true;
    if (host_leaving(s->host)) {
        return "it is leaving already";
    }
    if (!ls_serving(ls, host_now(s->host)) && !force) {
        return "this server delivers no keys itself at the moment (cwctl doctor)";
    }
    if (!reach_equal(view, ls_optimistic(ls)) && !force) {
        return "another server has just gone or come, and its keys are not delivered yet";
    }
    *wait = false;
    bool majority = view->members > t->servers / 2, after = view->members - 1 > t->servers / 2;
    if (!after && !force) {
        return majority ? "without it the servers that are left are no majority, and caches of kvcache would stop; "
                          "--force takes it out all the same"
                        : "the servers in view are no majority already, and without it some of them may reach nobody; "
                          "--force takes it out all the same";
    }
    return NULL;
}

/* Counts, for each server, the parts of this server's keys that it inherits. */
static void count_heirs(struct host_server *s, const struct reach *now, const struct reach *then, unsigned *parts)
{
    const struct torus *t = host_torus(s->host);
    cw_server self = node_self(s->node);
    unsigned homes = 0;
    for (cw_server home = 0; home < t->servers && homes < HOMES_MOST; home++) {
        if (home != self && reach_has(now, home)) {
            continue; /* its keys are its own */
        }
        homes++;
        for (unsigned order = 0; order < ORDERS; order++) {
            if (owner_root_of(t, home, order, now) == self) {
                cw_server heir = owner_root_of(t, home, order, then);
                parts[heir < t->servers ? heir : self]++;
            }
        }
    }
}

static int tell_heirs(struct request *r, struct host_server *s)
{
    const struct torus *t = host_torus(s->host);
    const struct reach *now = ls_committed(node_linkstate(s->node));
    cw_server self = node_self(s->node);
    void *memory = malloc(reach_bytes(t->servers));
    unsigned *parts = calloc(t->servers, sizeof *parts);
    struct reach then;
    if (memory == NULL || parts == NULL) {
        free(memory);
        free(parts);
        return -ENOMEM;
    }
    reach_init(&then, t->servers, memory);
    reach_copy(&then, now);
    (void)reach_remove(&then, self);
    count_heirs(s, now, &then, parts);
    for (cw_server heir = 0; heir < t->servers; heir++) {
        if (heir != self && parts[heir] > 0) {
            request_text(r, "part", "heir");
            request_server(r, "server", torus_coord(t, heir));
            request_integer(r, "parts", parts[heir]);
            request_row(r);
        }
    }
    free(memory);
    free(parts);
    return 0;
}

void cmd_drain(struct request *r)
{
    struct host_server *s = commands_server(r);
    bool force = false, go = false, wait;
    if (s == NULL || !commands_flag(r, "force", &force) || !commands_flag(r, "go", &go)) {
        return;
    }
    struct host *h = s->host;
    if (host_count(h) > 1) {
        request_refuse(r, -EOPNOTSUPP, "a torus inside one process has nobody to hand over to; \"leave\" ends it");
        return;
    }
    const char *why = objection(s, force, &wait);
    if (tell_heirs(r, s) < 0) {
        request_done(r, -ENOMEM);
        return;
    }
    request_text(r, "part", "drain");
    request_server(r, "server", s->self);
    request_flag(r, "ready", why == NULL);
    if (why != NULL) {
        request_text(r, "why", why);
        request_flag(r, "wait", wait);
        if (!wait) {
            request_text(r, "warning",
                         "without it the servers that are left are no majority, and caches of kvcache stop until one "
                         "is started again");
        }
    }
    request_integer(r, "inside", (int64_t)node_packets_inside(s->node));
    request_row(r);
    request_done(r, why == NULL ? 0 : 1);
    if (why == NULL && go) {
        LOG(host_log(h), CW_LOG_INFO, "asked to hand over and leave", {"by", "cwctl"});
        host_leave(h);
    }
}
