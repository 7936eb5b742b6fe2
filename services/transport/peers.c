/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peers.c - who is remembered: a table of bounded size. An idle peer makes room for a new one; both ends then begin a
 * new association, so that nothing is taken twice for having been forgotten.
 */
#include "services/transport/internal.h"

#include <stdlib.h>

static uint32_t bucket_of(const struct transport *t, struct peer_name name)
{
    uint64_t last = (uint64_t)name.background << 16 | name.port;
    uint64_t mixed = ((uint64_t)name.job << 32 | name.process) * UINT64_C(0x9e3779b97f4a7c15) + last;
    mixed ^= mixed >> 29;
    mixed *= UINT64_C(0xbf58476d1ce4e5b9);
    return (uint32_t)(mixed >> 32) & (t->buckets - 1);
}

static bool is_named(const struct peer *p, struct peer_name name)
{
    return p->process == name.process && p->job == name.job && p->port == name.port && p->background == name.background;
}

struct peer *peer_find(const struct transport *t, struct peer_name name)
{
    struct peer *p = t->bucket[bucket_of(t, name)];
    while (p != NULL && !is_named(p, name)) {
        p = p->next;
    }
    return p;
}

bool peer_idle(const struct peer *p)
{
    return list_is_empty(&p->waiting) && list_is_empty(&p->ready) && list_is_empty(&p->sent) &&
           list_is_empty(&p->starved) && list_is_empty(&p->awaiting) && list_is_empty(&p->incoming) &&
           p->flight.out == 0 && p->ack_due.ns == INT64_MAX;
}

/* Forgets the peer that was idle longest. */
static bool forget_one(struct transport *t)
{
    for (struct list_node *node = list_first(&t->age); node != NULL; node = list_next(&t->age, node)) {
        struct peer *p = container_of(node, struct peer, age);
        bool known = p->in_open || p->in_pending; /* the peer may rely on what we remember (rule 13) */
        bool quiet = !known || cw_time_since(t->now, p->used).ns >= PEER_QUIET.ns;
        if (quiet && peer_idle(p) && !list_is_linked(&p->touched)) {
            t->stats.forgotten++;
            peer_free(t, p);
            return true;
        }
    }
    return false;
}

struct peer *peer_get(struct transport *t, struct peer_name name, cw_coord server)
{
    struct peer *p = peer_find(t, name);
    if (p != NULL) {
        p->server = server;
        return p;
    }
    if (t->stats.peers >= t->config.peers_max && !forget_one(t)) {
        return NULL;
    }
    p = calloc(1, sizeof *p);
    if (p == NULL) {
        return NULL;
    }
    p->job = name.job;
    p->process = name.process;
    p->port = name.port;
    p->background = name.background;
    p->server = server;
    p->hello_due = CW_NEVER;
    p->loss_due = CW_NEVER;
    p->ack_due = CW_NEVER;
    p->patience = 1;
    list_init(&p->waiting);
    list_init(&p->ready);
    list_init(&p->sent);
    list_init(&p->starved);
    list_init(&p->awaiting);
    list_init(&p->incoming);
    rtt_init(&p->rtt, t->now);
    p->due = (struct due){.kind = DUE_PEER, .order = ++t->orders};
    uint32_t bucket = bucket_of(t, name);
    p->next = t->bucket[bucket];
    t->bucket[bucket] = p;
    list_push_back(&t->age, &p->age);
    t->stats.peers++;
    return p;
}

cw_place peer_place(const struct peer *p)
{
    return p->background ? CW_PLACE_BACKGROUND : CW_PLACE_MAIN;
}

void peer_touch(struct transport *t, struct peer *p)
{
    p->used = t->now;
    list_move_back(&t->age, &p->age);
    if (!list_is_linked(&p->touched)) {
        list_push_back(&t->touched[peer_place(p)], &p->touched);
    }
}

void peer_free(struct transport *t, struct peer *p)
{
    const struct peer_name name = {p->job, p->process, p->port, p->background};
    struct peer **at = &t->bucket[bucket_of(t, name)];
    while (*at != p) {
        at = &(*at)->next;
    }
    *at = p->next;
    list_remove(&p->age);
    if (list_is_linked(&p->touched)) {
        list_remove(&p->touched);
    }
    if (list_is_linked(&p->parked)) {
        list_remove(&p->parked);
    }
    transport_due(t, &p->due, CW_NEVER);
    flight_close(&p->flight);
    t->stats.peers--;
    free(p);
}

cw_span peer_timeout(const struct transport *t, const struct peer *p)
{
    cw_span wait = rtt_timeout(&p->rtt, t->config.rto_min, t->config.rto_max);
    for (unsigned i = 0; i < p->probes && wait.ns < t->config.rto_max.ns; i++) {
        wait.ns *= 2;
    }
    return wait.ns > t->config.rto_max.ns ? t->config.rto_max : wait;
}

cw_time peer_wake(const struct transport *t, const struct peer *p)
{
    cw_time at = p->ack_due;
    bool unsent = !list_is_empty(&p->waiting) || !list_is_empty(&p->ready);
    if (p->state == PEER_OPEN) {
        at = cw_time_min(at, p->loss_due);
        if (p->flight.out > 0 || !list_is_empty(&p->sent)) {
            at = cw_time_min(at, cw_time_add(p->progress, peer_timeout(t, p)));
        }
    }
    if (unsent && cw_time_before(t->now, p->retry_at)) {
        at = cw_time_min(at, p->retry_at);
    } else if (unsent && p->state == PEER_HELLO) {
        at = cw_time_min(at, p->hello_due);
    }
    for (struct list_node *node = list_first(&p->incoming); node != NULL; node = list_next(&p->incoming, node)) {
        at = cw_time_min(at, cw_time_add(container_of(node, struct incoming, link)->heard, t->config.silence));
    }
    return at;
}

cw_span peer_least(const struct transport *t, const struct peer *p)
{
    cw_span least = rtt_least(&p->rtt);
    cw_link_info info = {.size = sizeof info};
    if (p->idle.ns == 0) {
        return least;
    }
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        if (cw_link_get(t->user, link, &info) == 0 && info.bits_per_second > 0) {
            /* Store and forward: every server on the way has the whole packet before it sends it on. */
            uint64_t each = (uint64_t)t->mtu * 8 * 1000000000 / info.bits_per_second;
            int64_t full = p->idle.ns + (int64_t)(each * cw_distance(t->user, cw_self(t->user), p->server));
            return least.ns == 0 || full < least.ns ? CW_NS(full) : least;
        }
    }
    return least;
}

uint64_t peer_target(const struct transport *t, const struct peer *p)
{
    unsigned links = (unsigned)__builtin_popcount(cw_links_to(t->user, p->server));
    return (uint64_t)t->config.queue_target * (links == 0 ? 1 : links);
}
