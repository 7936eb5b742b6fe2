/* SPDX-License-Identifier: Apache-2.0 */
/*
 * err.h - why a packet was dropped. Every packet that was neither delivered nor is still inside some server has been
 * dropped for exactly one of these causes (semantics 4.1), and the server that dropped it has counted it.
 */
#ifndef CUBEWAY_ERR_H
#define CUBEWAY_ERR_H

typedef enum cw_drop {
    CW_DROP_MALFORMED,     /* the bytes are no packet */
    CW_DROP_STALE_LINK,    /* it came over a link that is not up, or belongs to a former adjacency */
    CW_DROP_GATE_OVERFLOW, /* too many frames waited at the gate for lost control to be repeated (semantics 4.4) */
    CW_DROP_HOP_LIMIT,     /* it has crossed as many links as it may */
    CW_DROP_NO_ROUTE,      /* the server is not reachable, or not in the torus */
    CW_DROP_NO_SERVICE,    /* the packet has arrived, and its job does not run here */
    CW_DROP_DENIED,        /* the sender has no privilege for the destination (NMU) */
    CW_DROP_QUEUE_FULL,    /* the service's queue was full, and its drop policy chose this packet */
    CW_DROP_HOLD_OVERFLOW, /* too much is held for keys whose root is changing */
    CW_DROP_HOLD_TIMEOUT,  /* it was held longer than hold + 200 ms */
    CW_DROP_SERVICE,       /* the service dropped it */
    CW_DROP_REPLY_DEAD,    /* it answers a call that has ended */
    CW_DROP_NO_MEMORY,     /* no packet memory was left, or the service has too many packets in its hands */
    CW_DROP_CLOSED,        /* it was inside when the server or the service went down */
    CW_DROP_COUNT,
} cw_drop;

/* Loaded services call these. */
#pragma GCC visibility push(default)
/*
 * The name of a cause ("hop-limit") and its meaning in words. Static strings, never NULL: an unknown cause is
 * "unknown".
 */
const char *cw_drop_name(cw_drop cause);
const char *cw_drop_text(cw_drop cause);
#pragma GCC visibility pop

#endif
