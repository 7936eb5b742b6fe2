/* SPDX-License-Identifier: Apache-2.0 */
/* reader.h - the asker's side: a question, from when it is asked at this server to its answer. */
#ifndef SERVICES_KVCACHE_READER_H
#define SERVICES_KVCACHE_READER_H

#include "services/kvcache/internal.h"
#include "services/kvcache/rpc.h"

/* Something asked for at this server, until it is answered. */
struct question {
    struct list_node node;  /* in kvcache.questions, or in kvcache.writes by number */
    struct list_node fetch; /* of a fetch: in its chain; of a follower: in the followers of its fetch */
    struct list followers;  /* of a fetch: questions about the same key, which get the same answer if they may */
    struct kvcache *k;
    kv_done_fn done; /* NULL: proxy is answered */
    void *arg;
    struct asker proxy; /* another server, for which this one fetches */
    cw_key id;
    struct kv_request r;  /* its key and value are in bytes */
    uint64_t number;      /* of a write: another one after each answer "not me" */
    uint64_t epoch;       /* of a fetch: cw_epoch() when it began */
    uint32_t generation;  /* of a fetch: kvcache.generation when it began */
    uint64_t addressed;   /* of a write: the instance that it is meant for; 0: not known yet */
    cw_server target;     /* of a write: where the latest attempt went */
    cw_time begun, until; /* after `until` nobody waits for the answer any more */
    unsigned attempts;
    bool write;    /* by op_reads(): everything that does not only look */
    bool fetches;  /* asks for a copy that this server would keep */
    bool follows;  /* waits for the fetch of another question */
    bool poisoned; /* of a fetch: its key was taken back (kvcache rule 2) */
    bool names;    /* the attempt under way asks for nothing but the instance */
    bool doubt;    /* an attempt went without an answer: the write may have been done (kvcache rule 10) */
    bool bulk;     /* goes by the transport from now on */
    bool direct;   /* goes to the root, not to an extra key */
    bool extra;    /* the latest attempt went to an extra key: place */
    bool stays;    /* the next attempt goes to that extra key, too */
    cw_key place;
    bool finished;         /* is being taken off everything: answers that come now are not for it */
    int64_t call, message; /* under way: the number of one of them, and 0 */
    cw_timer *timer;       /* runs until the next attempt */
    uint8_t bytes[];
};

/* The bytes of memory that a question counts for. */
static inline size_t reader_bytes(const struct kv_request *r)
{
    return sizeof(struct question) + r->key_length + r->value_length;
}

/* As kv_do(), which has checked the request. */
int reader_do(struct kvcache *k, const struct kv_request *r, kv_done_fn done, void *arg);
/* Fetches the value for another server, which is answered in any case. Borrows the ask. */
void reader_fetch_for(struct kvcache *k, const struct asker *asker, const struct kv_ask *ask, const cw_key *id);
/*
 * The attempt that rpc_ask() sent is over: with an answer of the server `from` (status 0), or with an error. q may be
 * gone afterwards.
 */
void reader_replied(struct question *q, int status, const struct kv_answer *answer, cw_server from);
/* The same, when this server is the root. */
void reader_answer(struct question *q, const struct kv_answer *answer);
/* Ends all questions: writes as KV_UNKNOWN, reads as KV_TIMED_OUT. */
void reader_close(struct kvcache *k);

#endif
