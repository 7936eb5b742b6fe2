/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_key.c - key-explain: where a key is at home, in which order servers are responsible for it, which one is now,
 * which one would be if certain servers died, and the way from here.
 */
#include "daemon/commands/commands.h"

#include "base/quantity.h"
#include "daemon/commands/path.h"
#include "keyspace/key.h"
#include "keyspace/owner.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { HEIRS = 4, PLACES_MAX = 4096 };

struct explanation {
    struct request *r;
    struct host_server *here;
    struct linkstate *ls;
    const struct torus *t;
    cw_key key;
    uint64_t route;
    const struct reach *now; /* servers that are reachable */
    struct reach then;       /* the same without the servers of option "dead" */
    bool supposed;           /* option "dead" names some */
    int64_t heirs;
    const char *leg; /* of the path being told */
    unsigned hop;
};

/* Reads the servers of option "dead" out of x->then. False: refused. */
static bool read_dead(struct explanation *x)
{
    const char *text;
    cw_coord c;
    for (size_t i = 0; (text = request_line_element(request_line(x->r), "dead", i)) != NULL; i++) {
        if (!commands_read_server(x->r, text, &c)) {
            return false;
        }
        reach_remove(&x->then, torus_id(x->t, c));
        x->supposed = true;
    }
    return true;
}

static void tell_head(struct explanation *x, cw_server root, cw_server then)
{
    struct request *r = x->r;
    char text[KEY_TEXT];
    cw_server home = key_home(x->t, x->route);
    key_format(&x->key, text);
    request_text(r, "part", "key");
    request_text(r, "key", text);
    request_server(r, "home", torus_coord(x->t, home));
    snprintf(text, sizeof text, "%" PRIu64, key_offset(x->t, x->route));
    request_text(r, "place", text); /* a text, for it may exceed a signed number */
    request_integer(r, "order", owner_index(x->t, x->route));
    request_server(r, "root", torus_coord(x->t, root));
    request_integer(r, "hops", ls_hops(x->ls, root));
    request_links(r, "by", ls_next_hops(x->ls, root));
    if (x->supposed && then != CW_SERVER_NONE) {
        request_server(r, "root_then", torus_coord(x->t, then));
    }
    if (root == node_self(x->here->node)) {
        bool first = owner_is_root(x->t, x->route, ls_optimistic(x->ls), root);
        request_flag(r, "may_deliver", first && ls_serving(x->ls, host_now(commands_host(r))));
    }
    request_row(r);
}

/* What server s is to the key; spared: it is reachable, and stays so when the supposed deaths have happened. */
static const char *role_of(cw_server s, cw_server root, cw_server then, bool spared)
{
    if (s == root) {
        return "root";
    }
    if (s == then) {
        return "root-then";
    }
    return spared ? "heir" : "none";
}

/* Tells the order of the key from its front, until enough reachable servers are told. */
static void tell_order(struct explanation *x, cw_server root, cw_server then)
{
    cw_server order[PLACES_MAX];
    unsigned count = owner_sequence(x->t, x->route, PLACES_MAX, order);
    unsigned alive = 0;
    for (unsigned i = 0; i < count && alive < (unsigned)x->heirs; i++) {
        cw_server s = order[i];
        bool up = reach_has(x->now, s), spared = reach_has(&x->then, s);
        alive += spared;
        request_text(x->r, "part", "order");
        request_integer(x->r, "place", i);
        request_server(x->r, "server", torus_coord(x->t, s));
        request_text(x->r, "state", !up ? host_state_of(x->here, s) : !spared ? "supposed-dead" : "up");
        request_text(x->r, "role", role_of(s, root, then, up && spared));
        request_row(x->r);
    }
}

static void tell_step(void *context, const struct path_step *step)
{
    struct explanation *x = context;
    request_text(x->r, "part", "path");
    request_text(x->r, "leg", x->leg);
    request_integer(x->r, "hop", x->hop++);
    request_server(x->r, "server", torus_coord(x->t, step->server));
    request_text(x->r, "out", step->out == CW_LINK_SELF ? "self" : quantity_link_name(step->out));
    request_links(x->r, "choices", step->choices);
    request_row(x->r);
}

/* 0, or 1 when there is no way. */
static int tell_path(struct explanation *x, const char *leg, const struct reach *over, cw_server to)
{
    x->leg = leg;
    x->hop = 0;
    return to == CW_SERVER_NONE || path_walk(x->ls, x->t, over, node_self(x->here->node), to, tell_step, x) < 0;
}

static void explain(struct explanation *x)
{
    cw_server root = owner_root(x->t, x->route, x->now);
    cw_server then = owner_root(x->t, x->route, &x->then);
    if (root == CW_SERVER_NONE) {
        request_refuse(x->r, -ENETUNREACH, "nobody is responsible for it: no server is reachable, not even this one");
        return;
    }
    tell_head(x, root, then);
    tell_order(x, root, then);
    int rc = tell_path(x, "now", x->now, root);
    if (x->supposed && reach_has(&x->then, node_self(x->here->node))) {
        rc |= tell_path(x, "then", &x->then, then);
    }
    request_done(x->r, rc);
}

void cmd_key_explain(struct request *r)
{
    struct explanation x = {.r = r, .t = host_torus(commands_host(r)), .heirs = HEIRS};
    cw_job job;
    x.here = commands_server(r);
    if (x.here == NULL || !commands_number(r, "heirs", 1, PLACES_MAX, &x.heirs) || !commands_read_job(r, &job) ||
        !commands_read_key(r, request_line(r)->argv[0], job, &x.key)) {
        return;
    }
    x.ls = node_linkstate(x.here->node);
    x.route = key_route64(&x.key);
    x.now = ls_committed(x.ls);
    void *memory = malloc(reach_bytes(x.t->servers));
    if (memory == NULL) {
        request_done(r, -ENOMEM);
        return;
    }
    reach_init(&x.then, x.t->servers, memory);
    reach_copy(&x.then, x.now);
    if (read_dead(&x)) {
        explain(&x);
    }
    free(memory);
}
