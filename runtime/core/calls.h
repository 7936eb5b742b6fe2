/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.h - what local services have asked for and not yet been answered (NMU 4.2, the requester's side; response.h is
 * the other).
 *
 * A call is one number on the wire and for the service, through all its attempts: the first answer ends it, whichever
 * attempt it answers; every later one finds no call. Shared among services by dynamic thresholds, as timers.h.
 */
#ifndef CORE_CALLS_H
#define CORE_CALLS_H

#include "base/expiry.h"
#include "core/fairq.h"
#include "cubeway/service.h"

struct cw_packet;

struct call {
    struct expiry_item item; /* item.handle is the call's number */
    cw_reply_fn done;
    void *arg;
    struct cw_packet *again; /* what the next attempt sends; NULL when there is none. The caller's to give back */
    cw_span timeout;         /* of one attempt */
    cw_job job;              /* only this job may answer */
    uint16_t retries;        /* attempts left after the present one */
    uint8_t service;
    cw_links links; /* of a request to a neighbour: the link it leaves by */
};

struct calls {
    struct expiry table;
    uint32_t of[FAIRQ_SERVICES];
};

CW_MUST_CHECK int calls_open(struct calls *c, uint32_t limit, uint64_t salt);
/* All calls must have ended. */
void calls_close(struct calls *c);

/* Gives a call that is due timeout after now; NULL: too many. The caller fills the rest. */
struct call *calls_start(struct calls *c, unsigned service, cw_span timeout, unsigned retries, cw_time now);
/* Borrows the call of that number, NULL when it has ended. */
struct call *calls_find(const struct calls *c, uint32_t number);
/* Takes the call: it has ended. */
void calls_end(struct calls *c, struct call *call);

/* Borrows the first call whose attempt has timed out, NULL when there is none: the caller ends it or tries again. */
struct call *calls_due(const struct calls *c, cw_time now);
/* One of its retries (there must be one) begins now. */
void calls_try_again(struct calls *c, struct call *call, cw_time now);

/* Borrows a call of the service, NULL when it has none. Linear. */
struct call *calls_of(const struct calls *c, unsigned service);

static inline cw_time calls_wake(const struct calls *c)
{
    return expiry_wake(&c->table);
}

#endif
