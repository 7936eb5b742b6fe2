/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve.h - an operation at the server that leads its shard, from its coming to its answer. A read, and a refusal, are
 * told after a majority has confirmed the leader in a round that began after they came (store rule 7).
 */
#ifndef SERVICES_STORE_SERVE_H
#define SERVICES_STORE_SERVE_H

#include "services/store/carry.h"
#include "services/store/held/page.h"
#include "services/store/held/verdict.h"
#include "services/store/lead.h"

struct store_write;

struct store_serving {
    struct list_node node;
    struct store *store;
    struct store_right right;    /* to answer */
    struct store_parcel *parcel; /* a letter: what the order's bytes are in; NULL: they are behind this struct */
    bool confirmed;              /* a majority has confirmed the leader since it came */
    struct store_page *page;     /* of a list: what has been read so far; NULL: nothing */
    bool watching;               /* it waits in `watching` of its lead, or has: it counts among the server's watchers */
    uint64_t upto, stirred;      /* of a watch: versions that it was told of; n of the last write that it waits for */
    cw_time ends;                /* of a watch: then it is told that nothing has changed */
    struct store_order order;
    uint8_t bytes[];
};

/*
 * Who leads instead of this member, as far as it knows. CW_SERVER_NONE: this one may try to. sure: one that has come
 * back and was not heard of since does not count.
 */
cw_server store_serve_other_leader(const struct store *s, const struct store_shard *shard, bool sure);
/* Who is to lead instead of this member, which could not a moment ago. CW_SERVER_NONE: there is nobody, or it may. */
cw_server store_serve_instead(const struct store *s, const struct store_shard *shard);
/* An operation came, for a shard of this server. Borrows both. */
void store_serve_take(struct store *s, struct store_shard *shard, const struct store_ask *ask,
                      const struct store_caller *from);
/* Answers a question that has not become an operation. */
void store_serve_refuse(struct store *s, const struct store_right *to, enum store_answer_state state,
                        cw_store_status status, cw_server server, uint64_t n);
/* Answers one, which is gone then. And: with a status, nothing was done. */
void store_serve_answer(struct store_serving *o, const struct store_answer *answer);
void store_serve_deny(struct store_serving *o, cw_store_status status, uint64_t n);
/* It goes on when that write is over; or when a majority has confirmed the leader. */
void store_serve_wait(struct store_lead *lead, struct store_write *w, struct store_serving *o);
void store_serve_confirm(struct store_lead *lead, struct store_serving *o);
/* There seems to be no room for it: refused when the members, who say so with each answer, were asked since it came. */
void store_serve_no_space(struct store_lead *lead, struct store_serving *o);
/* Goes on with one, in an open shard. */
void store_serve_go(struct store_lead *lead, struct store_serving *o);
/* A write of the register is done: whoever waits for a change of the name goes on. */
void store_serve_changed(struct store_lead *lead, const struct store_register *r);
/* Its write is done. */
void store_serve_written(struct store_lead *lead, struct store_serving *o, const struct store_verdict *v);
/* A member has confirmed the leader in that round. */
void store_serve_confirmed(struct store_lead *lead, unsigned member, uint64_t round);
/* Sends the round's question again to those that have not answered. */
void store_serve_resend(struct store_lead *lead);
/* The leadership has ended: those of `maybe` were begun, nothing was done about the others. */
void store_serve_end(struct store *s, struct store_shard *shard, struct list *maybe, struct list * not,
                     enum store_end how);

#endif
