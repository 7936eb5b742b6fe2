/* SPDX-License-Identifier: Apache-2.0 */
#include "services/kvcache/data/items.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    USES_MAX = 3,
    SMALL_SHARE = 10,      /* the small queue has a tenth of all bytes, as in the paper */
    MALLOC_BYTES = 16,     /* about what an allocation costs beside its bytes */
    CHAINS_LEAST = 1024,   /* a power of two */
    MOVED_AT_ONCE = 4,     /* chains that one call moves while the table grows */
    GHOST_ITEM_BYTES = 512 /* one mark for so many bytes of the limit: about as many marks as small values */
};

static size_t cost_of(size_t key_length, size_t length)
{
    return sizeof(struct item) + key_length + length + MALLOC_BYTES;
}

size_t item_cost(const struct item *i)
{
    return cost_of(i->key_length, i->length);
}

/* Ids are hashes: all of their bits are equally good, except that the last 64 route, and so are alike on one server. */
static uint64_t hash_of(const cw_key *id)
{
    uint64_t h;
    memcpy(&h, id->b, sizeof(h));
    return h;
}

static struct item_queue *queue_of(struct items *t, const struct item *i)
{
    return i->main ? &t->main : &t->small;
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

static struct item **chain_of(struct items *t, uint64_t hash)
{
    if (t->old != NULL && (hash & t->old_mask) >= t->moved) {
        return &t->old[hash & t->old_mask];
    }
    return &t->chain[hash & t->mask];
}

static void move_chains(struct items *t)
{
    for (unsigned n = 0; t->old != NULL && n < MOVED_AT_ONCE; n++) {
        struct item *next;
        for (struct item *i = t->old[t->moved]; i != NULL; i = next) {
            next = i->chain;
            struct item **to = &t->chain[hash_of(&i->id) & t->mask];
            i->chain = *to;
            *to = i;
        }
        if (t->moved++ == t->old_mask) {
            free(t->old);
            t->old = NULL;
        }
    }
}

/* Doubles the chains when there are more items than chains. Without memory for that the chains get longer. */
static void grow(struct items *t)
{
    if (t->old != NULL || t->count <= t->mask) {
        return;
    }
    size_t chains = 2 * (t->mask + 1);
    struct item **wider = calloc(chains, sizeof(struct item *));
    if (wider == NULL) {
        return;
    }
    t->old = t->chain;
    t->old_mask = t->mask;
    t->moved = 0;
    t->chain = wider;
    t->mask = chains - 1;
}

static bool same(const struct item *i, const struct item_name *name)
{
    return i->job == name->job && i->key_length == name->key_length && memcmp(&i->id, &name->id, sizeof(i->id)) == 0 &&
           memcmp(i->bytes, name->key, name->key_length) == 0;
}

static struct item *look_up(struct items *t, const struct item_name *name)
{
    struct item *i = *chain_of(t, hash_of(&name->id));
    while (i != NULL && !same(i, name)) {
        i = i->chain;
    }
    return i;
}

/* ---- The queues -------------------------------------------------------------------------------------------------- */

static void enqueue(struct items *t, struct item *i, bool main)
{
    i->main = main;
    struct item_queue *q = queue_of(t, i);
    list_push_back(&q->list, &i->queue);
    q->bytes += item_cost(i);
}

static void dequeue(struct items *t, struct item *i)
{
    struct item_queue *q = queue_of(t, i);
    list_remove(&i->queue);
    q->bytes -= item_cost(i);
}

/* There is one place for each fingerprint: a later mark takes it, and an old mark counts for nothing. */
static void ghost_add(struct items *t, const struct item *i)
{
    uint64_t hash = hash_of(&i->id);
    t->ghost[hash & t->ghost_mask] = (hash & ~UINT64_C(0xffffffff)) | ++t->ghost_clock;
}

static bool ghost_knows(const struct items *t, uint64_t hash)
{
    uint64_t mark = t->ghost[hash & t->ghost_mask];
    return mark != 0 && mark >> 32 == hash >> 32 && t->ghost_clock - (uint32_t)mark <= t->ghost_mask;
}

void items_remove(struct items *t, struct item *i)
{
    struct item **at = chain_of(t, hash_of(&i->id));
    while (*at != i) {
        at = &(*at)->chain;
    }
    *at = i->chain;
    dequeue(t, i);
    t->count--;
    free(i);
}

static void leave(struct items *t, struct item *i, uint64_t *counter)
{
    ++*counter;
    if (t->left != NULL) {
        t->left(t->context, i);
    }
    items_remove(t, i);
}

static bool is_expired(const struct item *i, cw_time now)
{
    return !cw_time_before(now, i->expires);
}

/* The oldest item of the small queue moves to the main queue if it was asked for again, else it goes. */
static void evict_small(struct items *t, struct item *i)
{
    if (i->uses > 1) {
        dequeue(t, i);
        i->uses = 0;
        enqueue(t, i, true);
        return;
    }
    ghost_add(t, i);
    leave(t, i, &t->evicted);
}

/* The oldest item of the main queue goes round once more for each use, else it goes. */
static void evict_main(struct items *t, struct item *i)
{
    if (i->uses > 0) {
        i->uses--;
        list_move_back(&t->main.list, &i->queue);
        return;
    }
    leave(t, i, &t->evicted);
}

static void evict_one(struct items *t, cw_time now)
{
    bool small = list_is_empty(&t->main.list) ||
                 (t->small.bytes >= t->bytes_max / SMALL_SHARE && !list_is_empty(&t->small.list));
    struct list_node *oldest = list_first(small ? &t->small.list : &t->main.list);
    struct item *i = container_of(oldest, struct item, queue);
    if (is_expired(i, now)) {
        leave(t, i, &t->expired);
    } else if (small) {
        evict_small(t, i);
    } else {
        evict_main(t, i);
    }
}

/* ---- What is asked ----------------------------------------------------------------------------------------------- */

const struct item *items_look(struct items *t, const struct item_name *name)
{
    return look_up(t, name);
}

struct item *items_find(struct items *t, const struct item_name *name, cw_time now)
{
    struct item *i = look_up(t, name);
    if (i == NULL) {
        return NULL;
    }
    if (is_expired(i, now)) {
        leave(t, i, &t->expired);
        return NULL;
    }
    if (i->uses < USES_MAX) {
        i->uses++;
    }
    return i;
}

void items_renew(struct items *t, struct item *i)
{
    dequeue(t, i);
    i->expires = CW_NEVER;
    i->cas = i->epoch = 0;
    i->flags = i->stamp = 0;
    i->marks = 0;
    enqueue(t, i, i->main);
}

struct item *items_new(const struct items *t, const struct item_name *name, size_t length)
{
    if (length > UINT32_MAX || cost_of(name->key_length, length) > t->bytes_max / 2) {
        return NULL;
    }
    struct item *i = malloc(sizeof(struct item) + name->key_length + length);
    if (i == NULL) {
        return NULL;
    }
    *i = (struct item){.id = name->id,
                       .expires = CW_NEVER,
                       .job = name->job,
                       .length = (uint32_t)length,
                       .key_length = name->key_length};
    memcpy(i->bytes, name->key, name->key_length);
    return i;
}

void items_place(struct items *t, struct item *i, cw_time now)
{
    struct item_name name = {.id = i->id, .job = i->job, .key = i->bytes, .key_length = i->key_length};
    struct item *before = look_up(t, &name);
    bool main = before != NULL ? before->main : ghost_knows(t, hash_of(&i->id));
    i->uses = before != NULL ? before->uses : 0;
    if (before != NULL) {
        items_remove(t, before);
    }
    while (items_bytes(t) + item_cost(i) > t->bytes_max && t->count > 0) {
        evict_one(t, now);
    }
    struct item **chain = chain_of(t, hash_of(&i->id));
    i->chain = *chain;
    *chain = i;
    enqueue(t, i, main);
    t->count++;
    grow(t);
    move_chains(t);
}

static size_t sweep_queue(struct items *t, struct list *list, bool (*goes)(void *context, const struct item *i),
                          void *context)
{
    size_t gone = 0;
    struct list_node *next;
    for (struct list_node *n = list_first(list); n != NULL; n = next) {
        next = list_next(list, n);
        struct item *i = container_of(n, struct item, queue);
        if (goes(context, i)) {
            items_remove(t, i);
            gone++;
        }
    }
    return gone;
}

size_t items_sweep(struct items *t, bool (*goes)(void *context, const struct item *i), void *context)
{
    return sweep_queue(t, &t->small.list, goes, context) + sweep_queue(t, &t->main.list, goes, context);
}

bool items_sweep_some(struct items *t, size_t *cursor, size_t chains, bool (*goes)(void *context, struct item *i),
                      void *context)
{
    while (t->old != NULL) {
        move_chains(t);
    }
    for (; chains > 0 && *cursor <= t->mask; chains--, ++*cursor) {
        struct item *next;
        for (struct item *i = t->chain[*cursor]; i != NULL; i = next) {
            next = i->chain;
            if (goes(context, i)) {
                items_remove(t, i);
            }
        }
    }
    if (*cursor <= t->mask) {
        return false;
    }
    *cursor = 0;
    return true;
}

size_t items_bytes(const struct items *t)
{
    size_t chains = t->mask + 1 + (t->old != NULL ? t->old_mask + 1 : 0);
    return t->small.bytes + t->main.bytes + chains * sizeof(struct item *) + (t->ghost_mask + 1) * sizeof(*t->ghost);
}

/* ---- Life -------------------------------------------------------------------------------------------------------- */

int items_open(struct items *t, size_t bytes_max)
{
    *t = (struct items){.bytes_max = bytes_max, .mask = CHAINS_LEAST - 1};
    if (bytes_max < ITEMS_BYTES_LEAST) {
        return -EINVAL;
    }
    size_t marks = CHAINS_LEAST;
    while (marks < bytes_max / GHOST_ITEM_BYTES) {
        marks *= 2;
    }
    t->ghost_mask = marks - 1;
    list_init(&t->small.list);
    list_init(&t->main.list);
    t->chain = calloc(CHAINS_LEAST, sizeof(struct item *));
    t->ghost = calloc(marks, sizeof(*t->ghost));
    if (t->chain == NULL || t->ghost == NULL) {
        items_close(t);
        return -ENOMEM;
    }
    return 0;
}

static bool every(void *context, const struct item *i)
{
    (void)context;
    (void)i;
    return true;
}

void items_close(struct items *t)
{
    if (t->chain != NULL && t->ghost != NULL) {
        items_sweep(t, every, NULL);
    }
    free(t->old);
    free(t->chain);
    free(t->ghost);
    *t = (struct items){.mask = 0};
}
