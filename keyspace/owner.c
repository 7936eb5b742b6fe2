/* SPDX-License-Identifier: Apache-2.0 */
#include "keyspace/owner.h"

#include <assert.h>

/*
 * A walk passes N / members servers before it meets a member. Where members are few, comparing all of them is cheaper;
 * a comparison costs about eight steps. This is the case of a node that is cut off or has just started: 0.1 us instead
 * of 7 us at 4,096 servers.
 */
static bool is_sparse(const struct reach *reach)
{
    return (uint64_t)reach->members * reach->members * 8 < reach->servers;
}

static cw_server earliest_member(const struct facet_walk *w, const struct torus *t, const struct reach *reach)
{
    cw_server best = CW_SERVER_NONE;
    uint32_t best_order = UINT32_MAX;
    for (cw_server s = reach_next(reach, 0); s != CW_SERVER_NONE; s = reach_next(reach, s + 1)) {
        uint32_t order = facet_order(w, t, s);
        if (order < best_order) {
            best = s;
            best_order = order;
        }
    }
    return best;
}

cw_server owner_root_of(const struct torus *t, cw_server home, unsigned index, const struct reach *reach)
{
    assert(reach->servers == t->servers);
    if (reach_has(reach, home)) {
        return home;
    }
    struct facet_walk w;
    facet_walk_init(&w, t, home, index);
    if (is_sparse(reach)) {
        return earliest_member(&w, t, reach);
    }
    while (facet_walk_next(&w)) {
        cw_server s = facet_walk_server(&w);
        if (reach_has(reach, s)) {
            return s;
        }
    }
    return CW_SERVER_NONE;
}

void owner_walk_init(struct owner_walk *w, const struct torus *t, uint64_t route, const struct reach *reach)
{
    assert(reach->servers == t->servers);
    facet_walk_init(&w->sequence, t, key_home(t, route), owner_index(t, route));
    w->reach = reach;
    w->left = reach->members;
    w->started = false;
}

cw_server owner_walk_next(struct owner_walk *w)
{
    while (w->left > 0) {
        if (w->started) {
            facet_walk_next(&w->sequence); /* there is a next one: members are left */
        }
        w->started = true;
        cw_server s = facet_walk_server(&w->sequence);
        if (reach_has(w->reach, s)) {
            w->left--;
            return s;
        }
    }
    return CW_SERVER_NONE;
}

unsigned owner_servers_for_key(const struct torus *t, uint64_t route, const struct reach *reach, unsigned r,
                               cw_server out[])
{
    struct owner_walk w;
    owner_walk_init(&w, t, route, reach);
    unsigned n = 0;
    while (n < r) {
        cw_server s = owner_walk_next(&w);
        if (s == CW_SERVER_NONE) {
            break;
        }
        out[n++] = s;
    }
    return n;
}

unsigned owner_sequence(const struct torus *t, uint64_t route, unsigned r, cw_server out[])
{
    struct facet_walk w;
    facet_walk_init(&w, t, key_home(t, route), owner_index(t, route));
    unsigned n = 0;
    for (bool more = true; more && n < r; more = facet_walk_next(&w)) {
        out[n++] = facet_walk_server(&w);
    }
    return n;
}

bool owner_moved(const struct torus *t, uint64_t route, const struct reach *before, const struct reach *after)
{
    return owner_root(t, route, before) != owner_root(t, route, after);
}
