/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settled.c - a whole torus as it is at rest, without the start that leads there.
 *
 * A start costs every server a record of every server from every neighbour, in several versions: at 4,096 servers that
 * is most of a run. Here every node is opened, and then told what all say (linkstate.h: begun at rest). Services come
 * last, so that they find the view as it is and are not told of its servers one by one.
 */
#include "simulator/world_internal.h"

#include <errno.h>
#include <stdlib.h>

/* What all say of themselves, by server. Its memory is the caller's to free; NULL: there is none. */
static struct record *records_of(const struct world *w)
{
    struct record *records = malloc(w->servers * sizeof *records);
    for (cw_server s = 0; records != NULL && s < w->servers; s++) {
        uint64_t incarnation[CW_LINK_COUNT] = {0};
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            cw_server far = w->neighbours[(size_t)s * CW_LINK_COUNT + link];
            incarnation[link] = w->links & cw_links_of(link) ? ls_incarnation(w->server[far].linkstate) : 0;
        }
        records[s] = ls_settled_record(w->server[s].linkstate, incarnation);
    }
    return records;
}

static void settle(struct world *w, cw_server s, const struct record *records)
{
    struct sim_server *h = &w->server[s];
    struct ls_settled_link links[CW_LINK_COUNT] = {{0}};
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        if (w->links & cw_links_of(link)) {
            const struct sim_server *far = &w->server[w->neighbours[(size_t)s * CW_LINK_COUNT + link]];
            links[link] = (struct ls_settled_link){
                .session = ls_link_session(far->linkstate, cw_link_opposite(link)),
                .clock = pump_local(w, far),
            };
        }
    }
    h->powered = true;
    h->light = w->links;
    node_start_settled(h->node, records, links, pump_local(w, h));
}

int settled_start(struct world *w)
{
    for (cw_server s = 0; s < w->servers; s++) {
        CHECK(w->server[s].state == WORLD_DEAD && w->server[s].cut == CW_LINKS_NONE);
        int rc = servers_open(w, s);
        if (rc < 0) {
            return rc;
        }
    }
    struct record *records = records_of(w);
    if (records == NULL) {
        return -ENOMEM;
    }
    for (cw_server s = 0; s < w->servers; s++) {
        settle(w, s, records);
        pump_note(w, s); /* all is true before anybody is checked */
    }
    free(records);
    for (cw_server s = 0; s < w->servers; s++) {
        int rc = servers_equip(w, s);
        if (rc < 0) {
            return rc;
        }
    }
    for (cw_server s = 0; s < w->servers; s++) {
        servers_go(w, s, node_tx_links(w->server[s].node));
    }
    return 0;
}
