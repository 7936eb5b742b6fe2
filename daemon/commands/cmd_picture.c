/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_picture.c - what a picture of the torus needs to know: of this daemon's servers, or of every server in view.
 */
#include "daemon/commands/commands.h"
#include "daemon/host/picture.h"

void cmd_picture(struct request *r)
{
    struct host *h = commands_host(r);
    const struct rows_reader out = commands_rows(r);
    struct commands_scope scope;
    bool all = false;
    if (!commands_flag(r, "all", &all) || !commands_scope(r, &scope)) {
        return;
    }
    if (all && host_count(h) == 1) {
        static const char *const words[] = {"about", "picture", "timeout=250000"};
        commands_relay(r, host_server(h, scope.first), "inquiry", 3, words);
        return;
    }
    if (all) { /* the whole torus is here */
        scope = (struct commands_scope){0, host_count(h)};
    }
    for (struct host_server *s; (s = commands_next(r, &scope)) != NULL;) {
        picture_tell(s, host_now(h), &out);
    }
    request_done(r, 0);
}
