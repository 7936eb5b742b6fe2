/* SPDX-License-Identifier: Apache-2.0 */
#include "keyspace/moves.h"

#include "keyspace/facet.h"
#include "keyspace/owner.h"

/*
 * A root changes only if the old root left or the new root joined: were both in both sets, each would have to come
 * before the other. So the moves are found from the servers that differ: for each such server s, which (home, index)
 * have s as their root?
 *
 * Say that a home is at level L behind s in facet f when s is L steps of f away from it. Such a home has s as its root
 * only if all servers that are fewer than L steps from the home are down. If that is so for one home, it is so for
 * every home on a shortest way of f from there to s, at that home's lower level. So the search goes backwards from s
 * (these are the steps of facet f ^ 7) and stops at the first level where no home qualifies. Level 0 is s itself; when
 * the neighbours of s are up, level 1 is the last.
 */
struct move_search {
    const struct torus *t;
    const struct reach *before, *after;
    moves_fn *fn;
    void *arg;
};

static int report(const struct move_search *q, cw_server home, unsigned index, cw_server from, cw_server to)
{
    struct moves_entry entry = {.home = home, .index = index, .from = from, .to = to};
    return q->fn(q->arg, &entry);
}

/* s is in one of the two sets, and there the root of (home, index): reports the move, once. */
static int move_of(const struct move_search *q, cw_server s, cw_server home, unsigned index)
{
    if (reach_has(q->before, s)) {
        return report(q, home, index, s, owner_root_of(q->t, home, index, q->after));
    }
    cw_server from = owner_root_of(q->t, home, index, q->before);
    if (from != CW_SERVER_NONE && !reach_has(q->after, from)) {
        return 0; /* the old root left, too: the search from that server reports this move */
    }
    return report(q, home, index, from, s);
}

/* The six orders of facet f for one home, level steps behind s. Sets *qualifies when all lower levels are down. */
static int moves_of_home(const struct move_search *q, cw_server s, unsigned f, cw_server home, unsigned level,
                         bool *qualifies)
{
    const struct reach *in = reach_has(q->before, s) ? q->before : q->after;
    if (level > 0 && reach_has(in, home)) {
        return 0;
    }
    for (unsigned o = 0; o < FACET_ORDERS; o++) {
        unsigned index = f * FACET_ORDERS + o;
        cw_server root = owner_root_of(q->t, home, index, in);
        if (root == s) {
            *qualifies = true;
            int rc = move_of(q, s, home, index);
            if (rc != 0) {
                return rc;
            }
            continue;
        }
        struct facet_walk w;
        facet_walk_init(&w, q->t, home, index);
        if (facet_order(&w, q->t, root) >> FACET_ORDER_LEVEL_SHIFT < level) {
            return 0; /* levels are the same in all six orders: s is the root in none of them */
        }
        *qualifies = true;
    }
    return 0;
}

static int moves_of_facet(const struct move_search *q, cw_server s, unsigned f)
{
    struct facet_walk back;
    facet_walk_init(&back, q->t, s, (f ^ (FACET_COUNT - 1)) * FACET_ORDERS);
    unsigned level = 0;
    bool qualifies = true;
    do {
        if (facet_walk_level(&back) != level) {
            if (!qualifies) {
                return 0;
            }
            qualifies = false;
            level++;
        }
        int rc = moves_of_home(q, s, f, facet_walk_server(&back), level, &qualifies);
        if (rc != 0) {
            return rc;
        }
    } while (facet_walk_next(&back));
    return 0;
}

int moves_between(const struct torus *t, const struct reach *before, const struct reach *after, moves_fn *fn, void *arg)
{
    const struct move_search q = {.t = t, .before = before, .after = after, .fn = fn, .arg = arg};
    for (cw_server s = reach_next_change(before, after, 0); s != CW_SERVER_NONE;
         s = reach_next_change(before, after, s + 1)) {
        for (unsigned f = 0; f < FACET_COUNT; f++) {
            int rc = moves_of_facet(&q, s, f);
            if (rc != 0) {
                return rc;
            }
        }
    }
    return 0;
}
