/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_forward.c - what becomes of one packet: delivered here, queued for a link, held, or dropped with its cause.
 *
 * The rule (semantics 4.2): forward towards the first server of the key's sequence in the committed view, C; deliver
 * only as its first server in the optimistic view, O, with a valid lease; in between, hold.
 *
 * A delivered key packet asks for its key's owner two or three times, each time for another reason. node_rx.c asks
 * node_arrives_here(), over C, only where a service wants to see packets that pass by: is this one passing?
 * decide_key() asks over C where the packet goes, and then node_is_root(), over O, whether this server may deliver it.
 */
#include "core/node_internal.h"

#include "base/check.h"

void node_drop(struct node *n, struct cw_packet *p, cw_drop cause)
{
    n->drops[cause]++;
    node_point(n, NODE_DROPPED, p, cause);
    pkt_release(p);
}

void node_drop_list(struct node *n, struct cw_packet *p, cw_drop cause)
{
    while (p != NULL) {
        struct cw_packet *next = p->next;
        node_drop(n, p, cause);
        p = next;
    }
}

struct cw_svc *node_service_look_up(struct node *n, cw_job job)
{
    for (unsigned slot = job % NODE_JOB_SLOTS; n->job_slot[slot].job != 0; slot = (slot + 1) % NODE_JOB_SLOTS) {
        if (n->job_slot[slot].job == job) {
            n->last_job = job;
            n->last = n->service[n->job_slot[slot].index];
            return n->last;
        }
    }
    return NULL;
}

bool node_is_root(struct node *n, uint64_t route)
{
    return ls_serving(n->ls, n->now) && owner_root(&n->torus, route, ls_optimistic(n->ls)) == n->self;
}

cw_links node_links_for(struct node *n, const struct cw_packet *p)
{
    cw_links links = ls_next_hops(n->ls, p->target);
    /* Back the way it came only when there is no other: then something has changed under way (semantics 4.4). */
    if (p->in < CW_LINK_COUNT && (links & ~cw_links_of(p->in)) != 0) {
        links &= (cw_links)~cw_links_of(p->in);
    }
    return links;
}

static void enqueue_local(struct node *n, struct cw_packet *p)
{
    p->next = NULL;
    if (n->local.tail != NULL) {
        n->local.tail->next = p;
    } else {
        n->local.head = p;
    }
    n->local.tail = p;
    n->local.packets++;
    node_guest_stays(n, p);
}

static void hold(struct node *n, struct place *pl, struct cw_packet *p)
{
    if (!(p->marks & PKT_HELD)) {
        p->queued = n->now;
        p->marks |= PKT_HELD;
    } else if (holdq_expired(&n->held, p, n->now)) {
        node_drop(n, p, CW_DROP_HOLD_TIMEOUT);
        return;
    }
    p->place = pl->number;
    if (!holdq_put(&n->held, p)) {
        node_drop(n, p, CW_DROP_HOLD_OVERFLOW);
        return;
    }
    node_guest_stays(n, p);
    n->due = cw_time_min(n->due, holdq_wake(&n->held));
    node_point(n, NODE_HELD, p, CW_DROP_COUNT);
}

/* The packet is at the server it was heading for, which is this one. */
static void arrive(struct node *n, struct cw_packet *p)
{
    if (n->sorting || (p->in == CW_LINK_SELF && !(p->marks & PKT_LOCAL))) {
        /* Sent by an upcall that has not returned, or found while queues are sorted: no upcall nests. */
        p->marks |= PKT_LOCAL;
        enqueue_local(n, p);
        return;
    }
    node_deliver(n, p);
}

/* Sends p on towards p->target, which is not this server. */
static void send_on(struct node *n, struct place *pl, struct cw_packet *p)
{
    p->marks &= (uint8_t) ~(PKT_HELD | PKT_LOCAL);
    p->links = node_links_for(n, p);
    if (p->links == CW_LINKS_NONE) {
        node_drop(n, p, CW_DROP_NO_ROUTE);
        return;
    }
    if (p->head.hop_limit == 0) {
        node_drop(n, p, CW_DROP_HOP_LIMIT);
        return;
    }
    place_put(n, pl, p);
}

static void decide_key(struct node *n, struct place *pl, struct cw_packet *p)
{
    uint64_t route = p->head.to.key;
    p->target = owner_root(&n->torus, route, ls_committed(n->ls));
    if (p->target == CW_SERVER_NONE || p->target == n->self) {
        if (node_is_root(n, route)) {
            p->target = n->self;
            arrive(n, p);
        } else {
            hold(n, pl, p);
        }
        return;
    }
    send_on(n, pl, p);
}

/* An answer goes back along the recorded path of its request (cw_reply()): by the path's next link, if that is up. */
static bool retrace(struct node *n, struct place *pl, struct cw_packet *p)
{
    cw_link link;
    uint8_t *path = packet_ext(p->data, &p->exts, EXT_PATH);
    if (path == NULL || !ext_path_peek(path, &link)) {
        return false;
    }
    if (!(ls_live_links(n->ls) & cw_links_of(link))) {
        ext_path_forget(path);
        return false;
    }
    p->links = cw_links_of(link);
    p->marks |= PKT_RETRACES;
    place_put(n, pl, p);
    return true;
}

static void decide_server(struct node *n, struct place *pl, struct cw_packet *p)
{
    if (!torus_holds(&n->torus, p->head.to.server)) {
        node_drop(n, p, CW_DROP_MALFORMED);
        return;
    }
    p->target = torus_id(&n->torus, p->head.to.server);
    p->marks &= (uint8_t)~PKT_RETRACES;
    if (p->target == n->self) {
        arrive(n, p);
        return;
    }
    if (p->head.hop_limit > 0 && (p->head.flags & packet_flag(EXT_PATH)) && retrace(n, pl, p)) {
        return;
    }
    send_on(n, pl, p);
}

/* True while the packet still heads for a way-point elsewhere; p->target is then that. */
static bool heads_for_waypoint(struct node *n, struct cw_packet *p)
{
    uint8_t *ext = packet_ext(p->data, &p->exts, EXT_WAYPOINTS);
    cw_coord at;
    while (ext != NULL && ext_waypoints_peek(ext, &at)) {
        /* One outside the torus or gone cannot be passed: skipping it keeps the packet useful. */
        cw_server s = torus_holds(&n->torus, at) ? torus_id(&n->torus, at) : n->self;
        if (s != n->self && ls_next_hops(n->ls, s) != CW_LINKS_NONE) {
            p->target = s;
            return true;
        }
        ext_waypoints_advance(ext);
    }
    return false;
}

void node_decide(struct node *n, struct cw_packet *p)
{
    /* Not every server runs every service: what passes by waits here all the same. */
    struct place *pl = node_place_of(n, p);
    if (NODE_MUTANT(UNKNOWN_DROPPED) && pl->svc == NULL) {
        node_drop(n, p, CW_DROP_NO_SERVICE);
        return;
    }
    if (p->head.kind == PACKET_LINK) {
        if (p->in != CW_LINK_SELF) {
            node_deliver(n, p);
        } else if (!(ls_live_links(n->ls) & p->links)) {
            node_drop(n, p, CW_DROP_NO_ROUTE);
        } else {
            place_put(n, pl, p);
        }
        return;
    }
    if ((p->head.flags & packet_flag(EXT_WAYPOINTS)) && heads_for_waypoint(n, p)) {
        send_on(n, pl, p);
        return;
    }
    if (p->head.kind == PACKET_KEY) {
        decide_key(n, pl, p);
    } else {
        decide_server(n, pl, p);
    }
}

bool node_aim(struct node *n, struct cw_packet *p)
{
    if ((p->head.flags & packet_flag(EXT_WAYPOINTS)) && heads_for_waypoint(n, p)) {
        return true;
    }
    p->target = p->head.kind == PACKET_KEY ? owner_root(&n->torus, p->head.to.key, ls_committed(n->ls))
                                           : torus_id(&n->torus, p->head.to.server);
    return p->target != n->self && p->target != CW_SERVER_NONE;
}

bool node_arrives_here(struct node *n, const struct cw_packet *p)
{
    uint8_t *ext = packet_ext(p->data, &p->exts, EXT_WAYPOINTS);
    cw_coord at;
    if (ext != NULL && ext_waypoints_peek(ext, &at)) {
        return false;
    }
    switch (p->head.kind) {
    case PACKET_KEY:
        return owner_root(&n->torus, p->head.to.key, ls_committed(n->ls)) == n->self;
    case PACKET_SERVER:
        return torus_holds(&n->torus, p->head.to.server) && torus_id(&n->torus, p->head.to.server) == n->self;
    default:
        return true;
    }
}

void node_run_local(struct node *n)
{
    for (unsigned burst = 0; n->local.head != NULL && burst < NODE_LOCAL_BURST; burst++) {
        struct cw_packet *p = n->local.head;
        n->local.head = p->next;
        if (n->local.head == NULL) {
            n->local.tail = NULL;
        }
        n->local.packets--;
        p->next = NULL;
        node_guest_goes_on(n, p);
        /* The view may have moved since: decide again, the last check before the upcall (semantics 4.2). */
        node_decide(n, p);
    }
}
