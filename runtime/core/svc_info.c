/* SPDX-License-Identifier: Apache-2.0 */
/*
 * svc_info.c - what services ask: where they are, who is there, who owns a key, what else runs here. All of it speaks
 * of the committed view as services were told of it, so that an answer and the events agree.
 */
#include "core/node_internal.h"

#include "keyspace/key.h"
#include "keyspace/owner.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

/* ---- Place ------------------------------------------------------------------------------------------------------- */

cw_coord cw_self(const cw_svc *s)
{
    return s->node->place;
}

cw_dims cw_torus(const cw_svc *s)
{
    return s->node->config.dims;
}

cw_job cw_job_of(const cw_svc *s)
{
    return s->job;
}

bool cw_server_valid(const cw_svc *s, cw_coord c)
{
    return torus_holds(&s->node->torus, c);
}

cw_server cw_server_id(const cw_svc *s, cw_coord c)
{
    const struct torus *t = &s->node->torus;
    return torus_holds(t, c) ? torus_id(t, c) : CW_SERVER_NONE;
}

cw_coord cw_server_coord(const cw_svc *s, cw_server id)
{
    const struct torus *t = &s->node->torus;
    return id < t->servers ? torus_coord(t, id) : (cw_coord){0, 0, 0};
}

unsigned cw_distance(const cw_svc *s, cw_coord a, cw_coord b)
{
    const struct torus *t = &s->node->torus;
    return torus_holds(t, a) && torus_holds(t, b) ? torus_distance(t, torus_id(t, a), torus_id(t, b)) : UINT_MAX;
}

/* ---- Who is there ------------------------------------------------------------------------------------------------ */

bool cw_reachable(const cw_svc *s, cw_coord c)
{
    const struct node *n = s->node;
    return torus_holds(&n->torus, c) && reach_has(&n->told, torus_id(&n->torus, c));
}

size_t cw_servers_reachable(const cw_svc *s)
{
    return s->node->told.members;
}

bool cw_in_majority(const cw_svc *s)
{
    return s->node->told.members > s->node->torus.servers / 2;
}

size_t cw_servers_within(const cw_svc *s, unsigned links)
{
    return ls_within(s->node->ls, links);
}

cw_links cw_links_to(const cw_svc *s, cw_coord c)
{
    struct node *n = s->node;
    return torus_holds(&n->torus, c) ? ls_next_hops(n->ls, torus_id(&n->torus, c)) : CW_LINKS_NONE;
}

int cw_link_get(const cw_svc *s, cw_link link, cw_link_info *out)
{
    const struct node *n = s->node;
    if (link >= CW_LINK_COUNT || out == NULL || out->size < sizeof *out) {
        return -EINVAL;
    }
    if (!(n->cabled & cw_links_of(link))) {
        return -ENODEV;
    }
    out->up = ls_live_links(n->ls) & cw_links_of(link);
    out->neighbour = n->neighbour[link];
    out->bits_per_second = n->config.bits_per_second;
    out->queued_packets = packetq_count(&s->main.queue, link);
    out->queued_packets += s->background != NULL ? packetq_count(&s->background->queue, link) : 0;
    return 0;
}

/* ---- Keys -------------------------------------------------------------------------------------------------------- */

cw_key cw_key_of(const cw_svc *s, const void *name, size_t length)
{
    return key_of_name(s->job, name, name != NULL ? length : 0);
}

cw_key cw_key_at(const cw_svc *s, cw_coord home, uint64_t w)
{
    const struct torus *t = &s->node->torus;
    cw_key key = {{0}};
    if (torus_holds(t, home)) {
        cw_server id = torus_id(t, home);
        uint64_t last = key_last(t, id) - key_first(t, id);
        int rc = key_at(t, id, last == UINT64_MAX ? w : w % (last + 1), &key);
        (void)rc; /* w is inside the range */
    }
    return key;
}

int cw_servers_for_key(const cw_svc *s, const cw_key *key, unsigned r, cw_coord *out)
{
    const struct node *n = s->node;
    if (key == NULL || out == NULL) {
        return -EINVAL;
    }
    struct owner_walk walk;
    owner_walk_init(&walk, &n->torus, key_route64(key), &n->told);
    unsigned found = 0;
    for (cw_server id; found < r && found < INT_MAX && (id = owner_walk_next(&walk)) != CW_SERVER_NONE; found++) {
        out[found] = torus_coord(&n->torus, id);
    }
    return (int)found;
}

bool cw_is_root(const cw_svc *s, const cw_key *key)
{
    return key != NULL && node_is_root(s->node, key_route64(key));
}

bool cw_key_moved(const cw_svc *s, const cw_key *key, uint64_t since_epoch)
{
    const struct node *n = s->node;
    if (key == NULL) {
        return true;
    }
    uint64_t route = key_route64(key);
    return changes_moved(&n->changes, &n->torus, route, owner_root(&n->torus, route, &n->told), since_epoch);
}

bool cw_key_steady(const cw_svc *s, const cw_key *key, uint64_t since_epoch)
{
    const struct node *n = s->node;
    if (key == NULL || !ls_serving(n->ls, n->now)) {
        return false;
    }
    uint64_t route = key_route64(key);
    cw_server root = owner_root(&n->torus, route, &n->told);
    const struct reach *feared = ls_optimistic(n->ls);
    return root != CW_SERVER_NONE &&
           (feared->members == n->told.members || owner_root(&n->torus, route, feared) == root) &&
           !changes_moved(&n->unrest, &n->torus, route, root, since_epoch);
}

bool cw_gone(const cw_svc *s, cw_coord c)
{
    const struct node *n = s->node;
    return !torus_holds(&n->torus, c) || !reach_has(ls_optimistic(n->ls), torus_id(&n->torus, c));
}

cw_span cw_hold(const cw_svc *s)
{
    return s->node->config.timers.hold;
}

uint64_t cw_epoch(const cw_svc *s)
{
    return s->node->seen_epoch;
}

/* ---- Neighbours in the same server, operators -------------------------------------------------------------------- */

const void *cw_find(cw_svc *s, const char *name, unsigned version, cw_svc **peer)
{
    const struct node *n = s->node;
    if (s->guest != NULL) {
        return NULL; /* its host has found what there is */
    }
    const void *object = name != NULL && s->job < NODE_JOBS_LOADED ? node_object(n, name, version) : NULL;
    if (object != NULL) {
        if (peer != NULL) {
            *peer = NULL;
        }
        return object;
    }
    uint64_t all = name != NULL ? n->services : 0;
    for (struct cw_svc *svc; (svc = node_next_service(n, &all)) != NULL;) {
        if (!svc->closing && svc->table->exports != NULL && svc->table->exports_version == version &&
            strcmp(svc->table->name, name) == 0) {
            if (peer != NULL) {
                *peer = svc;
            }
            svc->found_by |= svc == s ? 0 : place_bit(s->index);
            return svc->table->exports;
        }
    }
    return NULL;
}

const char *cw_option(const cw_svc *s, const char *name)
{
    const struct node_env *env = &s->node->env;
    return env->option != NULL && name != NULL ? env->option(env->option_context, s->table->name, name) : NULL;
}

void *cw_state(cw_svc *s)
{
    return s->state;
}

cw_counter *cw_counter_new(cw_svc *s, const char *name, const char *help)
{
    cw_counter *c = counters_get(&s->counters, name, help);
    if (c == &s->counters.overflow) {
        node_misuse(s, "cw_counter_new: the name is bad, or there are 63 already: it counts as \"overflow\"");
    }
    return c;
}

void cw_counter_add(cw_counter *c, uint64_t n)
{
    if (c != NULL) {
        c->value += n;
    }
}

cw_histogram *cw_histogram_new(cw_svc *s, const char *name, const char *help)
{
    return histograms_get(&s->histograms, name, help);
}

void cw_histogram_note(cw_histogram *h, cw_span took)
{
    if (h != NULL) {
        histogram_note(&h->times, took.ns);
    }
}

uint64_t cw_histogram_count(const cw_histogram *h)
{
    return h != NULL ? h->times.count : 0;
}

cw_span cw_histogram_quantile(const cw_histogram *h, unsigned permille)
{
    return CW_NS(h != NULL ? histogram_quantile(&h->times, permille <= 1000 ? permille : 1000) : 0);
}

void cw_log(cw_svc *s, cw_level level, const char *text)
{
    const struct node_watch *watch = &s->node->env.watch;
    if (watch->log != NULL && text != NULL && level >= CW_LOG_ERROR && level <= CW_LOG_DEBUG) {
        watch->log(watch->context, s->node, level, s->table->name, text, s->node->now);
    }
}
