/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order.h - the inside of a session: what is asked of the cache, and how its answers get into the order of the
 * commands. A slot is an answer that is due; slots stand in that order; who is first writes to the client, others wait
 * in their slots.
 */
#ifndef SERVICES_KVCACHE_MEMCACHED_ORDER_H
#define SERVICES_KVCACHE_MEMCACHED_ORDER_H

#include "services/kvcache/memcached/answer.h"
#include "services/kvcache/memcached/session.h"

/* One answer that is due: of an operation, or a line that stands behind one. In the order of the commands. */
struct mc_slot {
    struct mc_session *session;
    struct mc_slot *next;
    enum kv_op op; /* KV_OPS: none, or flush_all */
    bool done;     /* what it says is in held */
    bool barrier;  /* nothing passes it */
    struct mc_buffer held;
    struct mc_answer answer;
};

enum mc_state {
    MC_LINE,
    MC_KEYS,    /* in the middle of a get's keys */
    MC_BLOCK,   /* a value comes, piece by piece: of `coming` */
    MC_SWALLOW, /* so many bytes that nobody wants */
};

struct mc_session {
    struct mc_hub *hub;
    void *owner;
    struct mc_slot *head, *tail; /* of the answers that are due */
    unsigned queued, under_way;
    bool inside; /* feed or resume are at work */
    bool closed, over;
    bool failed; /* for want of memory something is lost: nothing more goes out */
    bool
        stuck; /* what it has read must wait for something under way, or for answers to be taken, or for others' turns */
    unsigned steps; /* commands and keys since it was fed or resumed */

    enum mc_state state;
    struct mc_buffer kept;   /* what came and cannot be read yet */
    size_t searched;         /* bytes of it that hold no line's end */
    struct mc_command gets;  /* KEYS: the command */
    struct mc_slot *coming;  /* BLOCK: how it will be answered; its key is the request's */
    struct kv_request write; /* BLOCK */
    uint64_t left;           /* BLOCK, SWALLOW: bytes to come */
    struct mc_buffer block;

    struct mc_buffer out;
    size_t held;    /* bytes in slots */
    size_t counted; /* of out and slots, in hub->answers */
    struct mc_meta meta;
};

/*
 * Gives a slot with an empty answer; NULL: no memory, and the session has failed. Taken by order_begin() or
 * order_push().
 */
struct mc_slot *order_slot(struct mc_session *s);
/* Takes one that is not needed. */
void order_give(struct mc_hub *hub, struct mc_slot *slot);
/* Takes the slot into the order, the last. */
void order_push(struct mc_session *s, struct mc_slot *slot);
void order_set_key(struct mc_slot *slot, const uint8_t *key, size_t length);

/* May an operation on that key begin, as far as order and bounds go? Those that only look pass one another. */
bool order_may_begin(const struct mc_session *s, const uint8_t *key, size_t length, bool looks);
/* Takes the slot, whose answer is set, and asks the cache; borrows the request. */
void order_begin(struct mc_session *s, struct mc_slot *slot, const struct kv_request *r);
/* kv_done_fn of a slot. */
void order_done(void *arg, const struct kv_result *r);
/* The slot is answered with a result, or when rc is below 0 with a refusal. */
void order_settle(struct mc_slot *slot, const struct kv_result *r, int rc);
/* A line that needs nobody, behind what is due. Borrows text for ever. */
void order_line(struct mc_session *s, const char *text);
/* The hub learns how many bytes of answers there are. */
void order_account(struct mc_session *s);
/* The cache has been asked for the session, and has answered or refused. */
void order_began(struct mc_session *s);
void order_ended(struct mc_session *s);
/* Frees a session of which nothing is under way. */
void order_end(struct mc_session *s);

#endif
