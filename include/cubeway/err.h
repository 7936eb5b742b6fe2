/* SPDX-License-Identifier: Apache-2.0 */
/*
 * err.h - why a packet was dropped: every packet that is not delivered, and no longer inside, has exactly one of these causes
 * (semantics 4.1), counted at the server that dropped it.
 */
#ifndef CUBEWAY_ERR_H
#define CUBEWAY_ERR_H

typedef enum cw_drop {
    CW_DROP_MALFORMED,     /* bytes that are no packet */
    CW_DROP_STALE_LINK,    /* data over a link that is not up, or of a former adjacency */
    CW_DROP_GATE_OVERFLOW, /* too many frames waited for lost control to be repeated */
    CW_DROP_HOP_LIMIT,     /* the hop budget is used up */
    CW_DROP_NO_ROUTE,      /* the server is not reachable, or not in the torus */
    CW_DROP_NO_SERVICE,    /* no such job here */
    CW_DROP_DENIED,        /* no privilege (NMU) */
    CW_DROP_QUEUE_FULL,    /* the service's queue was at its limit: by its drop policy */
    CW_DROP_HOLD_OVERFLOW, /* held for a key whose root is changing: too many */
    CW_DROP_HOLD_TIMEOUT,  /* held longer than hold + 200 ms */
    CW_DROP_SERVICE,       /* the service said so */
    CW_DROP_REPLY_DEAD,    /* an answer to a call that has ended */
    CW_DROP_NO_MEMORY,
    CW_DROP_CLOSED, /* inside when the server or the service went down */
    CW_DROP_COUNT,
} cw_drop;

/* Name ("hop-limit") and sentence. Static strings, never NULL. */
#pragma GCC visibility push(default) /* for loaded services */
const char *cw_drop_name(cw_drop cause);
const char *cw_drop_text(cw_drop cause);
#pragma GCC visibility pop

#endif
