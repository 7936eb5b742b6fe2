/* SPDX-License-Identifier: Apache-2.0 */
/*
 * holdq.h - packets that have arrived at the root of their key before the root may serve them (semantics 4.2).
 *
 * The committed view says "me", but a right is still missing: a newcomer is being admitted ahead of us, the hold of a
 * dead server runs, our lease has to be renewed. The packet waits; it is late, not lost. First in, first out; each
 * knows when it came.
 *
 * Memory is shared between services by dynamic thresholds (Choudhury and Hahne 1998): one service may hold up to twice
 * what is still free, so that one alone can have two thirds and many share evenly, and there is always room for a
 * newcomer's first packet.
 */
#ifndef CORE_HOLDQ_H
#define CORE_HOLDQ_H

#include "core/fairq.h"
#include "core/pkt.h"

struct holdq {
    struct cw_packet *head, *tail;
    uint32_t packets;
    uint32_t bytes;
    uint32_t bytes_max;
    uint32_t bytes_of[FAIRQ_SERVICES];
    cw_span patience; /* hold + 200 ms: no packet waits longer */
};

void holdq_init(struct holdq *q, uint32_t bytes_max, cw_span patience);

/*
 * Takes p, whose service index and `queued` (the time it was first held) are set. False: no room, p stays the caller's.
 */
CW_MUST_CHECK bool holdq_put(struct holdq *q, struct cw_packet *p);

/* Gives all that is held, oldest first, linked by next: to be decided anew. */
struct cw_packet *holdq_drain(struct holdq *q);

/* True when p has waited its patience out. */
bool holdq_expired(const struct holdq *q, const struct cw_packet *p, cw_time now);

/* When the oldest will have; CW_NEVER when empty. */
cw_time holdq_wake(const struct holdq *q);

#endif
