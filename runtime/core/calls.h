/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.h - the requests of local services that wait for an answer (NMU 4.2, the requester's side; nmu/response.h is
 * the responder's).
 *
 * A call has one number, on the wire and for the service, through all its attempts. The first answer ends the call,
 * whichever attempt it answers; every later answer finds no call. The room is shared among services by dynamic
 * thresholds, as in timers.h. All guests together (guests.h) are one of those who share: among them, one guest never
 * has more calls than a sixteenth of what is left for all others.
 */
#ifndef CORE_CALLS_H
#define CORE_CALLS_H

#include "base/expiry.h"
#include "core/queue/fairq.h"
#include "cubeway/service.h"

struct cw_packet;

struct call {
    struct expiry_item item; /* item.handle is the call's number */
    cw_reply_fn done;
    void *arg;
    struct cw_packet *again; /* a copy for the next attempt, NULL: there is none. Whoever ends the call releases it */
    cw_span timeout;         /* of one attempt */
    cw_job job;              /* only this job may answer */
    uint16_t retries;        /* attempts left after the present one */
    uint16_t speaker;        /* whose call it is */
    cw_links links;          /* of a request to a neighbour: the link by which it leaves */
    bool background;         /* it waits here in the background place of its service */
};

struct calls {
    struct expiry table;
    uint32_t of[FAIRQ_PLACES]; /* open calls, by service; of all guests together at 0, which is no service */
};

CW_MUST_CHECK int calls_open(struct calls *c, uint32_t limit, uint64_t salt);
/* All calls must have ended. */
void calls_close(struct calls *c);

/* Gives a call whose first attempt ends `timeout` after now; NULL: there are too many. The caller fills the rest. */
struct call *calls_start(struct calls *c, unsigned service, cw_span timeout, unsigned retries, cw_time now);
/* As calls_start(), for a guest, whose number is FAIRQ_PLACES or above and which has `open` calls. */
struct call *calls_start_guest(struct calls *c, unsigned guest, uint32_t open, cw_span timeout, unsigned retries,
                               cw_time now);
/* Borrows the call of that number; NULL: it has ended. */
struct call *calls_find(const struct calls *c, uint32_t number);
/* Takes the call, which has ended. */
void calls_end(struct calls *c, struct call *call);

/* Borrows the first call whose attempt has timed out, NULL: there is none. The caller ends it or tries again. */
struct call *calls_due(const struct calls *c, cw_time now);
/* Begins the call's next attempt; retries must be left. */
void calls_try_again(struct calls *c, struct call *call, cw_time now);

/* Borrows any call of the speaker, NULL: it has none. Linear in all calls. */
struct call *calls_of(const struct calls *c, unsigned speaker);

/* For tests and CHECK_SLOW: walks all calls; true when each service's count is that of its calls. */
bool calls_valid(const struct calls *c);

/* When calls_due() will next have something; CW_NEVER: no call is open. */
static inline cw_time calls_wake(const struct calls *c)
{
    return expiry_wake(&c->table);
}

#endif
