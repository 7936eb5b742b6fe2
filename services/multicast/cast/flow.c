/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/cast/flow.h"

#include "services/multicast/cast/head.h"
#include "services/multicast/cast/rounds.h"
#include "services/reply/servers.h"

#include <errno.h>
#include <string.h>

enum {
    /* A child acknowledges at once after so many pieces and steps of its base (mostly two for each piece). */
    ACK_AFTER = 8,
    /*
     * Of the packets of a link that serves several trees, one in so many is the last tree's, so that no tree stands
     * still.
     */
    LAST_IN_TURN = 32,
    /* Bytes of the bits of one LACK, at most. */
    LACK_BITS = 1024,
};
/* A member repeats its report to the source after so long, doubled each time up to the second. */
static const cw_span report_least = CW_MS(1);
static const cw_span report_most = CW_MS(500);
/* What comes slowly is acknowledged together, after so long. */
static const cw_span ack_late = CW_MS(15);
/* While something is missing an acknowledgement is repeated: it may have been lost. */
static const cw_span ack_again = CW_MS(50);
/* An upstream that was not heard for so long, while another one was, is forgotten. */
static const cw_span upstream_silent = CW_MS(3000);
/* A tree of which nobody has sent anything for so long keeps no pieces any more. */
static const cw_span abandoned = CW_MS(2000);
/* The least time between two probes of a child that lacks what its parent no longer has. */
static const cw_span behind_again = CW_MS(2);

/* ---- Packets out ------------------------------------------------------------------------------------------------- */

static struct cast_head head_of(const struct cast_session *c, enum cast_kind kind, uint8_t tree)
{
    return (struct cast_head){.kind = kind, .tree = tree, .round = c->round, .origin = c->origin, .number = c->number};
}

static cw_packet *piece_packet(struct cast_session *c, const struct cast_edge *e, uint32_t index)
{
    cw_packet *p = cw_packet_new(c->s, CAST_DATA_HEAD + c->cut.piece_bytes);
    if (p == NULL) {
        return NULL;
    }
    struct cast_head h = head_of(c, CAST_DATA, e->tree);
    uint8_t *data = cw_packet_data(p, NULL);
    bool good = true;
    if (c->source) {
        good = cast_rounds_read(c, e->tree, index, data + CAST_DATA_HEAD, &h) == 0;
    } else {
        const uint8_t *bytes = cast_ring_get(&c->tree[e->tree].ring, index, &h);
        memcpy(data + CAST_DATA_HEAD, bytes, h.rest_bytes);
    }
    h.edge = e->id;
    h.order = e->order + 1;
    h.index = index;
    cast_head_encode(&h, data);
    const cw_to to = to_server(c->s, MULTICAST_JOB, MULTICAST_PORT, e->to);
    if (!good || cw_packet_resize(p, CAST_DATA_HEAD + h.rest_bytes) < 0 || cw_packet_address(c->s, p, &to, NULL) < 0) {
        cw_packet_free(c->s, p);
        return NULL;
    }
    return p;
}

/* Would the edge send a piece now? *fresh: the source would have to assign one first. */
static bool would_send(const struct cast_session *c, const struct cast_edge *e, uint32_t *index, bool *fresh)
{
    struct cast_holding mine = cast_session_holding(c, e);
    *fresh = false;
    if (cast_edge_next(e, &mine, index)) {
        return true;
    }
    *fresh =
        c->source && e->heard && !e->out && mine.base - e->base < CAST_WINDOW && cast_rounds_may_assign(c, e->tree);
    return *fresh;
}

/*
 * The edge that may use a link now: that of the lowest rank, and now and then that of the highest, so that no tree
 * stands still.
 */
static struct cast_edge *choose(struct cast_session *c, cw_link link, uint32_t *index, bool *fresh)
{
    struct cast_edge *best = NULL;
    unsigned turn = c->turn[link];
    bool last = turn % LAST_IN_TURN == LAST_IN_TURN - 1;
    for (unsigned i = 0; i < c->edges; i++) {
        struct cast_edge *e = &c->edge[(turn + i) % c->edges];
        uint32_t at;
        bool assigns;
        if (!(e->links & cw_links_of(link)) || !would_send(c, e, &at, &assigns)) {
            continue;
        }
        if (best == NULL || (last ? e->rank > best->rank : e->rank < best->rank)) {
            best = e;
            *index = at;
            *fresh = assigns;
        }
    }
    return best;
}

cw_packet *cast_flow_next(struct cast_session *c, cw_link link)
{
    uint32_t index = 0;
    bool fresh = false;
    struct cast_edge *e = choose(c, link, &index, &fresh);
    if (e == NULL || (fresh && !cast_stripe_assign(&c->out.stripe, e->tree, &index))) {
        return NULL;
    }
    bool again = fresh && cast_rounds_made(c, e->tree, index);
    cw_packet *p = piece_packet(c, e, index);
    if (p == NULL) {
        if (fresh) {
            cast_stripe_undo(&c->out.stripe, e->tree);
        }
        return NULL;
    }
    uint64_t before = e->repeated;
    cast_edge_sent(e, index, cw_now(c->s));
    bool lost = e->repeated > before;
    c->repeated += lost + again;
    c->repeats.lost += lost;
    c->repeats.missed += again;
    c->repeats.mended += c->source && !fresh && !lost;
    c->turn[link]++;
    if (fresh) {
        cast_rounds_assigned(c);
    }
    return p;
}

cw_links cast_flow_links(const struct cast_session *c, uint8_t tree)
{
    cw_links links = CW_LINKS_NONE;
    for (unsigned i = 0; i < c->edges; i++) {
        const struct cast_edge *e = &c->edge[i];
        links |= (tree != e->tree && tree != CW_LINK_COUNT) || cast_edge_complete(e) ? CW_LINKS_NONE : e->links;
    }
    return links;
}

/* ---- Probes ------------------------------------------------------------------------------------------------------ */

/* A server probes its children in a tree only when it has heard of the tree itself. */
static void probe(struct cast_session *c, struct cast_edge *e)
{
    size_t set = cast_set_bytes(c->torus->servers);
    cw_packet *p = c->tree[e->tree].open ? cw_packet_new(c->s, CAST_OPEN_HEAD + set + c->label_bytes) : NULL;
    if (p == NULL) {
        return;
    }
    struct cast_head h = head_of(c, CAST_OPEN, e->tree);
    h.edge = e->id;
    h.order = cast_edge_probed(e, cw_now(c->s));
    h.index = cast_session_holding(c, e).oldest;
    h.length = e->length;
    h.piece_bytes = c->cut.piece_bytes;
    h.bytes = c->cut.bytes;
    h.servers = c->torus->servers;
    memcpy(h.id, c->id, CAST_ID_BYTES);
    h.content = c->content;
    h.label_bytes = c->label_bytes;
    uint8_t *data = cw_packet_data(p, NULL);
    cast_head_encode(&h, data);
    memcpy(data + CAST_OPEN_HEAD, c->members, set);
    memcpy(data + CAST_OPEN_HEAD + set, c->label, c->label_bytes);
    const cw_to to = to_server(c->s, MULTICAST_JOB, MULTICAST_PORT, e->to);
    cw_send_or_drop(c->s, p, &to, NULL);
    e->probed_at = cw_now(c->s);
}

static void probe_due(struct cast_session *c)
{
    cw_time now = cw_now(c->s);
    for (unsigned i = 0; i < c->edges; i++) {
        struct cast_edge *e = &c->edge[i];
        /* The child lacks pieces that are not kept any more: the probe says that they will not come by this tree. */
        bool behind = e->heard && !cast_edge_complete(e) && cw_time_since(now, e->probed_at).ns > behind_again.ns &&
                      e->base < cast_session_holding(c, e).oldest;
        if (behind || cast_edge_due(e, now)) {
            probe(c, e);
        }
    }
}

/* ---- Acknowledgements -------------------------------------------------------------------------------------------- */

/* Acknowledges to all upstreams of a tree what is here of it. */
static void acknowledge(struct cast_session *c, uint8_t tree)
{
    struct cast_tree *t = &c->tree[tree];
    struct cast_head h = head_of(c, CAST_ACK, tree);
    h.index = t->ring.base;
    h.length = t->length;
    h.have[0] = t->ring.have[0];
    h.have[1] = t->ring.have[1];
    h.serial = (uint64_t)cw_now(c->s).ns;
    for (unsigned i = 0; i < CAST_UPSTREAMS; i++) {
        if (t->up[i].edge != 0) {
            h.edge = t->up[i].edge;
            h.order = t->up[i].echo;
            cast_session_send(c, t->up[i].from, &h);
        }
    }
    t->fresh = 0;
    t->acked = t->ring.base;
    t->acked_at = cw_now(c->s);
}

static void acknowledge_if(struct cast_session *c, uint8_t tree, bool now)
{
    const struct cast_tree *t = &c->tree[tree];
    bool enough = t->fresh + (t->ring.base - t->acked) >= ACK_AFTER;
    bool over = cast_ring_whole(&t->ring) >= t->length && (t->fresh > 0 || t->acked != t->ring.base);
    if (t->open && (now || enough || over)) {
        acknowledge(c, tree);
    }
}

/* ---- Packets in -------------------------------------------------------------------------------------------------- */

/* Records that an upstream sent h. True: an order is missing before it. */
static bool update_upstream(struct cast_session *c, struct cast_tree *t, const struct cast_head *h, cw_server from)
{
    struct cast_upstream *up = &t->up[0];
    for (unsigned i = 0; i < CAST_UPSTREAMS; i++) {
        if (t->up[i].edge == h->edge && t->up[i].from == from) {
            up = &t->up[i];
            break;
        }
        up = t->up[i].heard.ns < up->heard.ns ? &t->up[i] : up;
    }
    bool gap = false;
    if (up->edge != h->edge || up->from != from) {
        *up = (struct cast_upstream){.edge = h->edge, .from = from, .echo = h->order};
    } else if ((int32_t)(h->order - up->echo) > 0) {
        gap = h->order - up->echo > 1;
        up->echo = h->order;
    }
    up->heard = t->heard = cw_now(c->s);
    return gap;
}

static int take_ack(struct cast_session *c, const struct cast_head *h, cw_server from)
{
    struct cast_edge *e = NULL;
    for (unsigned i = 0; i < c->edges && e == NULL; i++) {
        e = c->edge[i].tree == h->tree && c->edge[i].to == from && c->edge[i].id == h->edge ? &c->edge[i] : NULL;
    }
    uint32_t before = e != NULL ? e->base : 0;
    if (e == NULL || !cast_edge_acked(e, h, cw_now(c->s))) {
        return -ESTALE;
    }
    if (e->out && e->base >= cast_session_holding(c, e).oldest) {
        e->out = false;
    }
    if (e->base != before) {
        cast_session_advance(c, h->tree);
        if (!c->source) {
            acknowledge_if(c, h->tree, false);
        }
    }
    return 0;
}

static void after_data(struct cast_session *c, uint8_t tree, bool ack_now)
{
    cast_session_advance(c, tree);
    acknowledge_if(c, tree, ack_now);
    if (!c->in.over && cast_session_over(c)) {
        c->in.over = true;
        c->in.report_at = cw_now(c->s);
    }
    if (c->in.accepted && (c->ended || c->in.over) && cw_time_due(c->in.report_at, cw_now(c->s))) {
        cast_flow_tick(c);
    }
}

int cast_flow_take(struct cast_session *c, const struct cast_head *h, cw_server from)
{
    if (!c->left) {
        c->heard = cw_now(c->s); /* two that were left by their source would keep each other with acknowledgements */
    }
    if (h->kind == CAST_ACK) {
        return take_ack(c, h, from);
    }
    struct cast_tree *t = &c->tree[h->tree];
    if (c->source) {
        return -EINVAL;
    }
    if (h->kind == CAST_OPEN) {
        bool first = !t->open;
        bool news = cast_session_tree(c, h->tree, h->index, h->length);
        update_upstream(c, t, h, from);
        after_data(c, h->tree, true);
        if (first || news) {
            probe_due(c);
        }
        return 0;
    }
    if (!t->open) {
        return -ESTALE;
    }
    bool gap = update_upstream(c, t, h, from);
    int rc = cast_session_put(c, h);
    t->fresh += rc == 0 || rc == -EEXIST;
    after_data(c, h->tree, gap);
    return rc == -EEXIST ? 0 : rc;
}

/* ---- A member's word --------------------------------------------------------------------------------------------- */

void cast_flow_confirmed(struct cast_session *c, uint32_t first)
{
    struct cast_receiving *p = &c->in;
    if (c->ended) {
        /* What confirms a LACK may come when the end has been said since, and lost: the end is said again then. */
        p->confirmed = p->confirmed || first == CAST_HEARD_DONE;
        return;
    }
    if (!p->over || p->reported || first < p->lack_at) {
        return;
    }
    struct cast_head h;
    uint8_t bits[LACK_BITS];
    cast_receiver_lack(&p->receiver, p->lack_at, sizeof bits, &h, bits);
    if (h.piece != first) {
        return;
    }
    p->reported = h.count == 0;
    p->lack_at = h.piece + h.count;
    p->report_at = cw_now(c->s);
    p->tries = 0;
}

static void report(struct cast_session *c)
{
    struct cast_receiving *p = &c->in;
    cw_time now = cw_now(c->s);
    if (!p->accepted || !cw_time_due(p->report_at, now)) {
        return;
    }
    if (c->left && !cw_reachable(c->s, torus_coord(c->torus, c->origin))) {
        return; /* the source could not hear it */
    }
    struct cast_head h = head_of(c, c->ended ? CAST_DONE : CAST_LACK, 0);
    uint8_t bits[LACK_BITS];
    if (c->ended && !p->confirmed) {
        h.status = p->receiver.status;
        h.sum = cast_receiver_sum(&p->receiver);
    } else if (!c->ended && p->over && !p->reported) {
        size_t room = cw_mtu(c->s) - CAST_LACK_HEAD;
        cast_receiver_lack(&p->receiver, p->lack_at, room < sizeof bits ? room : sizeof bits, &h, bits);
        h.rest = bits;
    } else {
        return;
    }
    cast_session_send(c, c->origin, &h);
    int64_t ns = report_least.ns << (p->tries < 8 ? p->tries : 8);
    p->tries++;
    p->report_at = cw_time_add(now, (cw_span){ns < report_most.ns ? ns : report_most.ns});
}

/* ---- Time -------------------------------------------------------------------------------------------------------- */

/* Forgets an upstream that was not heard for long while another one was: it is no parent of ours any more. */
static void forget_silent(struct cast_tree *t, cw_time now)
{
    bool another = false;
    for (unsigned i = 0; i < CAST_UPSTREAMS; i++) {
        another = another || (t->up[i].edge != 0 && cw_time_since(now, t->up[i].heard).ns <= upstream_silent.ns);
    }
    for (unsigned i = 0; i < CAST_UPSTREAMS && another; i++) {
        if (t->up[i].edge != 0 && cw_time_since(now, t->up[i].heard).ns > upstream_silent.ns) {
            t->up[i] = (struct cast_upstream){.edge = 0};
        }
    }
}

/*
 * A parent that has anything for us probes at least four times a second. When none does, we are not on the way any
 * more, or a further round goes by other servers: nobody needs the pieces that are kept here.
 */
static void let_go(struct cast_tree *t, cw_time now)
{
    if (t->ring.bytes != NULL && cw_time_since(now, t->heard).ns > abandoned.ns) {
        cast_ring_close(&t->ring);
        t->ring.have[0] = t->ring.have[1] = 0;
        t->owed[0] = t->owed[1] = 0;
    }
}

/* Puts out children that make no progress (edge.h, rule 4). */
static void watch(struct cast_session *c)
{
    for (unsigned i = 0; i < c->edges; i++) {
        struct cast_edge *e = &c->edge[i];
        if (!cast_edge_complete(e) && c->tree[e->tree].open &&
            cast_edge_watch(e, cast_session_whole(c, e->tree), cast_session_patience(c), cw_now(c->s))) {
            cast_session_advance(c, e->tree);
        }
    }
}

void cast_flow_tick(struct cast_session *c)
{
    cw_time now = cw_now(c->s);
    watch(c);
    if (!c->source) {
        cast_session_retry(c);
    }
    for (uint8_t tree = 0; tree < CW_LINK_COUNT && !c->source; tree++) {
        struct cast_tree *t = &c->tree[tree];
        forget_silent(t, now);
        let_go(t, now);
        cast_session_advance(c, tree);
        bool again = t->ring.base < t->length && cw_time_since(now, t->acked_at).ns > ack_again.ns;
        bool late = cw_time_since(now, t->acked_at).ns > ack_late.ns && (t->fresh > 0 || t->acked != t->ring.base);
        acknowledge_if(c, tree, again || late);
    }
    if (!c->source && !c->in.over && cast_session_over(c)) {
        c->in.over = true;
        c->in.report_at = now;
    }
    probe_due(c);
    report(c);
}

void cast_flow_gone(struct cast_session *c, cw_server server)
{
    for (uint8_t tree = 0; tree < CW_LINK_COUNT; tree++) {
        for (unsigned i = 0; i < CAST_UPSTREAMS; i++) {
            struct cast_upstream *up = &c->tree[tree].up[i];
            if (up->edge != 0 && up->from == server) {
                *up = (struct cast_upstream){.edge = 0};
            }
        }
    }
}
