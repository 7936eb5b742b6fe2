/* SPDX-License-Identifier: Apache-2.0 */
#include "services/kvcache/data/holders.h"

#include <stdlib.h>
#include <string.h>

static struct held_key **chain_of(struct holders *h, const struct item_name *name)
{
    uint32_t hash;
    memcpy(&hash, name->id.b, sizeof hash);
    return &h->chain[hash & (HOLDERS_CHAINS - 1)];
}

void holders_open(struct holders *h, size_t most)
{
    *h = (struct holders){.most = most};
    list_init(&h->ages);
}

static void release(struct holders *h, struct held_key *k)
{
    struct held_key **at = chain_of(h, &k->name);
    while (*at != k) {
        at = &(*at)->chain;
    }
    *at = k->chain;
    list_remove(&k->by_age);
    h->count--;
    free(k->holder);
    free(k);
}

void holders_close(struct holders *h)
{
    struct list_node *n;
    while ((n = list_first(&h->ages)) != NULL) {
        release(h, container_of(n, struct held_key, by_age));
    }
}

struct held_key *holders_find(struct holders *h, const struct item_name *name)
{
    struct held_key *k = *chain_of(h, name);
    while (k != NULL && (k->name.job != name->job || k->name.key_length != name->key_length ||
                         memcmp(k->name.key, name->key, name->key_length) != 0)) {
        k = k->chain;
    }
    return k;
}

struct held_key *holders_get(struct holders *h, const struct item_name *name)
{
    struct held_key *k = holders_find(h, name);
    if (k != NULL || h->count >= h->most) {
        return k;
    }
    k = calloc(1, sizeof *k + name->key_length);
    if (k == NULL) {
        return NULL;
    }
    memcpy(k->key, name->key, name->key_length);
    k->name = *name;
    k->name.key = k->key;
    list_init(&k->writes);
    struct held_key **chain = chain_of(h, name);
    k->chain = *chain;
    *chain = k;
    list_push_back(&h->ages, &k->by_age);
    h->count++;
    return k;
}

struct holder *holders_at(struct held_key *k, cw_server server)
{
    for (unsigned i = 0; i < k->count; i++) {
        if (k->holder[i].server == server) {
            return &k->holder[i];
        }
    }
    return NULL;
}

bool holders_register(struct holders *h, struct held_key *k, cw_server server, cw_time now)
{
    struct holder *at = holders_at(k, server);
    if (at == NULL && k->count == k->room) {
        unsigned room = k->room == 0 ? 4 : 2 * k->room;
        struct holder *more = realloc(k->holder, room * sizeof *more);
        if (more == NULL) {
            return false;
        }
        k->holder = more;
        k->room = room;
    }
    if (at == NULL) {
        at = &k->holder[k->count++];
    }
    *at = (struct holder){.server = server, .stamp = ++h->stamps, .since = now};
    k->latest = now;
    list_move_back(&h->ages, &k->by_age);
    return true;
}

void holders_drop(struct held_key *k, struct holder *at)
{
    *at = k->holder[--k->count];
}

void holders_put(struct holders *h, struct held_key *k)
{
    if (k->count == 0 && !k->busy && list_is_empty(&k->writes)) {
        release(h, k);
    }
}

void holders_expire(struct holders *h, cw_time before)
{
    struct list_node *next;
    for (struct list_node *n = list_first(&h->ages); n != NULL; n = next) {
        next = list_next(&h->ages, n);
        struct held_key *k = container_of(n, struct held_key, by_age);
        if (!cw_time_before(k->latest, before)) {
            return;
        }
        if (!k->busy && list_is_empty(&k->writes)) {
            k->count = 0;
            release(h, k);
        }
    }
}
