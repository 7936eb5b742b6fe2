/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_views.c - what servers know against what they knew, against one another, and against the truth.
 */
#include "simulator/check_internal.h"

#include "keyspace/key.h"
#include "keyspace/owner.h"
#include "wire/record.h"

#include <string.h>

enum { KEYS_TRIED = 4 };

/* ---- Records ----------------------------------------------------------------------------------------------------- */

static struct version version_of(const struct record *r)
{
    return r == NULL ? (struct version){0, 0} : (struct version){r->incarnation, r->seq};
}

/* What s says of itself now. */
static void see_own(struct check *c, cw_server s)
{
    struct node *n = c->world->server[s].node;
    if (n == NULL) {
        return;
    }
    struct version own = version_of(ls_record(node_linkstate(n), s));
    if (version_before(own, c->newest[s])) {
        check_violated(c->world, 13, 1, &s, "a server's own record went back");
        return;
    }
    c->newest[s] = own;
}

/*
 * Invariants 13 and 14, for the origins that are followed: all of them, or those whose turn it is. 14 is not promised
 * where corrupted frames get through and there is no cluster key: a bit that flips in a record makes a record which its
 * origin never made, and nothing in the frame says so (semantics 7.5). No simulated world has a cluster key.
 */
static void check_versions(struct check *c, cw_server s)
{
    struct linkstate *ls = node_linkstate(c->world->server[s].node);
    see_own(c, s);
    uint32_t looks = c->world->servers <= CHECK_ALL_SERVERS ? c->origins : CHECK_ORIGINS_EACH;
    for (; looks > 0; looks--) {
        uint32_t i = c->turn;
        c->turn = i + 1 < c->origins ? i + 1 : 0;
        cw_server origin = c->origin[i];
        struct version held = version_of(ls_record(ls, origin));
        struct version *before = &c->known[s].version[i];
        if (version_before(held, *before)) {
            check_violated(c->world, 13, 2, (cw_server[]){s, origin},
                           "the first server named went back to an older record of the second");
        }
        *before = held;
        if (version_before(c->newest[origin], held)) {
            see_own(c, origin);
        }
        if (version_before(c->newest[origin], held) && !c->world->config.corrupt_passes) {
            check_violated(c->world, 14, 2, (cw_server[]){s, origin},
                           "the first server named holds a record that the second never made");
        }
    }
    c->world->totals.checks += 2;
}

/* ---- Views ------------------------------------------------------------------------------------------------------- */

/* Invariant 15: data goes only over links that both records list, with incarnations as they are now. */
static void check_links(struct check *c, cw_server s)
{
    struct world *w = c->world;
    struct linkstate *ls = w->server[s].linkstate;
    const struct record *own = ls_record(ls, s);
    for (cw_links up = ls_up_links(ls); up != CW_LINKS_NONE; up &= (cw_links)(up - 1)) {
        cw_link link = (cw_link)__builtin_ctz(up), back = cw_link_opposite(link);
        cw_server far = w->neighbours[(size_t)s * CW_LINK_COUNT + link];
        const struct record *other = ls_record(ls, far);
        bool sound = own != NULL && other != NULL && (own->up & cw_links_of(link)) && (other->up & cw_links_of(back)) &&
                     own->neighbour[link] == (uint16_t)other->incarnation &&
                     other->neighbour[back] == (uint16_t)own->incarnation;
        if (!sound) {
            check_violated(w, 15, 2, (cw_server[]){s, far},
                           "the first server named sends data over link %u, which the records do not both list", link);
        }
    }
}

/* Invariant 6. */
static void check_subset(struct check *c, cw_server s)
{
    struct linkstate *ls = node_linkstate(c->world->server[s].node);
    const struct reach *committed = ls_committed(ls), *optimistic = ls_optimistic(ls);
    for (uint32_t i = 0; i < reach_bytes(committed->servers) / sizeof(uint64_t); i++) {
        uint64_t missing = committed->word[i] & ~optimistic->word[i];
        if (missing != 0) {
            cw_server who = i * 64 + (cw_server)__builtin_ctzll(missing);
            check_violated(c->world, 6, 2, (cw_server[]){s, who},
                           "the first server named has the second in C and not in O");
            return;
        }
    }
}

/* Invariant 3, for random keys: a root changes only when the old one left or the new one came. */
static void check_moves(struct check *c, cw_server s, const struct reach *before, const struct reach *after)
{
    struct world *w = c->world;
    for (unsigned i = 0; i < KEYS_TRIED; i++) {
        uint64_t route = prng_next(&c->random);
        cw_server old = owner_root(&w->torus, route, before), now = owner_root(&w->torus, route, after);
        if (old == now || old == CW_SERVER_NONE || now == CW_SERVER_NONE) {
            continue;
        }
        if (reach_has(after, old) && reach_has(before, now)) {
            check_violated(w, 3, 3, (cw_server[]){s, old, now},
                           "in the view of the first server named key %016llx moved between servers that both stayed",
                           (unsigned long long)route);
        }
    }
}

void check_view(struct check *c, cw_server s, bool connected)
{
    struct world *w = c->world;
    struct known *k = &c->known[s];
    struct linkstate *ls = w->server[s].linkstate;
    uint64_t epoch = ls_epoch(ls), digest = ls_digest(ls);
    if (connected) {
        c->connected = true;
        check_disturbed(c);
    }
    if (epoch != k->epoch || digest != k->digest) {
        k->digest = digest;
        check_versions(c, s);
    }
    if (epoch != k->epoch) {
        k->epoch = epoch;
        check_subset(c, s);
        check_links(c, s);
        const struct reach *committed = ls_committed(ls);
        if (!reach_equal(&k->committed, committed)) {
            check_moves(c, s, &k->committed, committed);
            reach_copy(&k->committed, committed);
        }
        w->totals.checks += 3;
    }
    if (c->connected && w->servers <= CHECK_ALL_SERVERS) {
        check_members(c);
    }
}

void check_server(struct check *c, cw_server s)
{
    struct known *k = &c->known[s];
    k->epoch = 0;
    k->digest = 0;
    reach_clear(&k->committed);
    memset(k->version, 0, c->origins * sizeof *k->version);
    c->connected = true;
}

/* ---- Members ----------------------------------------------------------------------------------------------------- */

void check_group(struct check *c)
{
    struct world *w = c->world;
    for (cw_server s = 0; s < w->servers; s++) {
        c->first[s] = CW_SERVER_NONE;
    }
    for (cw_server s = w->servers; s-- > 0;) {
        if (w->oracle.active[s] && w->server[s].state != WORLD_DEAD) {
            cw_server root = oracle_component(&w->oracle, s);
            c->next[s] = c->first[root];
            c->first[root] = s;
        }
    }
}

/* Invariant 7, for one component. */
static void check_component(struct check *c, cw_server first)
{
    struct world *w = c->world;
    reach_clear(&c->group);
    for (cw_server s = first; s != CW_SERVER_NONE; s = c->next[s]) {
        reach_add(&c->group, s);
    }
    for (cw_server s = first; s != CW_SERVER_NONE; s = c->next[s]) {
        const struct reach *optimistic = ls_optimistic(w->server[s].linkstate);
        for (uint32_t i = 0; i < reach_bytes(w->servers) / sizeof(uint64_t); i++) {
            uint64_t missing = c->group.word[i] & ~optimistic->word[i];
            if (missing != 0) {
                cw_server who = i * 64 + (cw_server)__builtin_ctzll(missing);
                check_violated(w, 7, 2, (cw_server[]){s, who},
                               "the second server named is active and in the component of the first, but not in its O");
                return;
            }
        }
    }
}

void check_members(struct check *c)
{
    struct world *w = c->world;
    c->connected = false;
    c->members_at = w->now;
    w->totals.checks++;
    check_group(c);
    for (cw_server s = 0; s < w->servers; s++) {
        if (c->first[s] != CW_SERVER_NONE && c->next[c->first[s]] != CW_SERVER_NONE) {
            check_component(c, c->first[s]);
        }
    }
}
