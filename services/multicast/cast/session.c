/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/cast/session.h"

#include "services/multicast/cast/mutant.h"
#include "services/reply/servers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- Life -------------------------------------------------------------------------------------------------------- */

static bool in_set(const uint8_t *set, cw_server i)
{
    return set[i / 8] >> i % 8 & 1;
}

static int open_parts(struct cast_session *c, const struct cast_head *open)
{
    size_t set = cast_set_bytes(c->torus->servers);
    c->members = malloc(set);
    c->label = malloc((size_t)open->label_bytes + 1);
    if (c->members == NULL || c->label == NULL) {
        return -ENOMEM;
    }
    memcpy(c->members, open->rest, set);
    memcpy(c->label, open->rest + set, open->label_bytes);
    if (!c->source) {
        c->wanted = in_set(c->members, c->self);
        return cast_session_round(c, open->round, c->members);
    }
    c->out.made = calloc(c->cut.pieces / 8 + 1, 1);
    if (c->out.made == NULL) {
        return -ENOMEM;
    }
    int rc = cast_stripe_open(&c->out.stripe, c->cut.pieces);
    return rc == 0 ? cast_members_open(&c->out.members, c->members, c->torus->servers, c->self, c->began) : rc;
}

int cast_session_open(struct cast_session **out, cw_svc *s, const struct torus *torus, const struct trees *trees,
                      const struct cast_limits *limits, const struct cast_head *open)
{
    struct cast_cut cut;
    int rc = cast_cut_init(&cut, open->bytes, open->piece_bytes);
    if (open->servers != torus->servers || open->origin >= torus->servers || open->number == 0 || rc < 0) {
        return rc < 0 ? rc : -EINVAL;
    }
    struct cast_session *c = calloc(1, sizeof *c);
    if (c == NULL) {
        return -ENOMEM;
    }
    c->s = s;
    c->torus = torus;
    c->trees = trees;
    c->limits = limits;
    c->self = cw_server_id(s, cw_self(s));
    c->origin = open->origin;
    c->number = open->number;
    memcpy(c->id, open->id, CAST_ID_BYTES);
    c->content = open->content;
    c->label_bytes = open->label_bytes;
    c->cut = cut;
    c->source = c->origin == c->self;
    c->began = c->heard = cw_now(s);
    rc = open_parts(c, open);
    if (rc < 0) {
        cast_session_close(c);
        return rc;
    }
    *out = c;
    return 0;
}

void cast_session_close(struct cast_session *c)
{
    for (unsigned t = 0; t < CW_LINK_COUNT; t++) {
        cast_ring_close(&c->tree[t].ring);
    }
    cast_plan_free(&c->plan);
    cast_receiver_close(&c->in.receiver);
    cast_stripe_close(&c->out.stripe);
    cast_members_close(&c->out.members);
    free(c->out.made);
    free(c->members);
    free(c->label);
    free(c->edge);
    free(c);
}

size_t cast_session_memory(const struct cast_session *c)
{
    size_t bytes = sizeof *c + c->edges * sizeof *c->edge + cast_receiver_memory(&c->in.receiver) +
                   2 * cast_stripe_memory(&c->out.stripe);
    for (unsigned t = 0; t < CW_LINK_COUNT; t++) {
        bytes += cast_ring_memory(&c->tree[t].ring);
    }
    return bytes;
}

static void report_anew(struct cast_receiving *in)
{
    in->reported = false;
    in->lack_at = 0;
    in->tries = 0;
}

int cast_session_round(struct cast_session *c, uint16_t round, const uint8_t *members)
{
    c->round = round;
    memmove(c->members, members, cast_set_bytes(c->torus->servers));
    c->wanted = c->wanted || (!c->source && in_set(c->members, c->self));
    for (unsigned t = 0; t < CW_LINK_COUNT; t++) {
        cast_ring_close(&c->tree[t].ring);
        c->tree[t] = (struct cast_tree){.open = c->source, .length = CAST_OPEN_ENDED};
        cast_ring_init(&c->tree[t].ring, 0, c->cut.piece_bytes);
    }
    c->in.over = false;
    report_anew(&c->in);
    cast_receiver_round(&c->in.receiver);
    c->edges = 0;
    return cast_session_replan(c);
}

void cast_session_leave(struct cast_session *c)
{
    for (unsigned t = 0; t < CW_LINK_COUNT; t++) {
        memset(c->tree[t].up, 0, sizeof c->tree[t].up);
        if (CAST_MUTANT(FORGETS_TREES)) {
            cast_ring_close(&c->tree[t].ring);
            c->tree[t] = (struct cast_tree){.length = CAST_OPEN_ENDED};
        }
    }
    c->in.over = false; /* until the trees are looked at again: then it is reported again, too */
    report_anew(&c->in);
    c->edges = 0;
    c->left = true;
}

/* ---- Pieces ------------------------------------------------------------------------------------------------------ */

/* The ring's base has gone from where it was to where it is. */
static void follow(struct cast_tree *t, uint32_t was)
{
    cast_bits_down(t->owed, t->ring.base - was);
}

bool cast_session_tree(struct cast_session *c, uint8_t tree, uint32_t from, uint32_t length)
{
    struct cast_tree *t = &c->tree[tree];
    if (c->source) {
        return false;
    }
    if (!t->open) {
        t->open = true;
        t->acked = from;
        cast_ring_init(&t->ring, from, c->cut.piece_bytes);
        for (unsigned i = 0; i < c->edges; i++) {
            if (c->edge[i].tree == tree && !c->edge[i].heard) {
                c->edge[i].base = c->edge[i].mark = from;
            }
        }
    } else {
        uint32_t was = t->ring.base;
        c->skipped += cast_ring_skip(&t->ring, from);
        follow(t, was);
    }
    if (length == CAST_OPEN_ENDED || t->length != CAST_OPEN_ENDED) {
        return false;
    }
    t->length = length;
    for (unsigned i = 0; i < c->edges; i++) {
        if (c->edge[i].tree == tree) {
            cast_edge_ends(&c->edge[i], length, cw_now(c->s));
        }
    }
    return true;
}

/* 0: the member is done with this piece; -EAGAIN: it is not. */
static int give(struct cast_session *c, const struct cast_head *data)
{
    if (!c->in.accepted) {
        return 0;
    }
    int rc = cast_receiver_give(&c->in.receiver, data, cast_session_patience(c), cw_now(c->s));
    if (c->in.receiver.state == CAST_ENDED && !c->ended) {
        c->ended = true;
        c->ended_at = c->in.report_at = cw_now(c->s);
    }
    return rc;
}

int cast_session_put(struct cast_session *c, const struct cast_head *data)
{
    struct cast_tree *t = &c->tree[data->tree];
    if (!t->open || data->index >= t->length || data->piece >= c->cut.pieces) {
        return -ERANGE;
    }
    if (data->rest_bytes != cast_cut_length(&c->cut, data->piece)) {
        return -EINVAL;
    }
    int taken = give(c, data);
    if (taken < 0 && taken != -EAGAIN) {
        return taken;
    }
    int rc = cast_ring_put(&t->ring, data);
    if (rc == 0 && taken == -EAGAIN) {
        cast_bits_add(t->owed, data->index - t->ring.base);
    }
    c->doubled += rc == -EEXIST;
    return rc;
}

void cast_session_retry(struct cast_session *c)
{
    for (uint8_t tree = 0; tree < CW_LINK_COUNT; tree++) {
        struct cast_tree *t = &c->tree[tree];
        for (uint32_t at = cast_bits_lowest(t->owed); at < CAST_WINDOW; at = cast_bits_lowest(t->owed)) {
            struct cast_head data = {.kind = CAST_DATA};
            if (cast_ring_get(&t->ring, t->ring.base + at, &data) != NULL && give(c, &data) == -EAGAIN) {
                return;
            }
            t->owed[at / 64] &= ~(UINT64_C(1) << at % 64);
        }
    }
}

uint32_t cast_session_whole(const struct cast_session *c, uint8_t tree)
{
    return c->source ? c->out.stripe.lane[tree].next : cast_ring_whole(&c->tree[tree].ring);
}

struct cast_holding cast_session_holding(const struct cast_session *c, const struct cast_edge *e)
{
    if (c->source) {
        uint32_t next = c->out.stripe.lane[e->tree].next;
        uint32_t oldest = c->ended ? next : next > CAST_WINDOW ? next - CAST_WINDOW : 0;
        return (struct cast_holding){.oldest = oldest, .base = next};
    }
    const struct cast_ring *r = &c->tree[e->tree].ring;
    struct cast_holding mine = {.oldest = r->base, .base = r->base, .have = {r->have[0], r->have[1]}};
    if (!e->heard || e->base < r->base) {
        mine.oldest = cast_ring_oldest(r);
    }
    return mine;
}

/* ---- Edges ------------------------------------------------------------------------------------------------------- */

static struct cast_edge *find_edge(const struct cast_session *c, uint8_t tree, cw_server to)
{
    for (unsigned i = 0; i < c->edges; i++) {
        if (c->edge[i].tree == tree && c->edge[i].to == to) {
            return &c->edge[i];
        }
    }
    return NULL;
}

int cast_session_replan(struct cast_session *c)
{
    int rc = cast_plan_make(&c->plan, c->s, c->torus, c->trees, c->origin, c->members);
    struct cast_edge *edge = rc == 0 ? calloc((size_t)c->plan.count + 1, sizeof *edge) : NULL;
    if (edge == NULL) {
        return rc < 0 ? rc : -ENOMEM;
    }
    for (unsigned i = 0; i < c->plan.count; i++) {
        const struct cast_plan_edge *p = &c->plan.edge[i];
        const struct cast_edge *old = find_edge(c, p->tree, p->to);
        uint32_t id = (uint32_t)cw_random(c->s) | 1;
        if (old != NULL) {
            edge[i] = *old;
        } else {
            uint32_t base = c->source ? c->out.stripe.lane[p->tree].base : c->tree[p->tree].ring.base;
            cast_edge_init(&edge[i], id, base, cw_now(c->s));
            edge[i].tree = p->tree;
            edge[i].to = p->to;
            edge[i].length = c->tree[p->tree].length;
        }
        edge[i].rank = p->rank;
        edge[i].height = p->height;
        cw_links ways = cw_links_to(c->s, torus_coord(c->torus, p->to)), cable = cw_links_of(p->link);
        edge[i].links = ways & cable ? cable : ways;
    }
    free(c->edge);
    c->edge = edge;
    c->edges = c->plan.count;
    return 0;
}

uint32_t cast_session_advance(struct cast_session *c, uint8_t tree)
{
    struct cast_tree *t = &c->tree[tree];
    uint32_t base = cast_session_whole(c, tree);
    uint32_t owed = c->source ? base : t->ring.base + cast_bits_lowest(t->owed);
    base = owed < base ? owed : base;
    for (unsigned i = 0; i < c->edges; i++) {
        const struct cast_edge *e = &c->edge[i];
        base = e->tree == tree && !e->out && e->base < base && !CAST_MUTANT(BASE_AHEAD) ? e->base : base;
    }
    if (c->source) {
        cast_stripe_advance(&c->out.stripe, tree, base, cw_now(c->s));
        return c->out.stripe.lane[tree].base;
    }
    if (t->open && base > t->ring.base) {
        uint32_t was = t->ring.base;
        cast_ring_advance(&t->ring, base);
        follow(t, was);
    }
    if (t->ring.base >= t->length) {
        cast_ring_close(&t->ring);
    }
    return t->ring.base;
}

bool cast_session_over(const struct cast_session *c)
{
    for (cw_links left = trees_all(c->trees); left != 0; left &= (cw_links)(left - 1)) {
        const struct cast_tree *t = &c->tree[__builtin_ctz(left)];
        if (!t->open || t->length == CAST_OPEN_ENDED || cast_ring_whole(&t->ring) < t->length ||
            (t->owed[0] | t->owed[1]) != 0) {
            return false;
        }
    }
    return true;
}

cw_span cast_session_patience(const struct cast_session *c)
{
    /* Round 0 may only ask, so round 1 counts as the first. */
    enum { FURTHER_MOST = 5 };
    unsigned further = c->round > 1 ? c->round - 1U : 0;
    int64_t ns = c->limits->patience.ns << 2 * (further < FURTHER_MOST ? further : FURTHER_MOST);
    int64_t most = c->limits->limit.ns / 4;
    most = most > c->limits->patience.ns ? most : c->limits->patience.ns;
    return CW_NS(ns < most ? ns : most);
}

bool cast_session_quiet(const struct cast_session *c)
{
    if (c->left) {
        return true;
    }
    for (uint8_t t = 0; t < CW_LINK_COUNT && !c->source; t++) {
        if (c->tree[t].open && c->tree[t].ring.base < c->tree[t].length) {
            return false;
        }
    }
    for (unsigned i = 0; i < c->edges; i++) {
        if (!cast_edge_complete(&c->edge[i])) {
            return false;
        }
    }
    if (c->source) {
        return c->ended;
    }
    return !c->in.accepted || (c->ended && c->in.confirmed);
}

/* ---- Packets out ------------------------------------------------------------------------------------------------- */

void cast_session_reply(cw_svc *s, cw_server to, const struct cast_head *h)
{
    size_t head = cast_head_bytes(h->kind);
    cw_packet *p = cw_packet_new(s, head + h->rest_bytes);
    if (p == NULL) {
        return;
    }
    uint8_t *data = cw_packet_data(p, NULL);
    cast_head_encode(h, data);
    if (h->rest_bytes > 0) {
        memcpy(data + head, h->rest, h->rest_bytes);
    }
    const cw_to where = to_server(s, MULTICAST_JOB, MULTICAST_PORT, to);
    cw_send_or_drop(s, p, &where, NULL);
}

void cast_session_send(struct cast_session *c, cw_server to, const struct cast_head *h)
{
    cast_session_reply(c->s, to, h);
}
