/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_quiet.c - no packet is lost without a cause; and when all is quiet, everybody knows what is true.
 */
#include "simulator/check_internal.h"

#include <limits.h>
#include <stdlib.h>

int check_conservation(struct world *w)
{
    struct world_totals t;
    world_totals(w, &t);
    uint64_t in = t.made + t.duplicated, out = t.delivered + t.ended + t.inside + t.flying;
    for (unsigned i = 0; i < CW_DROP_COUNT; i++) {
        out += t.dropped[i];
    }
    for (unsigned i = 0; i < WORLD_LOSSES; i++) {
        out += t.lost[i];
    }
    w->totals.checks++;
    if (in == out || w->config.corrupt_passes) {
        return 0;
    }
    check_violated(
        w, 8, 0, NULL,
        "%llu packets were made or copied, %llu are accounted for (%llu delivered, %llu inside, %llu on wires)",
        (unsigned long long)in, (unsigned long long)out, (unsigned long long)t.delivered, (unsigned long long)t.inside,
        (unsigned long long)t.flying);
    return 1;
}

/* ---- Routes ------------------------------------------------------------------------------------------------------ */

enum { FAR = UINT16_MAX / 4 };

/* Floyd and Warshall, over the links that are up in truth. */
static uint16_t *distances(struct world *w)
{
    size_t n = w->servers;
    uint16_t *d = malloc(n * n * sizeof *d);
    CHECK(d != NULL);
    for (size_t i = 0; i < n * n; i++) {
        d[i] = i / n == i % n ? 0 : FAR;
    }
    for (cw_server s = 0; s < n; s++) {
        for (cw_links up = oracle_links(&w->oracle, s); up != CW_LINKS_NONE; up &= (cw_links)(up - 1)) {
            cw_server far = w->neighbours[(size_t)s * CW_LINK_COUNT + (unsigned)__builtin_ctz(up)];
            d[s * n + far] = far == s ? 0 : 1;
        }
    }
    for (size_t k = 0; k < n; k++) {
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; j < n; j++) {
                unsigned over = d[i * n + k] + d[k * n + j];
                d[i * n + j] = over < d[i * n + j] ? (uint16_t)over : d[i * n + j];
            }
        }
    }
    return d;
}

static bool routes_are_right(struct world *w, const uint16_t *d, cw_server s)
{
    size_t n = w->servers;
    struct linkstate *ls = w->server[s].linkstate;
    cw_links up = oracle_links(&w->oracle, s);
    for (cw_server to = 0; to < n; to++) {
        unsigned hops = d[s * n + to] == FAR ? UINT_MAX : d[s * n + to];
        cw_links next = CW_LINKS_NONE;
        for (cw_links left = up; left != CW_LINKS_NONE; left &= (cw_links)(left - 1)) {
            cw_link link = (cw_link)__builtin_ctz(left);
            cw_server far = w->neighbours[(size_t)s * CW_LINK_COUNT + link];
            if (hops != UINT_MAX && d[far * n + to] + 1u == hops) {
                next |= cw_links_of(link);
            }
        }
        if (ls_hops(ls, to) != hops || ls_next_hops(ls, to) != next) {
            check_violated(
                w, 17, 2, (cw_server[]){s, to},
                "from the first server named to the second it should be %d hops by links %#x, and it knows %d by %#x",
                (int)hops, next, (int)ls_hops(ls, to), ls_next_hops(ls, to));
            return false;
        }
    }
    return true;
}

/* ---- Quiet ------------------------------------------------------------------------------------------------------- */

/* Views and databases of one component. */
static bool agrees(struct check *c, cw_server first)
{
    struct world *w = c->world;
    uint64_t digest = ls_digest(w->server[first].linkstate);
    reach_clear(&c->group);
    for (cw_server s = first; s != CW_SERVER_NONE; s = c->next[s]) {
        reach_add(&c->group, s);
    }
    for (cw_server s = first; s != CW_SERVER_NONE; s = c->next[s]) {
        struct linkstate *ls = w->server[s].linkstate;
        if (ls_digest(ls) != digest) {
            check_violated(w, 17, 2, (cw_server[]){first, s}, "the databases of two connected servers differ at rest");
            return false;
        }
        if (!reach_equal(ls_committed(ls), &c->group) || !reach_equal(ls_optimistic(ls), &c->group)) {
            check_violated(w, 17, 1, &s, "at rest C (%u members) or O (%u) is not the component (%u)",
                           ls_committed(ls)->members, ls_optimistic(ls)->members, c->group.members);
            return false;
        }
    }
    return true;
}

int check_quiet(struct world *w)
{
    struct check *c = w->check;
    if (w->stopped || c == NULL) {
        return w->stopped;
    }
    if (check_conservation(w) != 0) {
        return 1;
    }
    struct world_totals t;
    world_totals(w, &t);
    if (t.inside + t.flying != 0) {
        check_violated(w, 8, 0, NULL, "%llu packets are still inside servers and %llu on wires though all is quiet",
                       (unsigned long long)t.inside, (unsigned long long)t.flying);
        return 1;
    }
    check_group(c);
    for (cw_server s = 0; s < w->servers; s++) {
        if (c->first[s] != CW_SERVER_NONE && !agrees(c, c->first[s])) {
            return 1;
        }
    }
    if (w->servers <= CHECK_ALL_SERVERS) {
        uint16_t *d = distances(w);
        for (cw_server s = 0; s < w->servers && !w->stopped; s++) {
            if (w->oracle.active[s] && w->server[s].state != WORLD_DEAD) {
                (void)routes_are_right(w, d, s);
            }
        }
        free(d);
    }
    check_members(c);
    return w->stopped;
}
