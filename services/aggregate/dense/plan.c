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
