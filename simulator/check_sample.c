/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_sample.c - a random key, asked of everybody.
 */
#include "simulator/check_internal.h"

#include "keyspace/facet.h"
#include "keyspace/key.h"
#include "keyspace/owner.h"

#include <string.h>

enum { WORD = 64 };

cw_server check_naive_root(struct check *c, uint64_t route, const struct reach *reach)
{
    static const uint8_t axes[FACET_ORDERS][CW_AXES] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                                        {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    struct world *w = c->world;
    unsigned __int128 product = (unsigned __int128)route * w->servers;
    uint64_t offset = (uint64_t)product / w->servers;
    unsigned index = (unsigned)(offset % FACET_SEQUENCES), facet = index / FACET_ORDERS;
    const uint8_t *order = axes[index % FACET_ORDERS];
    uint32_t count = 0;
    memset(c->visited, 0, reach_bytes(w->servers));
    cw_server home = (cw_server)(product >> 64);
    c->order[count++] = home;
    c->visited[home / WORD] |= UINT64_C(1) << (home % WORD);
    for (uint32_t i = 0; i < count; i++) {
        cw_server s = c->order[i];
        if (reach_has(reach, s)) {
            return s;
        }
        for (unsigned k = 0; k < CW_AXES; k++) {
            unsigned axis = order[k];
            cw_link link = (cw_link)(2 * axis + (facet >> axis & 1));
            cw_server far = torus_neighbour(&w->torus, s, link);
            if (!(c->visited[far / WORD] >> (far % WORD) & 1)) {
                c->visited[far / WORD] |= UINT64_C(1) << (far % WORD);
                c->order[count++] = far;
            }
        }
    }
    return CW_SERVER_NONE;
}

/* The right to deliver, as the node of s would find it now. */
static bool may_deliver(const struct world *w, cw_server s, uint64_t route)
{
    const struct sim_server *h = &w->server[s];
    if (h->state != WORLD_RUNS) {
        return false;
    }
    struct linkstate *ls = node_linkstate(h->node);
    return ls_serving(ls, pump_local(w, h)) && owner_root(&w->torus, route, ls_optimistic(ls)) == s;
}

cw_server check_rival(struct check *c, uint64_t route, cw_server s)
{
    struct world *w = c->world;
    cw_server island = oracle_island(&w->oracle, s);
    const struct linkstate *ls = node_linkstate(w->server[s].node);
    const struct reach *mates = ls_committed(ls);
    for (cw_server other = reach_next(mates, 0); other != CW_SERVER_NONE; other = reach_next(mates, other + 1)) {
        const struct record *known = ls_record(ls, other);
        bool same_life = known != NULL && known->incarnation == w->oracle.incarnation[other];
        if (other != s && same_life && may_deliver(w, other, route) && oracle_island(&w->oracle, other) == island) {
            return other;
        }
    }
    return CW_SERVER_NONE;
}

/* Invariant 5. Every second key is one whose home is not what it was: there mistakes live. */
static void check_permission(struct check *c)
{
    struct world *w = c->world;
    uint64_t route = prng_next(&c->random);
    if (route & 1) {
        cw_server start = (cw_server)prng_below(&c->random, w->servers);
        for (uint32_t i = 0; i < w->servers; i++) {
            cw_server home = (start + i) % w->servers;
            if (!w->oracle.active[home] || oracle_links(&w->oracle, home) != w->links) {
                route = key_first(&w->torus, home) + prng_below(&c->random, FACET_SEQUENCES);
                break;
            }
        }
    }
    cw_server holder = CW_SERVER_NONE;
    for (cw_server s = 0; s < w->servers; s++) {
        if (!may_deliver(w, s, route)) {
            continue;
        }
        if (holder != CW_SERVER_NONE && oracle_component(&w->oracle, holder) == oracle_component(&w->oracle, s)) {
            check_violated(w, 5, 2, (cw_server[]){holder, s}, "both servers named may deliver key %016llx",
                           (unsigned long long)route);
            return;
        }
        holder = s;
    }
}

/* Invariant 2. */
static void check_roots(struct check *c)
{
    struct world *w = c->world;
    cw_server s = (cw_server)prng_below(&c->random, w->servers);
    uint64_t route = prng_next(&c->random);
    if (w->server[s].state == WORLD_DEAD) {
        return;
    }
    const struct reach *committed = ls_committed(w->server[s].linkstate);
    cw_server fast = owner_root(&w->torus, route, committed), slow = check_naive_root(c, route, committed);
    if (fast != slow) {
        check_violated(w, 2, 1, &s, "the root of key %016llx is not the one of the reference",
                       (unsigned long long)route);
    }
}

void check_sample(struct check *c)
{
    c->world->totals.checks += 2;
    check_roots(c);
    check_permission(c);
}
