/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_doctor.c - what is wrong, by cause: of the servers of this process, or of every server in view.
 */
#include "daemon/commands/commands.h"
#include "daemon/doctor/doctor.h"

/* Servers of this process that have failed, as of others that are not in view. */
static void tell_failed(struct request *r)
{
    struct host *h = commands_host(r);
    unsigned failed = 0;
    for (unsigned i = 0; i < host_count(h); i++) {
        const struct host_server *s = host_server(h, i);
        if (s->node == NULL) {
            failed++;
            request_server(r, "server", s->self);
            request_integer(r, "unasked", 1);
            request_flag(r, "failed", true);
            request_row(r);
        }
    }
    request_integer(r, "asked", host_count(h) - failed);
    request_integer(r, "answered", host_count(h) - failed);
    request_integer(r, "servers", host_count(h));
    request_row(r);
}

void cmd_doctor(struct request *r)
{
    struct host *h = commands_host(r);
    const struct rows_reader out = commands_rows(r);
    struct commands_scope scope;
    bool all = false;
    unsigned found = 0;
    if (!commands_flag(r, "all", &all)) {
        return;
    }
    if (host_count(h) == 1 && host_server(h, 0)->node == NULL) {
        found = doctor_search(h, &out);
        request_done(r, found > 0 ? 1 : 0);
        return;
    }
    if (!commands_scope(r, &scope)) {
        return;
    }
    if (all && host_count(h) == 1) {
        static const char *const words[] = {"about", "doctor", "away=1"};
        commands_relay(r, host_server(h, scope.first), "inquiry", 3, words);
        return;
    }
    if (all) { /* the whole torus is here */
        scope = (struct commands_scope){0, host_count(h)};
    }
    for (struct host_server *s; (s = commands_next(r, &scope)) != NULL;) {
        found += doctor_look(s, &out);
    }
    if (all) {
        tell_failed(r);
    }
    request_done(r, found > 0 ? 1 : 0);
}
