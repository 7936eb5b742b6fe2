/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order.h - the inside of a session: what is asked of the cache, and how its answers get into the order of the
 * commands. A slot is an answer that is due; slots stand in the order of the commands. The first slot writes to the
 * client; the others hold their answers until it is their turn.
 */
#ifndef SERVICES_KVCACHE_MEMCACHED_ORDER_H
#define SERVICES_KVCACHE_MEMCACHED_ORDER_H

#include "services/kvcache/memcached/answer.h"
#include "services/kvcache/memcached/session.h"

/* One answer that is due: of an operation, or a line that stands behind one. */
struct mc_slot {
    struct mc_session *session;
    struct mc_slot *next;
    enum kv_op op; /* KV_OPS: no operation, or flush_all */
    bool done;     /* the answer is in held */
    bool barrier;  /* no later operation begins before this one is done */
    struct mc_buffer held;
    struct mc_answer answer;
};

enum mc_state {
    MC_LINE,    /* a command line is next */
    MC_KEYS,    /* in the middle of a get's keys */
    MC_BLOCK,   /* a value comes, piece by piece: of `coming` */
    MC_SWALLOW, /* `left` bytes come that nobody wants */
};

struct mc_session {
    struct mc_hub *hub;
    void *owner;
    struct mc_slot *head, *tail; /* of the answers that are due */
    unsigned queued, under_way;
    bool inside;      /* feed or resume is at work */
    bool speaks_text; /* its first byte was none of the binary protocol's */
    bool closed, over;
    bool failed; /* an answer was lost for want of memory: nothing more goes out */
    /* What was read must wait: for an operation under way, for answers to be taken, or for other clients' turns. */
    bool stuck;
    unsigned steps; /* commands and keys since it was fed or resumed */

    enum mc_state state;
    struct mc_buffer kept;   /* bytes that came and cannot be read yet */
    size_t searched;         /* how many of them hold no line's end */
    struct mc_command gets;  /* MC_KEYS: the command */
    struct mc_slot *coming;  /* MC_BLOCK: how the write will be answered; its key is the request's */
    struct kv_request write; /* MC_BLOCK */
    uint64_t left;           /* MC_BLOCK, MC_SWALLOW: bytes to come */
    struct mc_buffer block;  /* MC_BLOCK: bytes that came */

    struct mc_buffer out;
    size_t held;    /* bytes of answers in slots */
    size_t counted; /* bytes of out and of slots that are counted in hub->answers */
    struct mc_meta meta;
};

/*
 * Gives a slot with an empty answer; NULL: no memory, and the session has failed. Taken by order_begin() or
 * order_push().
 */
struct mc_slot *order_slot(struct mc_session *s);
/* Takes a slot that is not needed. */
void order_give(struct mc_hub *hub, struct mc_slot *slot);
/* Takes the slot, as the last of the order. */
void order_push(struct mc_session *s, struct mc_slot *slot);
void order_set_key(struct mc_slot *slot, const uint8_t *key, size_t length);

/* True when an operation on that key may begin, as far as order and bounds go. Look-ups pass one another. */
bool order_may_begin(const struct mc_session *s, const uint8_t *key, size_t length, bool looks);
/* Takes the slot, whose answer is set, and asks the cache; borrows the request. */
void order_begin(struct mc_session *s, struct mc_slot *slot, const struct kv_request *r);
/* kv_done_fn of a slot. */
void order_done(void *arg, const struct kv_result *r);
/* The slot is answered with a result, or when rc is below 0 with a refusal. */
void order_answer(struct mc_slot *slot, const struct kv_result *r, int rc);
/* A line that needs no operation, behind the answers that are due. text is static. */
void order_line(struct mc_session *s, const char *text);
/* The hub learns how many bytes of answers there are. */
void order_account(struct mc_session *s);
/* The cache is asked for the session; it has answered or refused. */
void order_began(struct mc_session *s);
void order_ended(struct mc_session *s);
/* Frees a session that waits for no operation. */
void order_end(struct mc_session *s);

#endif
