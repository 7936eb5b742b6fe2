/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copies.c - copies of hot values at extra keys (CamCubeOS 5.1): e_j = H(memId, j). The root of e_j keeps a copy for
 * the servers that are nearer to it than to the root of the key.
 *
 * A copy is served only while its root has been, without a break since the copy was asked for, the root in one life, in
 * view, with nobody about to take its place, and while this server's lease holds (kvcache rules 4 to 8;
 * cw_key_steady()). It is dropped when the root takes it back, and is at most limits.age old.
 */
#include "services/kvcache/copies.h"

#include "services/kvcache/authority.h"
#include "services/kvcache/common.h"
#include "services/kvcache/reader.h"
#include "services/kvcache/sweep.h"

#include <limits.h>
#include <string.h>

static bool is_good(struct kvcache *k, const struct item *i)
{
    if (KV_MUTANT(KEEPS_MOVED_COPIES)) {
        return kv_serving(k);
    }
    if (KV_MUTANT(NO_LEASE) && !kv_serving(k)) {
        return true;
    }
    return kv_steady(k, &i->id, i->epoch);
}

struct item *copies_value(struct kvcache *k, const struct item_name *name)
{
    struct item *i = items_find(&k->copies, name, cw_now(k->svc));
    if (i != NULL && i->stamp != k->generation) {
        items_remove(&k->copies, i);
        return NULL;
    }
    if (i != NULL && !is_good(k, i)) {
        items_remove(&k->copies, i);
        kv_count(k, KV_COUNT_MOVED);
        return NULL;
    }
    return i;
}

static struct list *chain_of(struct kvcache *k, const cw_key *id)
{
    return &k->fetches[id->b[0] % KV_FETCH_CHAINS];
}

static bool is_of(const struct question *q, const struct item_name *name)
{
    return q->r.job == name->job && q->r.key_length == name->key_length &&
           memcmp(q->r.key, name->key, name->key_length) == 0;
}

struct question *copies_fetch_of(struct kvcache *k, const cw_key *id, const struct kv_request *r)
{
    struct list *chain = chain_of(k, id);
    struct item_name name = kv_name(id, r);
    for (struct list_node *n = list_first(chain); n != NULL; n = list_next(chain, n)) {
        struct question *q = container_of(n, struct question, fetch);
        /* The value that a poisoned fetch brings may be older than the question that would join it (kvcache rule 2). */
        if (is_of(q, &name) && q->generation == k->generation && (!q->poisoned || KV_MUTANT(JOIN_POISONED))) {
            return q;
        }
    }
    return NULL;
}

void copies_fetch_began(struct kvcache *k, struct question *q)
{
    list_push_back(chain_of(k, &q->id), &q->fetch);
    q->generation = k->generation;
    kv_count(k, KV_COUNT_FETCHES);
}

/*
 * kvcache rule 2: the copy goes; a value on its way may be given to the question that asked for it, and is never kept.
 */
void copies_drop(struct kvcache *k, const struct item_name *name)
{
    struct list *chain = chain_of(k, &name->id);
    for (struct list_node *n = list_first(chain); n != NULL; n = list_next(chain, n)) {
        struct question *q = container_of(n, struct question, fetch);
        if (is_of(q, name) && !q->poisoned && !KV_MUTANT(NO_POISON)) {
            q->poisoned = true;
            kv_count(k, KV_COUNT_POISONED);
        }
    }
    struct item *i = items_find(&k->copies, name, cw_now(k->svc));
    if (i != NULL) {
        items_remove(&k->copies, i);
    }
}

void copies_forget(struct kvcache *k)
{
    k->generation++;
    sweep_begin(k);
}

bool copies_fetched(struct kvcache *k, struct question *q, const struct kv_answer *answer, cw_server from)
{
    cw_svc *s = k->svc;
    cw_coord root;
    bool ours = cw_servers_for_key(s, &q->id, 1, &root) == 1 && cw_server_id(s, root) == from;
    if (!answer->copyable || q->poisoned || q->generation != k->generation || answer->status != KV_OK || !ours ||
        (!kv_steady(k, &q->id, q->epoch) && !KV_MUTANT(KEEPS_MOVED_COPIES))) {
        return false;
    }
    struct item_name name = kv_name(&q->id, &q->r);
    cw_time now = cw_now(s), expires = cw_time_add(q->begun, k->limits.age);
    if (answer->left.ns > 0) {
        expires = cw_time_min(expires, cw_time_add(q->begun, answer->left));
    }
    if (cw_time_due(expires, now)) {
        return false; /* it was on its way for so long that questions which joined it late may not have it */
    }
    struct item *i = items_new(&k->copies, &name, answer->length);
    if (i == NULL) {
        return true; /* a good value, but there is no room to keep it */
    }
    if (answer->length > 0) {
        memcpy(item_value(i), answer->value, answer->length);
    }
    i->flags = answer->flags;
    i->cas = answer->cas;
    i->epoch = q->epoch;
    i->stamp = q->generation;
    i->expires = expires;
    items_place(&k->copies, i, now);
    return true;
}

static cw_key extra_key(struct kvcache *k, const cw_key *id, unsigned j)
{
    uint8_t name[CW_KEY_BYTES + 1];
    memcpy(name, id->b, CW_KEY_BYTES);
    name[CW_KEY_BYTES] = (uint8_t)j;
    return cw_key_of(k->svc, name, sizeof name);
}

/*
 * In a small torus most readers are equally far from several places. If all these readers went to the root, it would
 * keep twice its share of a hot key's reads; so one of the places is drawn for each read. (If each reader stayed with
 * one place, the shares would be as uneven as chance makes them for a few readers.) A server that has two of the places
 * counts once.
 */
unsigned copies_choose(struct kvcache *k, const cw_key *id, cw_key *key, cw_server *at)
{
    cw_svc *s = k->svc;
    cw_key extra[1 + KV_EXTRAS_MOST];
    cw_server place[1 + KV_EXTRAS_MOST];
    unsigned number[1 + KV_EXTRAS_MOST], places = 0, nearest = UINT_MAX;
    for (unsigned j = 0; j <= k->limits.extras && nearest > 0; j++) {
        cw_coord c;
        extra[j] = j == 0 ? *id : extra_key(k, id, j);
        if (cw_servers_for_key(s, &extra[j], 1, &c) != 1) {
            if (j == 0) {
                return 0;
            }
            continue;
        }
        unsigned distance = cw_distance(s, cw_self(s), c);
        cw_server server = cw_server_id(s, c);
        bool known = false;
        for (unsigned i = 0; i < places; i++) {
            known |= place[i] == server;
        }
        if (distance > nearest || known) {
            continue;
        }
        places = distance < nearest ? 0 : places;
        nearest = distance;
        place[places] = server;
        number[places++] = j;
    }
    unsigned drawn = places > 1 ? (unsigned)cw_random_below(s, places) : 0;
    *key = extra[number[drawn]];
    *at = place[drawn];
    return number[drawn];
}

void copies_serve(struct kvcache *k, const struct asker *asker, const struct kv_ask *ask, const cw_key *id)
{
    struct item_name name = kv_name(id, &ask->r);
    const struct item *i = items_look(&k->copies, &name);
    if (i != NULL && asker->kind == ASKER_CALL && !rpc_fits(k, i->length)) {
        struct kv_answer large = {.state = KV_LARGE}; /* asked again by the transport; this ask counts as no use */
        rpc_answer(k, asker, &large);
        return;
    }
    i = copies_value(k, &name);
    if (i == NULL) {
        reader_fetch_for(k, asker, ask, id);
        return;
    }
    struct kv_answer answer = {.state = KV_DONE,
                               .status = KV_OK,
                               .source = KV_FROM_COPY,
                               .flags = i->flags,
                               .cas = i->cas,
                               .value = i->bytes + i->key_length,
                               .length = i->length};
    kv_count(k, KV_COUNT_SERVED_COPY);
    hot_sample(&k->hot, &name, cw_now(k->svc));
    rpc_answer(k, asker, &answer);
}
