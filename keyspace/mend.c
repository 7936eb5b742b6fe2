/* SPDX-License-Identifier: Apache-2.0 */
#include "keyspace/mend.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { UNKNOWN = 0, JOINED = 1, APART = 2, DEEP = UINT16_MAX };

/* What one mend_make() works with. */
struct bench {
    struct mend *m;
    const struct torus *torus;
    const struct trees *trees;
    const uint8_t *live;
    /* [offset * CW_LINK_COUNT + link]: the set of trees that enter the offset by that link. */
    uint8_t *users;
    /* By offset, for the tree at hand: JOINED when the way up from there ends at the source. */
    uint8_t *state;
    uint16_t *depth;
    /* The tree at hand, and its row of m->parent. */
    cw_link tree;
    uint8_t *up;
};

struct choice {
    uint64_t cost;
    cw_server at; /* the offset that gets a parent */
    cw_link link; /* its link to that parent */
    bool found;
};

/* ---- The trees as they are --------------------------------------------------------------------------------------- */

static cw_server above(const struct bench *b, cw_server offset)
{
    return torus_neighbour(b->torus, offset, b->up[offset]);
}

static unsigned take_table(struct bench *b)
{
    unsigned orphans = 0;
    for (cw_server o = 0; o < b->m->servers; o++) {
        b->up[o] = MEND_NO_PARENT;
        if (o == 0 || !b->live[o]) {
            continue;
        }
        cw_link link = trees_parent(b->trees, b->tree, o);
        if (b->live[torus_neighbour(b->torus, o, link)]) {
            b->up[o] = (uint8_t)link;
            b->users[(size_t)o * CW_LINK_COUNT + link] |= (uint8_t)(1 << b->tree);
        } else {
            orphans++;
        }
    }
    return orphans;
}

/*
 * Finds the offsets that the tree joins to the source, and their depths. Each way up is walked once to find its end,
 * and a second time to mark the offsets on it.
 */
static void find_joined(struct bench *b)
{
    memset(b->state, UNKNOWN, b->m->servers);
    b->state[0] = JOINED;
    b->depth[0] = 0;
    for (cw_server o = 1; o < b->m->servers; o++) {
        cw_server at = o;
        uint16_t steps = 0;
        while (b->state[at] == UNKNOWN && b->up[at] != MEND_NO_PARENT) {
            at = above(b, at);
            steps++;
        }
        uint8_t end = b->state[at] == JOINED ? JOINED : APART;
        uint16_t depth = (uint16_t)(end == JOINED ? b->depth[at] + steps : DEEP);
        for (at = o; b->state[at] == UNKNOWN; at = above(b, at)) {
            b->state[at] = end;
            b->depth[at] = depth;
            depth = (uint16_t)(end == JOINED ? depth - 1 : DEEP);
            if (b->up[at] == MEND_NO_PARENT) {
                break;
            }
        }
    }
}

/* ---- Mending ----------------------------------------------------------------------------------------------------- */

/*
 * What it costs when the tree at hand enters `at` by this link as well. Of two trees that share a link the one of
 * higher rank loses; the lower the rank of the loser, the higher the cost. Equal costs are decided by depth.
 */
static uint64_t cost_of(const struct bench *b, cw_server at, cw_link link)
{
    uint64_t cost = 0;
    for (unsigned left = b->users[(size_t)at * CW_LINK_COUNT + link]; left != 0; left &= left - 1) {
        unsigned other = (unsigned)__builtin_ctz(left);
        unsigned loser = b->m->rank[other] > b->m->rank[b->tree] ? b->m->rank[other] : b->m->rank[b->tree];
        cost += UINT64_C(1) << 8 * (CW_LINK_COUNT - 1 - loser);
    }
    return cost << 16 | b->depth[torus_neighbour(b->torus, at, link)];
}

/*
 * The cheapest link from the joined part into the part that is cut off: to an offset that lacks a parent, or (anywhere)
 * to any offset of that part.
 */
static struct choice cheapest(const struct bench *b, bool anywhere)
{
    struct choice best = {.found = false};
    for (cw_server at = 1; at < b->m->servers; at++) {
        if (!b->live[at] || b->state[at] != APART || (!anywhere && b->up[at] != MEND_NO_PARENT)) {
            continue;
        }
        for (cw_links left = trees_all(b->trees); left != 0; left &= (cw_links)(left - 1)) {
            cw_link link = (cw_link)__builtin_ctz(left);
            if (b->state[torus_neighbour(b->torus, at, link)] != JOINED) {
                continue;
            }
            uint64_t cost = cost_of(b, at, link);
            if (!best.found || cost < best.cost) {
                best = (struct choice){.cost = cost, .at = at, .link = link, .found = true};
            }
        }
    }
    return best;
}

static void set_parent(struct bench *b, cw_server at, cw_link link)
{
    uint8_t bit = (uint8_t)(1 << b->tree);
    if (b->up[at] != MEND_NO_PARENT) {
        b->users[(size_t)at * CW_LINK_COUNT + b->up[at]] &= (uint8_t)~bit;
    }
    b->up[at] = (uint8_t)link;
    b->users[(size_t)at * CW_LINK_COUNT + link] |= bit;
}

/*
 * Gives c->at its new parent. Where c->at lies below the offset that lacks one, each server on the way between the two
 * becomes the parent of the server that was its own parent.
 */
static void join(struct bench *b, const struct choice *c)
{
    cw_server at = c->at;
    cw_link link = c->link;
    for (;;) {
        cw_link old = b->up[at];
        set_parent(b, at, link);
        if (old == MEND_NO_PARENT) {
            return;
        }
        at = torus_neighbour(b->torus, at, old);
        link = cw_link_opposite(old);
    }
}

static void mend_tree(struct bench *b)
{
    for (;;) {
        find_joined(b);
        struct choice c = cheapest(b, false);
        if (!c.found) {
            c = cheapest(b, true);
        }
        if (!c.found) {
            break;
        }
        join(b, &c);
    }
    for (cw_server o = 1; o < b->m->servers; o++) {
        b->up[o] =
            b->state[o] == JOINED ? b->up[o] : MEND_NO_PARENT; /* what is cut off from the source has no parent */
    }
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

/* Trees with more orphans come later; the tree whose first server below the source is dead comes last. */
static void rank_trees(struct bench *b, const unsigned orphans[CW_LINK_COUNT])
{
    unsigned key[CW_LINK_COUNT];
    for (cw_link t = 0; t < CW_LINK_COUNT; t++) {
        bool has = trees_all(b->trees) >> t & 1;
        bool cut = has && !b->live[torus_neighbour(b->torus, 0, t)];
        key[t] = !has ? UINT32_MAX : orphans[t] + (cut ? b->m->servers : 0);
    }
    for (cw_link t = 0; t < CW_LINK_COUNT; t++) {
        unsigned rank = 0;
        for (cw_link other = 0; other < CW_LINK_COUNT; other++) {
            rank += key[other] < key[t] || (key[other] == key[t] && other < t);
        }
        b->m->rank[t] = (uint8_t)rank;
    }
}

static void use_tree(struct bench *b, cw_link tree)
{
    b->tree = tree;
    b->up = b->m->parent + (size_t)tree * b->m->servers;
}

static void mend(struct bench *b)
{
    unsigned orphans[CW_LINK_COUNT] = {0}, sum = 0;
    for (cw_link t = 0; t < CW_LINK_COUNT; t++) {
        if (trees_all(b->trees) >> t & 1) {
            use_tree(b, t);
            orphans[t] = take_table(b);
            sum += orphans[t];
        }
    }
    rank_trees(b, orphans);
    for (unsigned rank = 0; rank < CW_LINK_COUNT && sum > 0; rank++) {
        for (cw_link t = 0; t < CW_LINK_COUNT; t++) {
            if (b->m->rank[t] == rank && (trees_all(b->trees) >> t & 1)) {
                use_tree(b, t);
                mend_tree(b);
            }
        }
    }
}

int mend_make(struct mend *m, const struct torus *torus, const struct trees *trees, const uint8_t *live)
{
    cw_server n = torus->servers;
    *m = (struct mend){.servers = n};
    m->parent = malloc((size_t)n * CW_LINK_COUNT);
    uint8_t *users = calloc((size_t)n * (CW_LINK_COUNT + 1), 1);
    uint16_t *depth = calloc(n, sizeof *depth);
    if (m->parent == NULL || users == NULL || depth == NULL) {
        free(users);
        free(depth);
        mend_free(m);
        return -ENOMEM;
    }
    memset(m->parent, MEND_NO_PARENT, (size_t)n * CW_LINK_COUNT);
    struct bench b = {.m = m, .torus = torus, .trees = trees, .live = live, .users = users, .depth = depth};
    b.state = users + (size_t)n * CW_LINK_COUNT;
    mend(&b);
    free(users);
    free(depth);
    return 0;
}

void mend_free(struct mend *m)
{
    free(m->parent);
    m->parent = NULL;
}
