/* SPDX-License-Identifier: Apache-2.0 */
/* root.h - the root's side of a key: root.c. */
#ifndef SERVICES_KVCACHE_ROOT_H
#define SERVICES_KVCACHE_ROOT_H

#include "services/kvcache/internal.h"
#include "services/kvcache/rpc.h"

/* A write that waits until the copies of its key are back. */
struct root_write {
    struct list_node node; /* in held_key.writes */
    struct asker asker;
    struct dedup_write *record; /* NULL: asked for at this server, which does not repeat its own writes */
    uint64_t epoch;             /* when it came */
    cw_time until;              /* after that nobody waits for it */
    struct kv_ask ask;          /* its key and value are in bytes */
    uint8_t bytes[];
};

/* The bytes of memory that a write with that ask counts for while it waits. */
static inline size_t root_write_bytes(const struct kv_ask *ask)
{
    return sizeof(struct root_write) + ask->r.key_length + ask->r.value_length;
}

/*
 * An ask for this server as root of the key, whose memId is id; borrows its bytes. Answers now or later, or not at all
 * when nobody waits.
 */
void root_take(struct kvcache *k, const struct asker *asker, const struct kv_ask *ask, const cw_key *id);
/*
 * What a read asked for at this server, the root, finds. It changes nothing but uses. The answer borrows until the next
 * call.
 */
void root_look(struct kvcache *k, const struct item_name *name, const struct kv_request *r, struct kv_answer *answer);
/* The value here, if there is one that may be served; borrowed until the next call. */
struct item *root_value(struct kvcache *k, const struct item_name *name);
/*
 * A write asked for at this server, the root: done at once, and *answer borrows the value until the next call. False:
 * it has to wait, and nothing was done; a question can wait (root_take()).
 */
bool root_write(struct kvcache *k, const struct item_name *name, const struct kv_request *r, struct kv_answer *answer);
/*
 * To be called when the view has changed, and now and then while writes wait: holders may be gone, and a waiting write
 * may be another root's by now, or over.
 */
void root_review(struct kvcache *k);
/* The question is over: a write of it that waits may still be done, and nobody is answered. */
void root_abandon(struct kvcache *k, const struct question *q);
/* Frees the writes that wait. */
void root_close(struct kvcache *k);

#endif
