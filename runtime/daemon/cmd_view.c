/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_view.c - the cluster as one server sees it: who is there, how far, over which links, and whether the cables are right.
 */
#include "daemon/commands.h"

#include "base/quantity.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* ---- servers ----------------------------------------------------------------------------------------------------------- */

static const char *state_of(struct linkstate *ls, cw_server s, const struct record *record)
{
    if (reach_has(ls_committed(ls), s)) {
        return "up";
    }
    if (record != NULL && (record->flags & RECORD_LEAVING)) {
        return "leaving";
    }
    return reach_has(ls_optimistic(ls), s) ? "feared" : "down";
}

static void tell_server(struct request *r, struct linkstate *ls, const struct torus *t, cw_server s)
{
    const struct record *record = ls_record(ls, s);
    unsigned hops = ls_hops(ls, s);
    request_server(r, "server", torus_coord(t, s));
    request_text(r, "state", state_of(ls, s, record));
    if (hops != UINT_MAX) {
        request_integer(r, "hops", hops);
    }
    request_links(r, "by", ls_next_hops(ls, s));
    if (record != NULL) {
        request_links(r, "links_up", record->up);
        request_integer(r, "incarnation", (int64_t)record->incarnation);
    }
    request_row(r);
}

void cmd_servers(struct request *r)
{
    struct host_server *server = command_server(r);
    if (server == NULL) {
        return;
    }
    struct linkstate *ls = node_linkstate(server->node);
    const struct torus *t = host_torus(command_host(r));
    for (cw_server s = 0; s < t->servers; s++) {
        tell_server(r, ls, t, s);
    }
    request_done(r, 0);
}

/* ---- routes ------------------------------------------------------------------------------------------------------------ */

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
    const struct control_line *line = request_line(r);
    const struct torus *t = host_torus(command_host(r));
    struct host_server *server = command_server(r);
    cw_coord to;
    if (server == NULL || (line->argc > 0 && !command_read_server(r, line->argv[0], &to))) {
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

/* ---- wiring ------------------------------------------------------------------------------------------------------------ */

static bool same(cw_coord a, cw_coord b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

/* What is wrong with our end of a cable, as a sentence; "" when nothing is. */
static void judge(const struct host *h, const struct host_server *s, cw_link link, const struct ls_link_info *info,
                  char out[static 256])
{
    const struct ls_heard *heard = &info->heard;
    const char *port = quantity_link_name(cw_link_opposite(link));
    char expected[TORUS_TEXT], seen[TORUS_TEXT];
    torus_format(info->expected, expected);
    torus_format(heard->server, seen);
    out[0] = '\0';
    if (info->committed) {
        return;
    }
    if (s->link[link].shim == NULL) {
        snprintf(out, 256, "no interface is configured for this port; its cable goes to %s of %s", port, expected);
    } else if (!s->link[link].carrier) {
        snprintf(out, 256, "no carrier: is the cable to %s of %s plugged in at both ends?", port, expected);
    } else if (strcmp(info->state, "damped") == 0) {
        snprintf(out, 256, "up and down too often lately, so that it rests a while; is the cable to %s of %s sound?",
                 port, expected);
    } else if (info->incarnation != 0) {
        snprintf(out, 256, "coming up: %s of %s is heard, and the link is in state %s", port, expected, info->state);
    } else if (!info->miswired) {
        snprintf(out, 256,
                 heard->any ? "%s of %s was heard, and is not now; is its daemon running?"
                            : "nothing is heard; is the daemon at %s of %s running?",
                 port, expected);
    } else if (heard->cluster != host_config(h)->cluster) {
        snprintf(out, 256, "the cable goes to a server of cluster %u, and this is cluster %u", heard->cluster,
                 host_config(h)->cluster);
    } else if (!same(heard->server, info->expected) || heard->port != cw_link_opposite(link)) {
        snprintf(out, 256, "the cable goes to %s of %s; plug it into %s of %s", quantity_link_name(heard->port), seen,
                 port, expected);
    } else {
        snprintf(out, 256,
                 "the configurations of %s and of this server differ (torus, timers or mtu); make them the same",
                 expected);
    }
}

/* The six ports of one server: what should be there, what is. True: all is well. */
static bool tell_ports(struct request *r, const struct host_server *s)
{
    bool well = true;
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        struct ls_link_info info;
        char fault[256];
        ls_link_info(node_linkstate(s->node), link, &info);
        if (!info.exists) {
            continue;
        }
        judge(command_host(r), s, link, &info, fault);
        request_server(r, "server", s->self);
        request_text(r, "link", quantity_link_name(link));
        request_server(r, "leads_to", info.expected);
        request_text(r, "port", quantity_link_name(cw_link_opposite(link)));
        request_text(r, "state", s->link[link].shim == NULL ? "no-interface" : info.state);
        if (info.heard.any) {
            request_server(r, "seen", info.heard.server);
            request_text(r, "seen_port", quantity_link_name(info.heard.port));
        }
        request_flag(r, "ok", fault[0] == '\0');
        if (fault[0] != '\0') {
            request_text(r, "fault", fault);
            well = false;
        }
        request_row(r);
    }
    return well;
}

static bool lists(const struct linkstate *ls, cw_server s, cw_link link)
{
    const struct record *record = ls_record(ls, s);
    return record != NULL && (record->up & cw_links_of(link)) != 0;
}

/* Every cable of the torus once, as the link-state database has it: the plan, and which of it is up. */
static bool tell_plan(struct request *r, const struct linkstate *ls, const struct torus *t)
{
    bool well = true;
    for (cw_server s = 0; s < t->servers; s++) {
        for (cw_link link = 0; link < CW_LINK_COUNT; link += 2) {
            if (!(torus_links(t) & cw_links_of(link))) {
                continue;
            }
            cw_server to = torus_neighbour(t, s, link);
            bool near = lists(ls, s, link), far = lists(ls, to, cw_link_opposite(link));
            request_server(r, "server", torus_coord(t, s));
            request_text(r, "link", quantity_link_name(link));
            request_server(r, "leads_to", torus_coord(t, to));
            request_text(r, "port", quantity_link_name(cw_link_opposite(link)));
            request_text(r, "state", near && far ? "up" : near || far ? "half" : "down");
            request_flag(r, "ok", near && far);
            request_row(r);
            well = well && near && far;
        }
    }
    return well;
}

void cmd_wiring(struct request *r)
{
    struct host *h = command_host(r);
    struct command_scope scope;
    bool all = false, well = true;
    if (!command_scope(r, &scope) || !command_flag(r, "all", &all)) {
        return;
    }
    if (all) {
        well = tell_plan(r, node_linkstate(host_server(h, scope.first)->node), host_torus(h));
    } else {
        for (struct host_server *s; (s = command_next(r, &scope)) != NULL;) {
            well = tell_ports(r, s) && well;
        }
    }
    request_done(r, well ? 0 : 1);
}
