/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codel.h - when to tell a flow that it sends too fast: CoDel (RFC 8289), by the times that its packets have waited.
 *
 * A queue that never empties for an interval stands: then one packet is a signal, to be marked, or dropped where it
 * cannot be marked; and while the queue still stands, the next signals follow at times that shrink with the square
 * root of their number. Integers only, so that all machines decide alike.
 */
#ifndef SERVICES_TUNNEL_CODEL_H
#define SERVICES_TUNNEL_CODEL_H

#include "cubeway/time.h"

#include <stdbool.h>

/* What is tolerated: a wait, for so long. Both above 0; interval at most a minute. */
struct codel_limits {
    cw_span target, interval;
};

/* Of one flow; zeroed: nothing has waited yet. */
struct codel {
    bool signalling;
    uint32_t count, last_count;
    /* When the wait will have been above the target for an interval; 0: it is not above it. */
    cw_time above_at;
    /* When the next signal is due, or the last one was. */
    cw_time next;
};

/*
 * A packet that has waited for so long is about to leave. True: it is a signal. only: no other packet waits behind it,
 * so that this is no standing queue.
 */
bool codel_leaves(struct codel *c, const struct codel_limits *limits, cw_span waited, bool only, cw_time now);

#endif
