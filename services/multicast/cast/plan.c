/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/cast/plan.h"

#include "keyspace/mend.h"
#include "services/multicast/cast/mutant.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What one cast_plan_make() works with. Servers are offsets from the source. */
struct draft {
    struct cast_plan *plan;
    const struct torus *torus;
    const struct trees *trees;
    const struct mend *mend;
    cw_server source, self;
    const uint8_t *wanted; /* by offset: it is a member and lives */
    /*
     * By offset: 1 + the edges below it on the longest way down to a member; 0: no member is below, and it is none
     * itself.
     */
    uint8_t *height;
};

static int add(struct cast_plan *plan, const struct cast_plan_edge *edge)
{
    if (plan->count == plan->room) {
        unsigned room = plan->room == 0 ? 16 : 2 * plan->room;
        struct cast_plan_edge *grown = realloc(plan->edge, room * sizeof *grown);
        if (grown == NULL) {
            return -ENOMEM;
        }
        plan->edge = grown;
        plan->room = room;
    }
    plan->edge[plan->count++] = *edge;
    return 0;
}

/*
 * Marks the ways from the members up to the source. A walk ends where an earlier one has marked a height that is not
 * lower.
 */
static void prune(const struct draft *d, cw_link tree)
{
    memset(d->height, 0, d->torus->servers);
    for (cw_server o = 1; o < d->torus->servers; o++) {
        unsigned height = 1;
        for (cw_server at = o; d->wanted[o] && height > d->height[at]; height += height < UINT8_MAX) {
            d->height[at] = (uint8_t)height;
            cw_link link = mend_parent(d->mend, tree, at);
            if (link == MEND_NO_PARENT) {
                break;
            }
            at = torus_neighbour(d->torus, at, link);
        }
    }
}

static int add_tree(const struct draft *d, cw_link tree)
{
    int rc = 0;
    cw_server self = torus_offset(d->torus, d->source, d->self);
    prune(d, tree);
    for (cw_links left = trees_all(d->trees); left != 0 && rc == 0; left &= (cw_links)(left - 1)) {
        cw_link link = (cw_link)__builtin_ctz(left);
        cw_server below = torus_neighbour(d->torus, self, link);
        if (below != 0 && d->height[below] > 0 && mend_parent(d->mend, tree, below) == cw_link_opposite(link)) {
            const struct cast_plan_edge edge = {.tree = (uint8_t)tree,
                                                .rank = d->mend->rank[tree],
                                                .height = (uint8_t)(d->height[below] - 1),
                                                .link = link,
                                                .to = torus_shift(d->torus, d->source, below)};
            rc = add(d->plan, &edge);
        }
    }
    return rc;
}

/* For CAST_MUTANT_NO_MEND: takes the repairs back, so that an offset whose parent is dead has none. */
static void unmend(struct mend *mend, const struct torus *torus, const struct trees *trees, const uint8_t *live)
{
    for (cw_link tree = 0; tree < CW_LINK_COUNT; tree++) {
        for (cw_server o = 1; o < torus->servers && (trees_all(trees) >> tree & 1); o++) {
            cw_link link = trees_parent(trees, tree, o);
            bool whole = live[o] && live[torus_neighbour(torus, o, link)];
            mend->parent[(size_t)tree * mend->servers + o] = whole ? (uint8_t)link : MEND_NO_PARENT;
        }
    }
}

int cast_plan_make(struct cast_plan *plan, cw_svc *s, const struct torus *torus, const struct trees *trees,
                   cw_server source, const uint8_t *members)
{
    cw_server n = torus->servers;
    if (source >= n) {
        return -EINVAL;
    }
    uint8_t *live = calloc(n, 3);
    if (live == NULL) {
        return -ENOMEM;
    }
    uint8_t *wanted = live + n;
    for (cw_server o = 0; o < n; o++) {
        cw_server i = torus_shift(torus, source, o);
        live[o] = o == 0 || cw_reachable(s, torus_coord(torus, i));
        wanted[o] = o != 0 && live[o] && (members[i / 8] >> i % 8 & 1);
    }
    struct mend mend;
    int rc = mend_make(&mend, torus, trees, live);
    if (rc == 0 && CAST_MUTANT(NO_MEND)) {
        unmend(&mend, torus, trees, live);
    }
    struct draft d = {.plan = plan, .torus = torus, .trees = trees, .mend = &mend, .source = source, .wanted = wanted};
    d.height = wanted + n;
    d.self = cw_server_id(s, cw_self(s));
    plan->count = 0;
    for (cw_link tree = 0; tree < CW_LINK_COUNT && rc == 0; tree++) {
        rc = trees_all(trees) >> tree & 1 ? add_tree(&d, tree) : 0;
    }
    mend_free(&mend);
    free(live);
    return rc;
}

void cast_plan_free(struct cast_plan *plan)
{
    free(plan->edge);
    *plan = (struct cast_plan){.edge = NULL};
}
