/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settled.c - a server as it is at rest in a torus of which every server runs, without the start that leads there.
 */
#include "linkstate/internal.h"

#include "base/check.h"

struct record ls_settled_record(const struct linkstate *ls, const uint64_t incarnation[CW_LINK_COUNT])
{
    struct record record = *linkstate_own(ls);
    record.seq++; /* the first version said that there are no links */
    record.flags = RECORD_ACTIVE;
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        if (ls->links[link].exists) {
            record.up |= cw_links_of(link);
            record.neighbour[link] = (uint16_t)incarnation[link];
        }
    }
    return record;
}

/* Takes what everybody says, in one go: the views are searched once, behind the last. */
static void know_all(struct linkstate *ls, const struct record *records)
{
    for (cw_server s = 0; s < ls->config.torus.servers; s++) {
        struct lsdb_change change;
        CHECK(lsdb_apply(&ls->db, &records[s], &change) == LSDB_NEWER);
        views_applied(&ls->views, &ls->db, &change);
        admission_applied(&ls->admission, s, &records[s], change.renewed);
    }
}

/* The link as it is when hellos have gone both ways, and all that either end knew has been told. */
static void raise_link(struct linkstate *ls, cw_link link, const struct ls_settled_link *far)
{
    struct ls_link *l = &ls->links[link];
    CHECK(l->adj.state == ADJ_NO_CARRIER && far->session != 0);
    l->adj.state = ADJ_UP;
    l->adj.peer_session = far->session;
    l->adj.peer_incarnation = lsdb_incarnation(&ls->db, linkstate_peer(ls, link));
    l->adj.heard = l->adj.since = ls->now;
    feed_start(&l->feed, ls->flood.end);
    linkstate_owe_about(ls, link);
    l->synced = true;
    l->by_round = true;
    l->listed = linkstate_own(ls)->seq;
    l->clock = far->clock;
    l->echo = cw_time_max(ls->now, (cw_time){1});
    l->seen = (struct ls_heard){
        .any = true,
        .at = ls->now,
        .server = l->peer,
        .port = cw_link_opposite(link),
        .cluster = ls->config.cluster,
        .config_hash = ls->config.config_hash,
        .incarnation = l->adj.peer_incarnation,
    };
    /* At rest hellos of different links and servers come at different instants. */
    l->hello_at = cw_time_add(ls->now, prng_span(&ls->prng, CW_NS(0), ls->config.timers.hello));
    l->hello_last = ls->now;
    l->stream_at = ls->now;
}

void ls_start_settled(struct linkstate *ls, const struct record *records,
                      const struct ls_settled_link links[CW_LINK_COUNT], cw_time now)
{
    CHECK(ls->now.ns == INT64_MIN);
    linkstate_enter(ls, now);
    know_all(ls, records);
    ls->linked = true;
    ls->epoch++;
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        if (ls->links[link].exists) {
            raise_link(ls, link, &links[link]);
        }
    }
    linkstate_renew_lease(ls);
    ls->judge_from = now; /* nothing waits in rings */
    ls->version_at = now;
    ls->refresh_at = cw_time_add(now, ls->config.timers.refresh);
    ls->repeat_at = cw_time_add(now, ls->spans.repeat);
    ls->moved = CW_LINKS_ALL;
    ls->said = false;
    linkstate_settle(ls, true);
}
