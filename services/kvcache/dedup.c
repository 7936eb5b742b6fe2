/* SPDX-License-Identifier: Apache-2.0 */
#include "services/kvcache/dedup.h"

#include "services/kvcache/mutant.h"

#include <errno.h>
#include <stdlib.h>

static struct dedup_write **chain_of(struct dedup *d, const struct dedup_asker *asker, uint64_t number)
{
    uint64_t mix = (asker->instance ^ number * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xbf58476d1ce4e5b9);
    return &d->chain[mix >> 52 & (DEDUP_CHAINS - 1)];
}

void dedup_forget(struct dedup *d, struct dedup_write *w)
{
    struct dedup_write **at = chain_of(d, w->asker, w->number);
    while (*at != w) {
        at = &(*at)->chain;
    }
    *at = w->chain;
    list_remove(&w->of_asker);
    list_remove(&w->by_age);
    d->count--;
    free(w);
}

/* Forgets the writes below the floor that have a result. A write under way is still waited for. */
static void sweep_asker(struct dedup *d, struct dedup_asker *asker)
{
    struct list_node *next;
    for (struct list_node *n = list_first(&asker->writes); n != NULL; n = next) {
        next = list_next(&asker->writes, n);
        struct dedup_write *w = container_of(n, struct dedup_write, of_asker);
        if (w->number >= asker->floor) {
            return; /* writes come about in order: the rest is for the next time */
        }
        if (w->under_way == NULL) {
            dedup_forget(d, w);
        }
    }
}

static void sweep_old(struct dedup *d, cw_time now)
{
    struct list_node *next;
    for (struct list_node *n = list_first(&d->ages); n != NULL; n = next) {
        next = list_next(&d->ages, n);
        struct dedup_write *w = container_of(n, struct dedup_write, by_age);
        if (d->count <= d->most && cw_time_before(now, cw_time_add(w->at, d->life))) {
            return;
        }
        if (w->under_way != NULL) {
            continue;
        }
        if (w->asker->floor <= w->number) {
            w->asker->floor = w->number + 1;
        }
        dedup_forget(d, w);
    }
}

/* The record of an instance. A new one takes the place of the instance that has not written for the longest time. */
static struct dedup_asker *asker_of(struct dedup *d, cw_server server, uint64_t instance)
{
    struct dedup_asker *lives = &d->askers[(size_t)server * DEDUP_LIVES], *oldest = NULL;
    for (unsigned i = 0; i < DEDUP_LIVES; i++) {
        if (lives[i].instance == instance) {
            return &lives[i];
        }
        if (list_is_empty(&lives[i].writes) && (oldest == NULL || lives[i].used < oldest->used)) {
            oldest = &lives[i];
        }
    }
    for (unsigned i = 0; i < DEDUP_LIVES && oldest == NULL; i++) {
        lives[i].floor = UINT64_MAX; /* an old instance: its writes are over, except those under way */
        sweep_asker(d, &lives[i]);
        if (list_is_empty(&lives[i].writes)) {
            oldest = &lives[i];
        }
    }
    if (oldest != NULL) {
        oldest->instance = instance;
        oldest->floor = 0;
    }
    return oldest;
}

enum dedup_known dedup_meet(struct dedup *d, cw_server server, uint64_t instance, uint64_t number, uint64_t floor,
                            cw_time now, struct dedup_write **out)
{
    struct dedup_asker *asker = server < d->servers && instance != 0 ? asker_of(d, server, instance) : NULL;
    *out = NULL;
    if (asker == NULL) {
        return DEDUP_NO_MEMORY;
    }
    asker->used = ++d->clock;
    if (floor > asker->floor) {
        asker->floor = floor;
        sweep_asker(d, asker);
    }
    sweep_old(d, now);
    if (number < asker->floor && !KV_MUTANT(NO_MEMORY)) {
        return DEDUP_OVER;
    }
    struct dedup_write **chain = chain_of(d, asker, number);
    for (struct dedup_write *w = *chain; w != NULL && !KV_MUTANT(NO_MEMORY); w = w->chain) {
        if (w->asker == asker && w->number == number) {
            *out = w;
            return DEDUP_KNOWN;
        }
    }
    struct dedup_write *w = calloc(1, sizeof *w);
    if (w == NULL) {
        return DEDUP_NO_MEMORY;
    }
    w->asker = asker;
    w->number = number;
    w->at = now;
    w->chain = *chain;
    *chain = w;
    list_push_back(&asker->writes, &w->of_asker);
    list_push_back(&d->ages, &w->by_age);
    d->count++;
    *out = w;
    return DEDUP_NEW;
}

int dedup_open(struct dedup *d, uint32_t servers, size_t most, cw_span life)
{
    *d = (struct dedup){.servers = servers, .most = most, .life = life};
    list_init(&d->ages);
    d->askers = calloc((size_t)servers * DEDUP_LIVES, sizeof *d->askers);
    if (d->askers == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < (size_t)servers * DEDUP_LIVES; i++) {
        list_init(&d->askers[i].writes);
    }
    return 0;
}

void dedup_close(struct dedup *d)
{
    struct list_node *n;
    while (d->askers != NULL && (n = list_first(&d->ages)) != NULL) {
        dedup_forget(d, container_of(n, struct dedup_write, by_age));
    }
    free(d->askers);
    d->askers = NULL;
}
