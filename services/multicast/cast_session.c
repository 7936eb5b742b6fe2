/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/cast_session.h"

#include "base/bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- The pattern -------------------------------------------------------------------------------------------------- */

/* The finalizer of SplitMix64 (Steele, Lea, Flood, 2014). */
static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

void cast_pattern(uint64_t tag, uint64_t offset, uint8_t *out, size_t length)
{
    uint8_t word[8];
    for (size_t at = 0; at < length; at += 8) {
        put_be64(word, mix(tag + (offset + at) / 8));
        memcpy(out + at, word, length - at < 8 ? length - at : 8);
    }
}

static bool is_pattern(uint64_t tag, uint64_t offset, const uint8_t *bytes, size_t length)
{
    uint8_t word[8];
    for (size_t at = 0; at < length; at += 8) {
        put_be64(word, mix(tag + (offset + at) / 8));
        if (memcmp(bytes + at, word, length - at < 8 ? length - at : 8) != 0) {
            return false;
        }
    }
    return true;
}

/* ---- Life --------------------------------------------------------------------------------------------------------- */

static bool in_set(const uint8_t *set, cw_server i)
{
    return set[i / 8] >> i % 8 & 1;
}

static int open_book(struct cast_session *c)
{
    c->book = calloc(c->torus->servers, sizeof *c->book);
    if (c->book == NULL) {
        return -ENOMEM;
    }
    for (cw_server i = 0; i < c->torus->servers; i++) {
        if (i != c->self && in_set(c->members, i)) {
            c->book[c->book_count++] = (struct cast_member){.server = i};
        }
    }
    c->book_open = c->book_count;
    for (unsigned i = 0; i < c->book_count; i++) {
        if (!cw_reachable(c->s, torus_coord(c->torus, c->book[i].server))) {
            cast_session_mark(c, c->book[i].server, -ENETUNREACH);
        }
    }
    return 0;
}

int cast_session_open(struct cast_session **out, cw_svc *s, const struct torus *torus, const struct trees *trees,
                      const struct cast_head *open)
{
    if (open->servers != torus->servers || open->origin >= torus->servers || open->number == 0 ||
        open->piece_bytes % 8 != 0) {
        return -EINVAL;
    }
    struct cast_session *c = calloc(1, sizeof *c);
    if (c == NULL) {
        return -ENOMEM;
    }
    c->s = s;
    c->torus = torus;
    c->trees = trees;
    c->self = cw_server_id(s, cw_self(s));
    c->origin = open->origin;
    c->number = open->number;
    c->tag = open->tag;
    c->source = c->origin == c->self;
    c->wanted = !c->source && in_set(open->rest, c->self);
    c->began = c->heard = c->progress = cw_now(s);
    int rc = cast_stripe_init(&c->stripe, open->bytes, open->piece_bytes, trees_all(trees));
    size_t set = cast_members_bytes(torus->servers);
    c->members = rc == 0 ? malloc(set) : NULL;
    c->got = rc == 0 && (c->source || c->wanted) ? calloc(c->stripe.pieces / 8 + 1, 1) : NULL;
    if (rc == 0 && (c->members == NULL || (c->got == NULL && (c->source || c->wanted)))) {
        rc = -ENOMEM;
    }
    if (rc == 0) {
        memcpy(c->members, open->rest, set);
        rc = c->source ? open_book(c) : 0;
    }
    if (rc == 0) {
        rc = cast_session_replan(c);
    }
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
    free(c->members);
    free(c->got);
    free(c->edge);
    free(c->book);
    free(c);
}

size_t cast_session_memory(const struct cast_session *c)
{
    size_t bytes = sizeof *c + c->edges * sizeof *c->edge + (c->got != NULL ? c->stripe.pieces / 8 + 1 : 0);
    for (unsigned t = 0; t < CW_LINK_COUNT; t++) {
        bytes += cast_ring_memory(&c->tree[t].ring);
    }
    return bytes;
}

/* ---- Pieces ------------------------------------------------------------------------------------------------------- */

int cast_session_tree(struct cast_session *c, uint8_t tree, uint32_t from)
{
    struct cast_tree *t = &c->tree[tree];
    if (t->open || c->source) {
        return 0;
    }
    uint32_t pieces = cast_stripe_count(&c->stripe, tree);
    from = c->from_start || from > pieces ? 0 : from; /* who has been there from the first piece on misses none */
    int rc = cast_ring_open(&t->ring, from, pieces, c->stripe.piece_bytes);
    if (rc < 0) {
        return rc;
    }
    t->open = true;
    t->told = from;
    c->from_start = c->from_start || (from == 0 && !c->late);
    c->late = !c->from_start;
    if (c->late && c->wanted && !c->ended) {
        c->ended = true; /* what went before does not come again */
        c->status = -ESTALE;
        c->ended_at = c->say_done = cw_now(c->s);
    }
    for (unsigned i = 0; i < c->edges; i++) {
        if (c->edge[i].tree == tree && c->edge[i].base < from) {
            c->edge[i].base = from;
        }
    }
    return 0;
}

static void deliver(struct cast_session *c, uint64_t piece, const struct cast_head *data)
{
    if (!c->wanted || c->ended || (c->got[piece / 8] >> piece % 8 & 1)) {
        return;
    }
    c->got[piece / 8] |= (uint8_t)(1 << piece % 8);
    c->got_count++;
    if (cast_stripe_trailer(&c->stripe, piece)) {
        c->trailer = get_be64(data->rest);
    } else {
        c->sum += data->sum;
        c->wrong += !is_pattern(c->tag, piece * c->stripe.piece_bytes, data->rest, data->rest_bytes);
    }
    if (c->got_count == c->stripe.pieces) {
        c->ended = true;
        c->status = c->sum == c->trailer && c->wrong == 0 ? 0 : -EBADMSG;
        c->ended_at = c->say_done = cw_now(c->s);
    }
}

int cast_session_put(struct cast_session *c, const struct cast_head *data)
{
    struct cast_tree *t = &c->tree[data->tree];
    if (!t->open || data->index >= t->ring.pieces) {
        return -ERANGE;
    }
    uint64_t piece = cast_stripe_piece(&c->stripe, data->tree, data->index);
    if (data->rest_bytes != cast_stripe_length(&c->stripe, piece)) {
        return -EINVAL;
    }
    int rc = cast_ring_put(&t->ring, data->index, data->rest, data->rest_bytes, data->sum);
    if (rc == 0) {
        deliver(c, piece, data);
    }
    c->doubled += rc == -EEXIST;
    return rc;
}

size_t cast_session_make(struct cast_session *c, uint8_t tree, uint32_t index, uint8_t *out, uint64_t *sum)
{
    uint64_t piece = cast_stripe_piece(&c->stripe, tree, index);
    size_t length = cast_stripe_length(&c->stripe, piece);
    bool trailer = cast_stripe_trailer(&c->stripe, piece);
    if (trailer) {
        put_be64(out, c->sum);
    } else {
        cast_pattern(c->tag, piece * c->stripe.piece_bytes, out, length);
    }
    *sum = cast_sum(tree, index, out, length);
    if (!(c->got[piece / 8] >> piece % 8 & 1)) {
        c->got[piece / 8] |= (uint8_t)(1 << piece % 8);
        c->got_count++;
        c->sum += trailer ? 0 : *sum;
    }
    return length;
}

struct cast_mine cast_session_mine(const struct cast_session *c, uint8_t tree)
{
    if (!c->source) {
        const struct cast_ring *r = &c->tree[tree].ring;
        return (struct cast_mine){r->base, r->bytes != NULL ? r->pieces : r->base, r};
    }
    uint32_t end = cast_stripe_count(&c->stripe, tree);
    bool holds_trailer = tree == c->stripe.tree[(c->stripe.pieces - 1) % c->stripe.trees];
    bool trailer_ready = c->got_count + 1 >= c->stripe.pieces;
    return (struct cast_mine){0, holds_trailer && !trailer_ready ? end - 1 : end, NULL};
}

/* ---- Edges -------------------------------------------------------------------------------------------------------- */

static struct cast_edge *find_edge(const struct cast_session *c, uint8_t tree, cw_server to)
{
    for (unsigned i = 0; i < c->edges; i++) {
        if (c->edge[i].tree == tree && c->edge[i].to == to) {
            return &c->edge[i];
        }
    }
    return NULL;
}

static uint32_t base_of(const struct cast_session *c, uint8_t tree)
{
    uint32_t base = c->source ? cast_stripe_count(&c->stripe, tree)
                              : (c->tree[tree].open ? cast_ring_whole(&c->tree[tree].ring) : 0);
    for (unsigned i = 0; i < c->edges; i++) {
        if (c->edge[i].tree == tree && c->edge[i].base < base) {
            base = c->edge[i].base;
        }
    }
    return base;
}

int cast_session_replan(struct cast_session *c)
{
    int rc = cast_plan_make(&c->plan, c->s, c->torus, c->trees, c->origin, c->members);
    struct cast_edge *edge = rc == 0 ? calloc(c->plan.count + 1, sizeof *edge) : NULL;
    if (edge == NULL) {
        return rc < 0 ? rc : -ENOMEM;
    }
    uint32_t base[CW_LINK_COUNT];
    for (uint8_t t = 0; t < CW_LINK_COUNT; t++) {
        base[t] = c->edges > 0 || !c->source ? base_of(c, t) : 0;
    }
    for (unsigned i = 0; i < c->plan.count; i++) {
        const struct cast_plan_edge *p = &c->plan.edge[i];
        const struct cast_edge *old = find_edge(c, p->tree, p->to);
        uint32_t id = (uint32_t)cw_random(c->s) | 1;
        if (old != NULL) {
            edge[i] = *old;
        } else {
            cast_edge_init(&edge[i], id, base[p->tree], cast_stripe_count(&c->stripe, p->tree), cw_now(c->s));
            edge[i].tree = p->tree;
            edge[i].to = p->to;
        }
        edge[i].key = p->vertex;
        edge[i].links = cw_links_to(c->s, torus_coord(c->torus, p->to));
    }
    free(c->edge);
    c->edge = edge;
    c->edges = c->plan.count;
    return 0;
}

uint32_t cast_session_settle(struct cast_session *c, uint8_t tree)
{
    uint32_t base = base_of(c, tree);
    struct cast_ring *r = &c->tree[tree].ring;
    if (c->source || !c->tree[tree].open) {
        return base;
    }
    if (base >= r->base) {
        cast_ring_advance(r, base);
    } else {
        cast_ring_rewind(r, base); /* somebody below begins anew where we had let go: our parent gives it again */
    }
    if (r->base == r->pieces) {
        cast_ring_close(r);
    } else if (r->bytes == NULL) {
        r->bytes = malloc((size_t)CAST_WINDOW * r->piece_bytes);
        r->have[0] = r->have[1] = 0;
    }
    return r->base;
}

bool cast_session_quiet(const struct cast_session *c)
{
    for (uint8_t t = 0; t < CW_LINK_COUNT; t++) {
        if (c->tree[t].open && c->tree[t].ring.base < c->tree[t].ring.pieces) {
            return false;
        }
    }
    for (unsigned i = 0; i < c->edges; i++) {
        if (!cast_edge_complete(&c->edge[i])) {
            return false;
        }
    }
    return c->source ? c->book_open == 0 : !c->ended || c->done_heard;
}

/* ---- The source's book -------------------------------------------------------------------------------------------- */

bool cast_session_mark(struct cast_session *c, cw_server member, int status)
{
    for (unsigned i = 0; i < c->book_count; i++) {
        struct cast_member *m = &c->book[i];
        if (m->server == member && m->state == CAST_WAITING) {
            m->state = status == 0 ? CAST_HAS : CAST_LOST;
            m->status = status;
            m->took = cw_time_since(cw_now(c->s), c->began);
            c->progress = cw_now(c->s);
            return --c->book_open == 0;
        }
    }
    return false;
}
