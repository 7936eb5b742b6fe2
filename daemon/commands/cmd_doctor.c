/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_doctor.c - what is wrong, by cause: of the servers of this process, or of every server in view.
 */
#include "daemon/commands/commands.h"
#include "daemon/doctor/doctor.h"

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
    request_done(r, found > 0 ? 1 : 0);
}
