/* SPDX-License-Identifier: Apache-2.0 */
#include "scenario/oracle.h"

#include "base/check.h"
#include "keyspace/facet.h"
#include "keyspace/owner.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int oracle_open(struct oracle *o, const struct torus *torus, const cw_server *neighbours)
{
    size_t n = torus->servers;
    *o = (struct oracle){.torus = torus, .neighbours = neighbours, .changes = 1};
    o->incarnation = calloc(n, sizeof *o->incarnation);
    o->claim = calloc(n * CW_LINK_COUNT, sizeof *o->claim);
    o->cable = malloc(n * sizeof *o->cable);
    o->active = calloc(n, sizeof *o->active);
    o->component = malloc(n * sizeof *o->component);
    o->island = malloc(n * sizeof *o->island);
    o->stack = malloc(n * sizeof *o->stack);
    if (o->incarnation == NULL || o->claim == NULL || o->cable == NULL || o->active == NULL || o->component == NULL ||
        o->island == NULL || o->stack == NULL) {
        oracle_close(o);
        return -ENOMEM;
    }
    memset(o->cable, torus_links(torus), n * sizeof *o->cable);
    return 0;
}

void oracle_close(struct oracle *o)
{
    free(o->incarnation);
    free(o->claim);
    free(o->cable);
    free(o->active);
    free(o->component);
    free(o->island);
    free(o->stack);
    *o = (struct oracle){.torus = NULL};
}

size_t oracle_bytes(const struct oracle *o)
{
    size_t one = sizeof *o->incarnation + CW_LINK_COUNT * sizeof *o->claim + sizeof *o->cable + sizeof *o->active +
                 sizeof *o->component + sizeof *o->island + sizeof *o->stack;
    return o->torus->servers * one;
}

void oracle_runs(struct oracle *o, cw_server s, uint64_t incarnation)
{
    if (o->incarnation[s] == incarnation) {
        return;
    }
    o->changes++;
    o->incarnation[s] = incarnation;
    if (incarnation == 0) {
        o->active[s] = false;
        memset(o->claim + (size_t)s * CW_LINK_COUNT, 0, CW_LINK_COUNT * sizeof *o->claim);
    }
}

void oracle_claims(struct oracle *o, cw_server s, cw_link link, uint64_t incarnation)
{
    uint64_t *claim = &o->claim[(size_t)s * CW_LINK_COUNT + link];
    o->changes += *claim != incarnation;
    *claim = incarnation;
}

void oracle_active(struct oracle *o, cw_server s, bool active)
{
    o->changes += o->active[s] != active;
    o->active[s] = active;
}

void oracle_cable(struct oracle *o, cw_server s, cw_link link, bool works)
{
    cw_links cable = works ? o->cable[s] | cw_links_of(link) : o->cable[s] & (cw_links)~cw_links_of(link);
    o->changes += o->cable[s] != cable;
    o->cable[s] = cable;
}

/* The cable works both ways between servers that run. */
static bool joined(const struct oracle *o, cw_server s, cw_link link, cw_server far)
{
    return (o->cable[s] & cw_links_of(link)) != 0 && (o->cable[far] & cw_links_of(cw_link_opposite(link))) != 0 &&
           o->incarnation[s] != 0 && o->incarnation[far] != 0;
}

static bool up(const struct oracle *o, cw_server s, cw_link link, cw_server far)
{
    return joined(o, s, link, far) && o->claim[(size_t)s * CW_LINK_COUNT + link] == o->incarnation[far] &&
           o->claim[(size_t)far * CW_LINK_COUNT + cw_link_opposite(link)] == o->incarnation[s];
}

cw_links oracle_links(const struct oracle *o, cw_server s)
{
    cw_links links = CW_LINKS_NONE;
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        if (up(o, s, link, o->neighbours[(size_t)s * CW_LINK_COUNT + link])) {
            links |= cw_links_of(link);
        }
    }
    return links;
}

static void search(struct oracle *o, cw_server *group,
                   bool (*edge)(const struct oracle *, cw_server, cw_link, cw_server))
{
    uint32_t n = o->torus->servers;
    for (cw_server s = 0; s < n; s++) {
        group[s] = CW_SERVER_NONE;
    }
    for (cw_server first = 0; first < n; first++) {
        if (group[first] != CW_SERVER_NONE || o->incarnation[first] == 0) {
            continue;
        }
        uint32_t top = 0;
        o->stack[top++] = first;
        group[first] = first;
        while (top > 0) {
            cw_server s = o->stack[--top];
            for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
                cw_server far = o->neighbours[(size_t)s * CW_LINK_COUNT + link];
                if (group[far] == CW_SERVER_NONE && edge(o, s, link, far)) {
                    group[far] = first;
                    o->stack[top++] = far;
                }
            }
        }
    }
}

cw_server oracle_component(struct oracle *o, cw_server s)
{
    if (o->searched != o->changes) {
        o->searched = o->changes;
        search(o, o->component, up);
    }
    return o->component[s];
}

cw_server oracle_island(struct oracle *o, cw_server s)
{
    if (o->searched_cables != o->changes) {
        o->searched_cables = o->changes;
        search(o, o->island, joined);
    }
    return o->island[s];
}

cw_server oracle_precedes(struct oracle *o, uint64_t route, cw_server s)
{
    cw_server home = key_home(o->torus, route);
    if (home == s) {
        return CW_SERVER_NONE;
    }
    struct facet_walk walk;
    facet_walk_init(&walk, o->torus, home, owner_index(o->torus, route));
    for (cw_server u = home; u != s; u = facet_walk_server(&walk)) {
        /* The dead and the inactive, nearly all who are met here, need no search. */
        if (o->active[u] && oracle_component(o, u) == oracle_component(o, s)) {
            return u;
        }
        CHECK(facet_walk_next(&walk));
    }
    return CW_SERVER_NONE;
}

bool oracle_passes_over(const struct oracle *o, uint64_t route, cw_server s, cw_server other)
{
    struct facet_walk walk;
    cw_server home = key_home(o->torus, route);
    facet_walk_init(&walk, o->torus, home, owner_index(o->torus, route));
    for (cw_server u = home; u != other; u = facet_walk_server(&walk)) {
        if (u == s) {
            return true;
        }
        CHECK(facet_walk_next(&walk));
    }
    return false;
}

bool oracle_given_up(struct oracle *o, cw_server s)
{
    const uint64_t *claim = &o->claim[(size_t)s * CW_LINK_COUNT];
    bool believes = false;
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        believes |= claim[link] != 0;
    }
    return believes && oracle_links(o, s) == CW_LINKS_NONE;
}
