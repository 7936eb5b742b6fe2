/* SPDX-License-Identifier: Apache-2.0 */
/*
 * internal.h - the structs of orders, and what their files may ask of one another.
 *
 *     orders.c   options, the transport, upcalls; which note goes where
 *     desk.c     at the server that was asked: all members are told, and their answers become rows
 *     words.c    the words of the commands, and the sentences of refusals
 *     errand.c   at each member and at the root: the file, the reduction, the result
 *     known.c    vectors that everybody can compute
 *     note.c     notes as bytes
 */
#ifndef SERVICES_AGGREGATE_ORDER_INTERNAL_H
#define SERVICES_AGGREGATE_ORDER_INTERNAL_H

#include "base/list.h"
#include "keyspace/torus.h"
#include "services/aggregate/dense/dense.h"
#include "services/aggregate/order/host.h"
#include "services/aggregate/order/note.h"
#include "services/aggregate/order/orders.h"
#include "services/transport/transport.h"

enum { ORDERS_FOLDER = 500, ORDERS_ERRANDS = 32, ORDERS_DESK = 8, ORDERS_DROPPED = 64 };
#define ORDERS_MEMORY (UINT64_C(256) << 20)
/* Both answers of an order are waited for so long; a server that dies ends its answer at once. */
#define ORDERS_PATIENCE CW_HOURS(24)
/* An errand whose desk has said nothing for so long is given up. */
#define ORDERS_KEPT CW_MINUTES(10)
/* A LOOK that comes so much later than the DROP of its order is refused. */
#define ORDERS_REMEMBERED CW_MINUTES(1)

/* An order that was dropped and that is not here: its LOOK may be under way still. */
struct dropped {
    cw_server desk;
    uint32_t number;
    uint64_t life; /* 0: this place is empty */
    cw_time until;
};

struct orders {
    cw_svc *s;
    struct dense *dense;
    struct transport *transport;
    struct torus torus;
    const struct vectors_host *host; /* NULL: there is none */
    char folder[ORDERS_FOLDER];      /* "": none is set */
    uint64_t memory, memory_most;    /* bytes of vectors, now and at most */
    bool loading;                    /* a file is being read */
    cw_server self;
    uint64_t life;
    uint32_t numbers;
    struct list errands, desk;
    unsigned errand_count, desk_count;
    struct dropped dropped[ORDERS_DROPPED]; /* a ring: the oldest one is overwritten */
    unsigned dropped_next;
    cw_timer *tick;
    bool closing;
    cw_counter *strange;
};

/* Words of a set of servers, and sets of them: bit s % 64 of word s / 64. */
size_t orders_words(const struct orders *o);
bool orders_has(const uint64_t *set, cw_server s);
void orders_add(uint64_t *set, cw_server s);
void orders_remove(uint64_t *set, cw_server s);
unsigned orders_count(const struct orders *o, const uint64_t *set);
/* Errands are looked at from time to time while there are any. */
void orders_wake(struct orders *o);

/* ---- errand.c ---------------------------------------------------------------------------------------------------- */

/*
 * LOOK, GO and DROP from a desk. LOOK and GO are answered later by *reply when these give 0; otherwise the value is the
 * answer's status.
 */
CW_MUST_CHECK int errand_look(struct orders *o, const struct note *n, cw_server desk,
                              const struct transport_reply_to *reply);
CW_MUST_CHECK int errand_go(struct orders *o, const struct note *n, cw_server desk,
                            const struct transport_reply_to *reply);
void errand_drop(struct orders *o, const struct note *n, cw_server desk);
/* The desk is gone, and so are its errands. CW_SERVER_NONE: those of all desks. */
void errand_desk_down(struct orders *o, cw_server desk);
void errand_tick(struct orders *o);
/* Ends them all; the service closes, and no work is under way any more. */
void errand_close(struct orders *o);

/* ---- desk.c ------------------------------------------------------------------------------------------------------ */

/* What the operator wants. */
struct wanted {
    struct note look; /* as all members get it */
    uint64_t members[MESSAGE_SET_WORDS];
};

/* Begins an order, and gives on_command()'s result. */
int desk_begin(struct orders *o, cw_request *r, const struct wanted *w);
int desk_cancel(struct orders *o, cw_request *r, uint64_t number);
void desk_status(const struct orders *o, cw_request *r, bool *first);
void desk_close(struct orders *o);

/* ---- words.c ----------------------------------------------------------------------------------------------------- */

/* Reads the words of `reduce` and `check`. 0; or -EINVAL, and the request was told why. */
CW_MUST_CHECK int words_reduce(const struct orders *o, cw_request *r, int argc, const char *const *argv,
                               struct wanted *out);
CW_MUST_CHECK int words_check(const struct orders *o, cw_request *r, int argc, const char *const *argv,
                              struct wanted *out);
/* Why a server could not do its part, as a sentence without a full stop. Static. */
const char *words_reason(int status);
/* Why a server could not write its result, likewise. */
const char *words_store(int status);
/* Why a reduction ended. */
const char *words_end(int status);

#endif
