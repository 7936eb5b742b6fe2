/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_events.c - the view moved: services are told, what waits is routed anew, what was held is looked at again.
 *
 * Every event is derived by comparing what services were told with what is true now, so that no change is told twice or
 * lost, however many records one frame brought. This runs before anything acts on the new view, and before an
 * acknowledgement of it can leave (nothing leaves inside an entry): so a cache has flushed before its server admits a
 * newcomer (kvcache rule 6).
 */
#include "core/node_internal.h"

#include "base/check.h"

static void tell(struct node *n, cw_event_kind kind, cw_server server, cw_link link)
{
    cw_event event = {
        .size = sizeof event,
        .kind = kind,
        .server = torus_coord(&n->torus, server),
        .link = link,
        .epoch = n->seen_epoch,
    };
    uint64_t all = n->services;
    for (struct cw_svc *svc; (svc = node_next_service(n, &all)) != NULL;) {
        if (svc->table->on_event != NULL) {
            struct node_outer outer = node_upcall_begin(svc, UPCALL_EVENT);
            svc->table->on_event(svc, svc->state, &event);
            node_upcall_end(svc, UPCALL_EVENT, outer);
        }
    }
}

static void tell_servers(struct node *n)
{
    const struct reach *now = ls_committed(n->ls);
    for (cw_server s = reach_next_change(&n->told, now, 0); s != CW_SERVER_NONE;
         s = reach_next_change(&n->told, now, s + 1)) {
        bool up = reach_has(now, s);
        changes_note(&n->changes, n->seen_epoch, s);
        if (up) {
            reach_add(&n->told, s);
        } else {
            reach_remove(&n->told, s);
            response_end_of(&n->nmu.responses, s); /* whoever asked from there is gone (nmu rule 4) */
        }
        tell(n, up ? CW_EVENT_SERVER_UP : CW_EVENT_SERVER_DOWN, s, CW_LINK_SELF);
    }
}

static void tell_links(struct node *n, cw_links up)
{
    cw_links changed = up ^ n->seen_up;
    n->seen_up = up;
    for (; changed != 0; changed &= (cw_links)(changed - 1)) {
        cw_link link = (cw_link)__builtin_ctz(changed);
        tell(n, up & cw_links_of(link) ? CW_EVENT_LINK_UP : CW_EVENT_LINK_DOWN,
             torus_neighbour(&n->torus, n->self, link), link);
    }
}

/* Routes every queued packet anew, so that none is lost to a failure elsewhere. Upcalls wait until that is done. */
static void sort_queues(struct node *n)
{
    n->sorting = true;
    for (unsigned i = NODE_MUTANT(NOT_SORTED) ? 1 : 0; i < FAIRQ_PLACES; i++) {
        struct place *pl = n->places[i];
        uint32_t before = pl != NULL ? place_packets(n, pl) : 0;
        for (struct cw_packet *p = before > 0 ? place_drain(n, pl) : NULL; p != NULL;) {
            struct cw_packet *next = p->next;
            node_decide(n, p);
            p = next;
        }
        if (before > 0 && place_packets(n, pl) < before) {
            place_note_room(n, pl); /* what has no way any more, or is held, leaves it by no link */
        }
    }
    n->sorting = false;
}

void node_try_held(struct node *n)
{
    n->trying = holdq_drain(&n->held);
    for (struct cw_packet *p; (p = n->trying) != NULL;) { /* an upcall may close a guest that has sent what follows */
        n->trying = p->next;
        node_guest_goes_on(n, p);
        node_decide(n, p);
    }
}

void node_end_held(struct node *n)
{
    struct cw_packet *p;
    while ((p = holdq_take_expired(&n->held, n->now)) != NULL) {
        node_guest_goes_on(n, p);
        node_decide(n, p);
    }
}

/* Before anybody is told anything: what is stored in one of those upcalls is of the new epoch already. */
static void note_unrest(struct node *n)
{
    const struct reach *touched = ls_touched(n->ls);
    for (cw_server s = reach_next(touched, 0); s != CW_SERVER_NONE; s = reach_next(touched, s + 1)) {
        changes_note(&n->unrest, n->seen_epoch, s);
    }
    ls_forget_touched(n->ls);
}

void node_sync(struct node *n)
{
    while (ls_refresh(n->ls, n->now)) {
        uint64_t epoch = ls_epoch(n->ls), routes = ls_routes_epoch(n->ls);
        bool serving = ls_serving(n->ls, n->now);
        cw_links up = ls_live_links(n->ls);
        if (epoch == n->seen_epoch && serving == n->seen_serving && up == n->seen_up) {
            return;
        }
        bool sort = routes != n->seen_routes || up != n->seen_up;
        n->seen_epoch = epoch;
        n->seen_routes = routes;
        n->seen_serving = serving;
        note_unrest(n);
        tell_servers(n);
        tell_links(n, up);
        tell(n, CW_EVENT_ROOTS, n->self, CW_LINK_SELF);
        if (sort) {
            sort_queues(n);
        }
        node_try_held(n);
    }
}
