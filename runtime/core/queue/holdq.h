/* SPDX-License-Identifier: Apache-2.0 */
/*
 * holdq.h - packets that have arrived at their key's root before it may deliver them (semantics 4.2).
 *
 * The committed view says that this server is the root, but it may not deliver yet: a newcomer that precedes it is
 * being admitted, the hold of a dead server has not ended, or the lease has to be renewed. The packet waits; it is
 * late, not lost. The queue is in order of the time since when a packet is held: first in, first out.
 *
 * Memory is shared between services by dynamic thresholds (Choudhury and Hahne 1998): a service may hold up to twice as
 * many bytes as are still free. So one service alone can have two thirds, many share evenly, and there is always room
 * for the first packet of another.
 */
#ifndef CORE_QUEUE_HOLDQ_H
#define CORE_QUEUE_HOLDQ_H

#include "core/queue/fairq.h"
#include "core/queue/pkt.h"

struct holdq {
    struct cw_packet *head, *tail;
    /* The last packet that was not put behind the tail; NULL: none since the queue was drained. */
    struct cw_packet *put;
    uint32_t packets;
    uint32_t bytes;
    uint32_t bytes_max;
    uint32_t bytes_of[FAIRQ_PLACES];
    cw_span patience; /* hold + 200 ms: no packet waits longer (invariant 12) */
};

void holdq_init(struct holdq *q, uint32_t bytes_max, cw_span patience);

/*
 * Takes p, whose service index and `queued` (the time it was first held) are set. False: no room, p stays the caller's.
 */
CW_MUST_CHECK bool holdq_put(struct holdq *q, struct cw_packet *p);

/* Gives all packets, oldest first, linked by `next`: to be decided anew. */
struct cw_packet *holdq_drain(struct holdq *q);

/*
 * Gives the oldest packet when it has waited for as long as a packet may, else NULL. Only such packets are decided anew
 * when nothing has changed but the time: to decide all of them at each one's end would be quadratic.
 */
struct cw_packet *holdq_take_expired(struct holdq *q, cw_time now);

/* True when p has waited for as long as a packet may. */
bool holdq_expired(const struct holdq *q, const struct cw_packet *p, cw_time now);

/* When the oldest packet will have waited for so long; CW_NEVER: nothing is held. */
cw_time holdq_wake(const struct holdq *q);

/*
 * For tests and CHECK_SLOW: walks all packets; true when they are in order, and the counts are those of the packets
 * held, within the limit.
 */
bool holdq_valid(const struct holdq *q);

#endif
