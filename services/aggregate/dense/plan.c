/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/dense/plan.h"

#include "keyspace/mend.h"
#include "services/aggregate/dense/ways.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What one plan_make() works with. Vertices are offsets from the root. */
struct draft {
    struct plan *plan;
    const struct plan_question *q;
    const struct mend *mend; /* NULL: shortest ways */
    const uint16_t *far;     /* then: how far each offset is (ways.h) */
    uint64_t *involved;
    uint8_t *live, *needed; /* by offset */
    cw_server self;         /* an offset */
};

static bool is_member(const struct draft *d, cw_server offset)
{
    return trees_set_has(d->q->members, torus_shift(d->q->torus, d->q->root, offset));
}

/* The link towards the root; CW_LINK_COUNT or more: none leads there. */
static cw_link up(const struct draft *d, cw_link tree, cw_server offset)
{
    return d->mend != NULL ? mend_parent(d->mend, tree, offset) : ways_parent(d->q->torus, d->far, tree, offset);
}

/* Marks the way from a member up to the root. Gives its length in edges, or -1: it does not lead there. */
static int mark_way(struct draft *d, cw_link tree, cw_server offset)
{
    int edges = 0;
    for (cw_server at = offset; at != 0; edges++) {
        d->needed[at] = 1;
        cw_link link = up(d, tree, at);
        if (link >= CW_LINK_COUNT) {
            return -1;
        }
        at = torus_neighbour(d->q->torus, at, link);
    }
    return edges;
}

static int add_tree(struct draft *d, cw_link tree, cw_server *lost)
{
    const struct torus *torus = d->q->torus;
    struct plan_tree *t = &d->plan->tree[tree];
    memset(d->needed, 0, torus->servers);
    d->needed[0] = 1;
    for (cw_server o = 1; o < torus->servers; o++) {
        if (!is_member(d, o)) {
            continue;
        }
        int edges = d->live[o] ? mark_way(d, tree, o) : -1;
        if (edges < 0) {
            *lost = torus_shift(torus, d->q->root, o);
            return -ENETUNREACH;
        }
        d->plan->depth = (unsigned)edges > d->plan->depth ? (unsigned)edges : d->plan->depth;
    }
    for (cw_server o = 0; o < torus->servers && d->involved != NULL; o++) {
        if (d->needed[o]) {
            trees_set_add(d->involved, torus_shift(torus, d->q->root, o));
        }
    }
    t->in = d->needed[d->self] != 0;
    if (!t->in) {
        return 0;
    }
    if (d->self != 0) {
        cw_server above = torus_neighbour(torus, d->self, up(d, tree, d->self));
        t->parent = torus_shift(torus, d->q->root, above);
    }
    for (cw_links left = torus_links(torus); left != 0; left &= (cw_links)(left - 1)) {
        cw_link link = (cw_link)__builtin_ctz(left);
        cw_server below = torus_neighbour(torus, d->self, link);
        if (below != 0 && d->needed[below] && up(d, tree, below) == cw_link_opposite(link)) {
            t->children |= cw_links_of(link);
        }
    }
    return 0;
}

/* ---- Trees that share links -------------------------------------------------------------------------------------- */

/* By tree: those that use a link that it uses. taken has room for the links of all servers, and is zero. */
static void find_conflicts(struct draft *d, uint8_t *taken, cw_links conflict[static CW_LINK_COUNT])
{
    const struct torus *torus = d->q->torus;
    for (cw_link tree = 0; tree < CW_LINK_COUNT; tree++) {
        if ((d->plan->trees >> tree & 1) == 0) {
            continue;
        }
        memset(d->needed, 0, torus->servers);
        for (cw_server o = 1; o < torus->servers; o++) {
            if (is_member(d, o) && d->live[o]) {
                (void)mark_way(d, tree, o); /* a way that leads nowhere is found later */
            }
        }
        for (cw_server o = 1; o < torus->servers; o++) {
            cw_link link = d->needed[o] ? up(d, tree, o) : CW_LINK_COUNT;
            if (link < CW_LINK_COUNT) {
                taken[o * CW_LINK_COUNT + link] |= (uint8_t)cw_links_of(tree);
            }
        }
    }
    for (size_t i = 0; i < (size_t)torus->servers * CW_LINK_COUNT; i++) {
        for (cw_link tree = 0; tree < CW_LINK_COUNT; tree++) {
            conflict[tree] |= taken[i] >> tree & 1 ? taken[i] & (cw_links)~cw_links_of(tree) : 0;
        }
    }
}

/*
 * The trees that bring most when two that share a link have no more than one link's rate together: each has all of it,
 * a half, or nothing, and of equal sums the one of most whole trees is the best. Those with nothing are left out.
 */
static cw_links choose_trees(cw_links trees, const cw_links conflict[static CW_LINK_COUNT])
{
    enum { HALVES = 3 };
    cw_links best = trees;
    unsigned most = 0, all = 1;
    for (unsigned i = 0; i < CW_LINK_COUNT; i++) {
        all *= HALVES;
    }
    for (unsigned code = 0; code < all; code++) {
        cw_links whole = 0, half = 0;
        unsigned left = code;
        for (cw_link tree = 0; tree < CW_LINK_COUNT; tree++, left /= HALVES) {
            whole |= left % HALVES == 2 ? cw_links_of(tree) : 0;
            half |= left % HALVES == 1 ? cw_links_of(tree) : 0;
        }
        bool possible = ((whole | half) & ~trees) == 0;
        for (cw_link tree = 0; tree < CW_LINK_COUNT && possible; tree++) {
            possible = (whole >> tree & 1) == 0 || (conflict[tree] & (whole | half)) == 0;
        }
        unsigned wholes = (unsigned)__builtin_popcount(whole), sum = 2 * wholes + (unsigned)__builtin_popcount(half);
        if (possible && sum * 8 + wholes > most) {
            most = sum * 8 + wholes;
            best = whole | half;
        }
    }
    return best;
}

/* Leaves out what does not pay. Without the dead no two trees share a link. */
static int thin_out(struct draft *d)
{
    cw_links conflict[CW_LINK_COUNT] = {0};
    cw_server n = d->q->torus->servers;
    if (memchr(d->live, 0, n) == NULL) {
        return 0;
    }
    uint8_t *taken = calloc(n, CW_LINK_COUNT);
    if (taken == NULL) {
        return -ENOMEM;
    }
    find_conflicts(d, taken, conflict);
    d->plan->trees = choose_trees(d->plan->trees, conflict);
    free(taken);
    return 0;
}

/* ---- The plan ---------------------------------------------------------------------------------------------------- */

int plan_make(struct plan *p, const struct plan_question *q, cw_server self, uint64_t *involved, cw_server *lost)
{
    cw_server n = q->torus->servers;
    *p = (struct plan){.trees = trees_all(q->trees)};
    for (cw_link tree = 0; tree < CW_LINK_COUNT; tree++) {
        p->tree[tree].parent = CW_SERVER_NONE;
    }
    if (involved != NULL) {
        memset(involved, 0, trees_set_words(q->torus) * sizeof *involved);
        trees_set_add(involved, q->root);
    }
    if (p->trees == 0) {
        p->trees = cw_links_of(0);
        p->tree[0].in = self == q->root;
        return 0;
    }
    uint8_t *live = calloc(n, 2);
    if (live == NULL) {
        return -ENOMEM;
    }
    for (cw_server o = 0; o < n; o++) {
        live[o] = o == 0 || !trees_set_has(q->dead, torus_shift(q->torus, q->root, o));
    }
    struct mend mend;
    uint16_t *far = NULL;
    int rc = q->shortest ? ways_make(q->torus, live, &far) : mend_make(&mend, q->torus, q->trees, live);
    if (rc == 0) {
        struct draft d = {.plan = p, .q = q, .far = far, .involved = involved, .live = live, .needed = live + n};
        d.mend = q->shortest ? NULL : &mend;
        d.self = torus_offset(q->torus, q->root, self);
        rc = q->shortest ? 0 : thin_out(&d);
        for (cw_link tree = 0; tree < CW_LINK_COUNT && rc == 0; tree++) {
            rc = p->trees >> tree & 1 ? add_tree(&d, tree, lost) : 0;
        }
        if (!q->shortest) {
            mend_free(&mend);
        }
    }
    free(far);
    free(live);
    return rc;
}

cw_link plan_child(const struct plan *p, const struct torus *torus, cw_server self, cw_link tree, cw_server server)
{
    for (cw_links left = p->tree[tree].children; left != 0; left &= (cw_links)(left - 1)) {
        cw_link link = (cw_link)__builtin_ctz(left);
        if (torus_neighbour(torus, self, link) == server) {
            return link;
        }
    }
    return CW_LINK_SELF;
}
