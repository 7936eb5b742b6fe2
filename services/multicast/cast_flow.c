/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/cast_flow.h"

#include "services/multicast/multicast.h"

#include <errno.h>
#include <string.h>

enum { TELL_AFTER = 4 /* pieces, or of the base */ };
static const cw_span say_again = {20 * 1000 * 1000};
static const cw_span tell_again = {50 * 1000000}; /* while something is missing: what we said may have been lost */
static const cw_span upstream_silent = {3000 * INT64_C(1000000)};

/* ---- Packets out -------------------------------------------------------------------------------------------------- */

static struct cast_head head_of(const struct cast_session *c, enum cast_kind kind, uint8_t tree)
{
    return (struct cast_head){.kind = kind, .tree = tree, .origin = c->origin, .number = c->number};
}

void cast_flow_send(struct cast_session *c, cw_server to, const struct cast_head *h)
{
    cw_packet *p = cw_packet_new(c->s, cast_head_bytes(h->kind));
    if (p == NULL) {
        return;
    }
    cast_head_encode(h, cw_packet_data(p, NULL));
    const cw_to where = {.kind = CW_TO_SERVER,
                         .job = MULTICAST_JOB,
                         .port = MULTICAST_PORT,
                         .server = torus_coord(c->torus, to),
                         .process = to};
    cw_send_or_drop(c->s, p, &where, NULL);
}

static cw_to to_vertex(const struct cast_edge *e)
{
    return (cw_to){.kind = CW_TO_KEY, .job = MULTICAST_JOB, .port = MULTICAST_PORT, .key = e->key};
}

static cw_packet *piece_packet(struct cast_session *c, struct cast_edge *e, uint32_t index)
{
    size_t most =
        CAST_DATA_HEAD + (c->stripe.piece_bytes > CAST_TRAILER_BYTES ? c->stripe.piece_bytes : CAST_TRAILER_BYTES);
    cw_packet *p = cw_packet_new(c->s, most);
    if (p == NULL) {
        return NULL;
    }
    struct cast_head h = head_of(c, CAST_DATA, e->tree);
    uint8_t *data = cw_packet_data(p, NULL);
    size_t length = 0;
    if (c->source) {
        length = cast_session_make(c, e->tree, index, data + CAST_DATA_HEAD, &h.sum);
    } else {
        const uint8_t *bytes = cast_ring_get(&c->tree[e->tree].ring, index, &length, &h.sum);
        memcpy(data + CAST_DATA_HEAD, bytes, length);
    }
    h.edge = e->id;
    h.order = e->order + 1;
    h.index = index;
    cast_head_encode(&h, data);
    const cw_to to = to_vertex(e);
    if (cw_packet_resize(p, CAST_DATA_HEAD + length) < 0 || cw_packet_address(c->s, p, &to, NULL) < 0) {
        cw_packet_free(c->s, p);
        return NULL;
    }
    return p;
}

cw_packet *cast_flow_next(struct cast_session *c, cw_link link)
{
    for (unsigned i = 0; i < c->edges; i++) {
        unsigned at = (c->turn[link] + i) % c->edges;
        struct cast_edge *e = &c->edge[at];
        struct cast_mine mine = cast_session_mine(c, e->tree);
        uint32_t index;
        if (!(e->links & cw_links_of(link)) || !cast_edge_next(e, &mine, &index)) {
            continue;
        }
        cw_packet *p = piece_packet(c, e, index);
        if (p != NULL) {
            uint64_t before = e->repeated;
            cast_edge_sent(e, index, cw_now(c->s));
            c->repeated += e->repeated - before;
            c->turn[link] = at + 1;
            return p;
        }
    }
    return NULL;
}

cw_links cast_flow_links(const struct cast_session *c)
{
    cw_links links = CW_LINKS_NONE;
    for (unsigned i = 0; i < c->edges; i++) {
        links |= cast_edge_complete(&c->edge[i]) ? CW_LINKS_NONE : c->edge[i].links;
    }
    return links;
}

/* Only who has something of the tree asks its children for anything. */
static void probe(struct cast_session *c, struct cast_edge *e)
{
    if (!c->source && !c->tree[e->tree].open) {
        return;
    }
    size_t set = cast_members_bytes(c->torus->servers);
    cw_packet *p = cw_packet_new(c->s, CAST_OPEN_HEAD + set);
    if (p == NULL) {
        return;
    }
    struct cast_head h = head_of(c, CAST_OPEN, e->tree);
    h.edge = e->id;
    h.order = cast_edge_probed(e, cw_now(c->s));
    h.index = c->source ? cast_session_settle(c, e->tree) : c->tree[e->tree].ring.base;
    h.piece_bytes = c->stripe.piece_bytes;
    h.bytes = c->stripe.bytes;
    h.tag = c->tag;
    h.servers = c->torus->servers;
    uint8_t *data = cw_packet_data(p, NULL);
    cast_head_encode(&h, data);
    memcpy(data + CAST_OPEN_HEAD, c->members, set);
    const cw_to to = to_vertex(e);
    cw_send_or_drop(c->s, p, &to, NULL);
}

static void probe_due(struct cast_session *c)
{
    for (unsigned i = 0; i < c->edges; i++) {
        if (cast_edge_due(&c->edge[i], cw_now(c->s))) {
            probe(c, &c->edge[i]);
        }
    }
}

/* Says to those who send us the tree what we have of it. */
static void tell(struct cast_session *c, uint8_t tree)
{
    struct cast_tree *t = &c->tree[tree];
    struct cast_head h = head_of(c, CAST_ACK, tree);
    h.index = t->ring.base;
    h.have[0] = t->ring.have[0];
    h.have[1] = t->ring.have[1];
    h.serial = (uint64_t)cw_now(c->s).ns;
    for (unsigned i = 0; i < CAST_UPSTREAMS; i++) {
        if (t->up[i].edge != 0) {
            h.edge = t->up[i].edge;
            h.order = t->up[i].echo;
            cast_flow_send(c, t->up[i].from, &h);
        }
    }
    t->fresh = 0;
    t->told = t->ring.base;
    t->told_at = cw_now(c->s);
}

static void tell_if(struct cast_session *c, uint8_t tree, bool now)
{
    const struct cast_tree *t = &c->tree[tree];
    bool moved = t->ring.base < t->told || t->ring.base - t->told >= TELL_AFTER;
    bool over = cast_ring_whole(&t->ring) == t->ring.pieces && (t->fresh > 0 || t->told != t->ring.base);
    if (t->open && (now || t->fresh >= TELL_AFTER || moved || over)) {
        tell(c, tree);
    }
}

/* ---- Packets in --------------------------------------------------------------------------------------------------- */

/* True: something is missing before this one, or it is not the next. */
static bool note_upstream(struct cast_session *c, struct cast_tree *t, const struct cast_head *h, cw_server from)
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
    up->heard = cw_now(c->s);
    return gap;
}

static int take_ack(struct cast_session *c, const struct cast_head *h, cw_server from)
{
    struct cast_edge *e = NULL;
    for (unsigned i = 0; i < c->edges && e == NULL; i++) {
        e = c->edge[i].tree == h->tree && c->edge[i].to == from && c->edge[i].id == h->edge ? &c->edge[i] : NULL;
    }
    uint32_t before = e != NULL ? e->base : 0;
    if (e == NULL || !cast_edge_told(e, h, cw_now(c->s))) {
        return -ESTALE;
    }
    if (e->base != before) {
        c->progress = cw_now(c->s);
        cast_session_settle(c, h->tree);
        if (!c->source) {
            tell_if(c, h->tree, false);
        }
    }
    return 0;
}

int cast_flow_take(struct cast_session *c, const struct cast_head *h, cw_server from)
{
    c->heard = cw_now(c->s);
    if (h->kind == CAST_ACK) {
        return take_ack(c, h, from);
    }
    struct cast_tree *t = &c->tree[h->tree];
    if (c->source) {
        return -EINVAL;
    }
    if (h->kind == CAST_OPEN) {
        bool first = !t->open;
        int rc = cast_session_tree(c, h->tree, h->index);
        if (rc < 0) {
            return rc;
        }
        note_upstream(c, t, h, from);
        cast_session_settle(c, h->tree);
        tell_if(c, h->tree, true);
        if (first) {
            probe_due(c);
        }
        return 0;
    }
    if (!t->open) {
        return -ESTALE;
    }
    bool gap = note_upstream(c, t, h, from);
    int rc = cast_session_put(c, h);
    t->fresh += rc == 0 || rc == -EEXIST;
    cast_session_settle(c, h->tree);
    tell_if(c, h->tree, gap);
    if (c->ended && cw_time_due(c->say_done, cw_now(c->s))) {
        cast_flow_tick(c);
    }
    return rc == -EEXIST ? 0 : rc;
}

/* ---- Time --------------------------------------------------------------------------------------------------------- */

static void say_done(struct cast_session *c)
{
    cw_time now = cw_now(c->s);
    if (!c->ended || c->done_heard || c->source || !cw_time_due(c->say_done, now)) {
        return;
    }
    struct cast_head h = head_of(c, CAST_DONE, 0);
    h.status = c->status;
    h.sum = c->sum;
    cast_flow_send(c, c->origin, &h);
    c->say_done = cw_time_add(now, say_again);
}

/* Whoever has not been heard for long, while another was, does not send us the tree any more. */
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

void cast_flow_tick(struct cast_session *c)
{
    cw_time now = cw_now(c->s);
    for (uint8_t tree = 0; tree < CW_LINK_COUNT; tree++) {
        struct cast_tree *t = &c->tree[tree];
        forget_silent(t, now);
        bool again = t->ring.base < t->ring.pieces && cw_time_since(now, t->told_at).ns > tell_again.ns;
        tell_if(c, tree, t->fresh > 0 || (t->open && (again || t->told != t->ring.base)));
    }
    probe_due(c);
    say_done(c);
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
