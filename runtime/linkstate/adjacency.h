/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adjacency.h - the life of one link, as a table of states and events (semantics 4.2, 4.6).
 *
 * Guarantees:
 *  1. from EXCHANGE on, both ends have heard each other in this very pair of sessions;
 *  2. whoever leaves EXCHANGE, PENDING or UP for a state below takes another session, so that no frame, hello or stream
 *     item of the former adjacency is ever taken for one of the next;
 *  3. the way up is delayed after flaps (damping), the way down never. A flap is whatever ends an announced link but an
 *     orderly leave.
 *
 *   NO_CARRIER <-> DOWN -> INIT -> EXCHANGE -> PENDING <-> UP         and from each to those before it;
 *                DAMPED stands before DOWN, MISWIRED beside it; a link to somebody already in C skips PENDING.
 *
 * A leaf: it takes numbers and instants and says what is to be done; it sends nothing and knows no database.
 */
#ifndef LINKSTATE_ADJACENCY_H
#define LINKSTATE_ADJACENCY_H

#include "cubeway/time.h"
#include "cubeway/types.h"

enum adjacency_state {
    ADJ_STAY,       /* in the table: no other state */
    ADJ_NO_CARRIER, /* no light on the cable */
    ADJ_DAMPED,     /* flapped lately: hellos are sent, and none is answered until the rest is over */
    ADJ_DOWN,       /* nobody heard */
    ADJ_MISWIRED,   /* somebody else is heard than the one who belongs there */
    ADJ_INIT,       /* heard, but not known to be heard */
    ADJ_EXCHANGE,   /* two-way: the streams run, the databases are being exchanged */
    ADJ_PENDING,    /* announced as pending: for control only */
    ADJ_UP,         /* announced as up */
    ADJ_STATES,
};

enum adjacency_event {
    ADJ_NOTHING,
    ADJ_CARRIER_UP,
    ADJ_CARRIER_DOWN,
    ADJ_HEARD,    /* a good hello that does not name our session */
    ADJ_ANSWERED, /* a good hello that does */
    /* a good hello from another session or incarnation than the adjacency's, or that no longer names ours */
    ADJ_REPLACED,
    ADJ_WRONG,       /* a hello of another cluster, configuration, server or port */
    ADJ_GOODBYE,     /* the neighbour closes, or has died */
    ADJ_LEFT,        /* the neighbour goes in good order: no flap, it may come back at once */
    ADJ_SILENT,      /* not heard for `dead` */
    ADJ_RESTED,      /* damping is over */
    ADJ_FOUND_NEW,   /* exchange done, the far end is not in C */
    ADJ_FOUND_KNOWN, /* exchange done, the far end is in C: the link adds nobody */
    ADJ_ADMITTED,    /* everybody in O knows (admission.h) */
    ADJ_DOUBTED,     /* went up because the far end was in C, which turns out to be wrong */
    ADJ_OVERDUE,     /* announced for too long and still not up at both ends */
    ADJ_CLOSED,      /* our own decision: fence, overflow */
    ADJ_EVENTS,
};

/* What a step asks of its caller; a set. */
enum adjacency_action {
    ADJ_END = 0x1,   /* the adjacency is over: its streams stop, the session is another one */
    ADJ_BEGIN = 0x2, /* the streams start */
    ADJ_HELLO = 0x4, /* the neighbour should hear of this at once */
};

struct adjacency_timing {
    cw_span dead;  /* silence that ends an adjacency */
    cw_span limit; /* the longest a link may be announced without being up at both ends */
    cw_span damp;  /* rest after the first flap; doubles with each recent one */
    cw_span damp_max;
};

/* Read freely; written by the functions below only. */
struct adjacency {
    enum adjacency_state state;
    uint32_t session;          /* ours, never 0 */
    uint32_t peer_session;     /* as heard; 0 while not heard */
    uint64_t peer_incarnation; /* as heard */
    cw_time heard;             /* when the neighbour was heard last; meaningless while peer_session is 0 */
    cw_time announced; /* since when the link is announced without being up at both ends; CW_NEVER when it is not so */
    cw_time rest;      /* until when the way up is closed */
    cw_time flapped;   /* the last flap */
    unsigned flaps;    /* recent ones; halved with each quiet minute */
};

/* A link without carrier. session is not 0. */
void adjacency_init(struct adjacency *a, uint32_t session);

/*
 * What a good hello means here: ADJ_NOTHING (as expected), ADJ_HEARD, ADJ_ANSWERED or ADJ_REPLACED. heard is its field.
 */
enum adjacency_event adjacency_judge(const struct adjacency *a, uint32_t session, uint32_t heard, uint64_t incarnation);

/*
 * Takes the event and returns the actions due, a set of enum adjacency_action. fresh becomes the session if the old one
 * ends; its low half must differ from the old one's, because frames carry no more.
 */
unsigned adjacency_step(struct adjacency *a, enum adjacency_event event, uint32_t fresh,
                        const struct adjacency_timing *timing, cw_time now);

/* After the step of a good hello: who was heard. No effect where hellos are not answered (NO_CARRIER, DAMPED). */
void adjacency_note(struct adjacency *a, uint32_t session, uint64_t incarnation, cw_time now);

/* A frame of this adjacency came in. */
void adjacency_heard(struct adjacency *a, cw_time now);

/* Whether the link is now up at both ends, as far as is known: starts or stops the clock of ADJ_OVERDUE. */
void adjacency_commit(struct adjacency *a, bool both, cw_time now);

/*
 * Closes the way up for at least this long (a duplicate of ourselves was met). Takes effect at the next step downwards.
 */
void adjacency_rest(struct adjacency *a, cw_time until);

/* The event that time has brought: ADJ_SILENT, ADJ_RESTED, ADJ_OVERDUE or ADJ_NOTHING; and when to ask again. */
enum adjacency_event adjacency_due(const struct adjacency *a, const struct adjacency_timing *timing, cw_time now);
cw_time adjacency_wake(const struct adjacency *a, const struct adjacency_timing *timing);

/* True from EXCHANGE on: the streams run. */
static inline bool adjacency_is_two_way(const struct adjacency *a)
{
    return a->state >= ADJ_EXCHANGE;
}

/* For logs. Static strings, never NULL. */
const char *adjacency_state_name(enum adjacency_state state);
const char *adjacency_event_name(enum adjacency_event event);

#endif
