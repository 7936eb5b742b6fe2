/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_view.c - the cluster as one server sees it: who is there, how far, over which links.
 */
#include "daemon/commands/commands.h"

#include <limits.h>

/* ---- servers ----------------------------------------------------------------------------------------------------- */

static void tell_server(struct request *r, struct host_server *here, const struct torus *t, cw_server s)
{
    struct linkstate *ls = node_linkstate(here->node);
    const struct record *record = ls_record(ls, s);
    unsigned hops = ls_hops(ls, s);
    request_server(r, "server", torus_coord(t, s));
    request_text(r, "state", host_state_of(here, s));
    if (hops != UINT_MAX) {
        request_integer(r, "hops", hops);
    }
    request_links(r, "by", ls_next_hops(ls, s));
    if (record != NULL) {
        /* The record of a server that is out of reach is old, and says nothing about now. */
        request_links(r, "links_up", hops != UINT_MAX ? record->up : CW_LINKS_NONE);
        request_integer(r, "incarnation", (int64_t)record->incarnation);
    }
    request_row(r);
}

void cmd_servers(struct request *r)
{
    struct host_server *server = commands_server(r);
    if (server == NULL) {
        return;
    }
    const struct torus *t = host_torus(commands_host(r));
    for (cw_server s = 0; s < t->servers; s++) {
        tell_server(r, server, t, s);
    }
    request_done(r, 0);
}

/* ---- routes ------------------------------------------------------------------------------------------------------ */

static void tell_route(struct request *r, struct linkstate *ls, const struct torus *t, cw_server to)
{
    unsigned hops = ls_hops(ls, to);
    request_server(r, "to", torus_coord(t, to));
    request_flag(r, "reachable", hops != UINT_MAX);
    if (hops != UINT_MAX) {
        request_integer(r, "hops", hops);
    }
    request_links(r, "by", ls_next_hops(ls, to));
    request_row(r);
}

void cmd_routes(struct request *r)
{
    const struct request_line *line = request_line(r);
    const struct torus *t = host_torus(commands_host(r));
    struct host_server *server = commands_server(r);
    cw_coord to;
    if (server == NULL || (line->argc > 0 && !commands_read_server(r, line->argv[0], &to))) {
        return;
    }
    struct linkstate *ls = node_linkstate(server->node);
    if (line->argc > 0) {
        tell_route(r, ls, t, torus_id(t, to));
        request_done(r, ls_hops(ls, torus_id(t, to)) == UINT_MAX ? 1 : 0);
        return;
    }
    for (cw_server s = 0; s < t->servers; s++) {
        if (s != node_self(server->node)) {
            tell_route(r, ls, t, s);
        }
    }
    request_done(r, 0);
}
