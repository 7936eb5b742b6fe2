/* SPDX-License-Identifier: Apache-2.0 */
/*
 * marks.c - what all other files of this folder use of a server: the mark that it is to be served in this turn, its
 * offloaded work that is done, and the frames that its links hold. It calls none of them.
 */
#include "daemon/host/internal.h"

#include "shim/clock.h"

enum { COLLECT = 16 };

struct pump_server *host_pump_server(struct host_server *s)
{
    return container_of(s, struct pump_server, face);
}

/* ---- A server is served in this turn ----------------------------------------------------------------------------- */

void host_activate(struct pump_server *s)
{
    struct host *h = s->face.host;
    if (s->active) {
        return;
    }
    s->active = true;
    s->next_active = NULL;
    if (h->active_first == NULL) {
        h->active_first = s;
    } else {
        h->active_last->next_active = s;
    }
    h->active_last = s;
}

void host_after(struct host_server *s, cw_links links)
{
    struct pump_server *p = host_pump_server(s);
    p->owed |= links;
    host_activate(p);
}

/* ---- Offloaded work that is done --------------------------------------------------------------------------------- */

static unsigned collect(struct host *h)
{
    struct offload_done done[COLLECT];
    unsigned count = offload_collect(h->offload, done, COLLECT);
    for (unsigned i = 0; i < count; i++) {
        struct pump_server *s = done[i].owner;
        CHECK(s->face.node != NULL); /* host_end_node() waits for all of its work */
        host_after(&s->face, node_offload_done(s->face.node, done[i].ticket, clock_now()));
    }
    return count;
}

void host_collect(struct host *h)
{
    collect(h);
}

void host_collect_all(struct host *h)
{
    while (collect(h) > 0) {
        /* each gives some */
    }
}

/* ---- Frames that a link holds ------------------------------------------------------------------------------------ */

void host_drop_held(struct pump_link *l)
{
    for (unsigned i = 0; i < l->held_count; i++) {
        pkt_release(l->held[i]);
    }
    l->held_count = 0;
    l->server->holding &= (cw_links)~cw_links_of(l->link);
}
