/* SPDX-License-Identifier: Apache-2.0 */
/*
 * congestion.h - how many bytes may be on their way to one peer.
 *
 * By delay, not by loss: what the round trip takes above its least is queues. Of a window w, w * (rtt - least) / rtt
 * bytes stand in queues, and once a round trip the window moves half of the way to where that would be `target` (the
 * rule of FAST TCP, Wei, Jin, Low, Hegde 2006):
 *
 *     w <- (w + w * least / rtt + target) / 2
 *
 * Transfers that share a link settle at equal shares, since each keeps the same number of bytes queued there, and the
 * queue is so many targets long, however fast the link. Until the queue is that long for the first time, the window
 * doubles each round trip. A loss takes 3/10 away, at most once a round trip; silence starts over.
 */
#ifndef SERVICES_TRANSPORT_CONGESTION_H
#define SERVICES_TRANSPORT_CONGESTION_H

#include "cubeway/time.h"

#include <stddef.h>

struct congestion {
    uint64_t window;      /* bytes */
    uint64_t floor, most; /* of it */
    uint64_t target;      /* bytes in queues */
    int64_t sum;          /* of this round's samples, ns */
    uint32_t samples;
    bool slow;    /* it has never been full: "slow start" */
    bool limited; /* something waited for it in this round */
    cw_time cut;  /* when it was made smaller last */
};

/* packet: bytes of a full one. The window is never below two of them. */
void congestion_init(struct congestion *c, uint64_t packet, uint64_t target, uint64_t most);
/* Bytes came through, rtt after they left (0 ns: not measured). */
void congestion_acked(struct congestion *c, uint64_t bytes, cw_span rtt);
/* What was sent a round trip ago has been answered; least is 0 when unknown. */
void congestion_round(struct congestion *c, cw_span least);
/* Something was lost; rtt is the smoothed one. */
void congestion_lost(struct congestion *c, cw_time now, cw_span rtt);
/* Nobody answers. */
void congestion_silence(struct congestion *c, cw_time now);
/* Half the window for once, so that queues empty and the least can be measured. */
void congestion_drain(struct congestion *c);

#endif
