/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adjacency.h - the life of one link, as a table of states and events (semantics 4.2, 4.6).
 *
 * Guarantees:
 *  1. from EXCHANGE on, both ends have heard each other in this very pair of sessions;
 *  2. an end that leaves EXCHANGE, PENDING or UP for a state below takes another session, so that no frame, hello or
 *     stream item of the former adjacency is taken for one of the next;
 *  3. the way up is delayed after flaps (damping), the way down is not. A flap is the end of an announced link by
 *     anything but an orderly leave.
 *
 *   NO_CARRIER <-> DOWN -> INIT -> EXCHANGE -> PENDING <-> UP         and from each state to those before it
 *
 * DAMPED stands before DOWN, MISWIRED beside it; a link to a server that is in C already skips PENDING.
 *
 * A leaf: it takes numbers and instants and returns what is to be done; it sends nothing and knows no database.
 */
#ifndef LINKSTATE_ADJACENCY_H
#define LINKSTATE_ADJACENCY_H

#include "cubeway/time.h"
#include "cubeway/types.h"

enum adjacency_state {
    ADJ_STAY,       /* in the table only: the state does not change */
    ADJ_NO_CARRIER, /* no light on the cable */
    ADJ_DAMPED,     /* flapped lately: hellos are sent, and none is answered until the damping is over */
    ADJ_DOWN,       /* nothing is heard */
    ADJ_MISWIRED,   /* another server is heard than the one that belongs there */
    ADJ_INIT,       /* the neighbour is heard, and has not said that it hears us */
    ADJ_EXCHANGE,   /* both hear each other: the streams run, the databases are being exchanged */
    ADJ_PENDING,    /* announced as pending: for control only */
    ADJ_UP,         /* announced as up */
    ADJ_STATES,
};

enum adjacency_event {
    ADJ_NOTHING,
    ADJ_CARRIER_UP,
    ADJ_CARRIER_DOWN,
    ADJ_HEARD,    /* a good hello that does not name our session */
    ADJ_ANSWERED, /* a good hello that names our session */
    /* a good hello from another session or incarnation than the adjacency's, or that no longer names ours */
    ADJ_REPLACED,
    ADJ_WRONG,       /* a hello of another cluster, configuration, server or port */
    ADJ_GOODBYE,     /* the neighbour closes, or has died */
    ADJ_LEFT,        /* the neighbour leaves in good order: no flap, it may come back at once */
    ADJ_SILENT,      /* the neighbour was not heard for `dead` */
    ADJ_RESTED,      /* the damping is over */
    ADJ_FOUND_NEW,   /* the databases are exchanged, and the far end is not in C */
    ADJ_FOUND_KNOWN, /* the databases are exchanged, and the far end is in C: the link adds nobody */
    ADJ_ADMITTED,    /* everybody in O knows of the link (admission.h) */
    ADJ_DOUBTED,     /* the link went up because the far end was in C, and it turns out that it was not */
    ADJ_OVERDUE,     /* the link was announced for too long without being up at both ends */
    ADJ_CLOSED,      /* our own decision: a fence, or a log that overflows */
    ADJ_EVENTS,
};

/* What a step asks of its caller; a set. */
enum adjacency_action {
    ADJ_END = 0x1,   /* the adjacency has ended: stop its streams; the session is another one now */
    ADJ_BEGIN = 0x2, /* start the streams */
    ADJ_HELLO = 0x4, /* send a hello at once */
};

struct adjacency_timing {
    cw_span dead;  /* silence that ends an adjacency */
    cw_span limit; /* the longest time for which a link may be announced without being up at both ends */
    cw_span damp;  /* damping after the first flap; doubles with each recent one, up to damp_max */
    cw_span damp_max;
};

/* Read freely; written by the functions below only. */
struct adjacency {
    enum adjacency_state state;
    uint32_t session;          /* our own; not 0 */
    uint32_t peer_session;     /* the neighbour's, from its hellos; 0 while it is not heard */
    uint64_t peer_incarnation; /* the neighbour's, from its hellos */
    cw_time heard;             /* when the neighbour was heard last; meaningless while peer_session is 0 */
    cw_time since;             /* when it came to its state */
    cw_time announced;         /* since when the link is announced and not up at both ends; CW_NEVER: it is not so */
    cw_time rest;              /* until when the way up is closed by damping */
    cw_time flapped;           /* when the last flap was */
    uint64_t flapped_life;     /* the neighbour's incarnation in the adjacency that ended so */
    unsigned flaps;            /* recent flaps when the last one was; adjacency_flaps() says how many are recent now */
};

/* A link without carrier. session is not 0. */
void adjacency_init(struct adjacency *a, uint32_t session);

/*
 * What a good hello with these fields means now: ADJ_NOTHING (it is as expected), ADJ_HEARD, ADJ_ANSWERED or
 * ADJ_REPLACED. session is its sender's; heard is the session of ours that the sender has heard.
 */
enum adjacency_event adjacency_judge(const struct adjacency *a, uint32_t session, uint32_t heard, uint64_t incarnation);

/*
 * Makes the step that follows from the event; returns what the caller must do, a set of enum adjacency_action. fresh
 * becomes our session if the old one ends; its low half must differ from the old one's, since frames carry only that.
 */
unsigned adjacency_step(struct adjacency *a, enum adjacency_event event, uint32_t fresh,
                        const struct adjacency_timing *timing, cw_time now);

/* After the step of a good hello: notes its sender. No effect in states that answer no hello (NO_CARRIER, DAMPED). */
void adjacency_note(struct adjacency *a, uint32_t session, uint64_t incarnation, cw_time now);

/* A frame of this adjacency came in. */
void adjacency_heard(struct adjacency *a, cw_time now);

/* Notes whether the link is up at both ends, as far as is known: this stops or starts the clock of ADJ_OVERDUE. */
void adjacency_commit(struct adjacency *a, bool both, cw_time now);

/* Closes the way up until then at least (a duplicate of this server was met). Takes effect at the next step down. */
void adjacency_rest(struct adjacency *a, cw_time until);

/* The event that time has brought: ADJ_SILENT, ADJ_RESTED, ADJ_OVERDUE or ADJ_NOTHING; and when to ask again. */
enum adjacency_event adjacency_due(const struct adjacency *a, const struct adjacency_timing *timing, cw_time now);
cw_time adjacency_wake(const struct adjacency *a, const struct adjacency_timing *timing);

/* The recent flaps: they count half after each minute without one. */
unsigned adjacency_flaps(const struct adjacency *a, cw_time now);

/* True from EXCHANGE on: the streams run. */
static inline bool adjacency_is_two_way(const struct adjacency *a)
{
    return a->state >= ADJ_EXCHANGE;
}

/* For logs. Static strings, never NULL. */
const char *adjacency_state_name(enum adjacency_state state);
const char *adjacency_event_name(enum adjacency_event event);

#endif
