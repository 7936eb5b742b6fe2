/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rtt.h - how long the way to a peer and back takes: smoothed, its spread, and the least of late, which is what it
 * takes when nobody queues. The least is that of full packets: a small one is faster on every link it crosses, and
 * would make a full one look as if it had waited.
 *
 * The time-out is smoothed + 4 spreads, as in RFC 6298, without its floor of a second: a torus answers in microseconds.
 * The least is that of the last one to two epochs of RTT_EPOCH, so that a way that has become longer is believed after
 * that at the latest.
 */
#ifndef SERVICES_TRANSPORT_RTT_H
#define SERVICES_TRANSPORT_RTT_H

#include "cubeway/time.h"

#define RTT_EPOCH CW_SEC(5)

struct rtt {
    int64_t smooth8;  /* 8 times the smoothed, ns; 0: nothing measured */
    int64_t spread4;  /* 4 times the spread */
    int64_t least[2]; /* of this epoch and the one before; INT64_MAX: none */
    cw_time epoch;    /* began then */
};

void rtt_init(struct rtt *r, cw_time now);
/*
 * A sample above 0 (less is taken as 1 ns); full: of a full packet, so that it counts for the least. True when a new
 * epoch begins with it.
 */
bool rtt_sample(struct rtt *r, cw_span sample, bool full, cw_time now);
/* The way has changed: the least is not known any more, and what is known of the rest stays. */
void rtt_new_way(struct rtt *r, cw_time now);

static inline bool rtt_known(const struct rtt *r)
{
    return r->smooth8 != 0;
}

static inline cw_span rtt_smooth(const struct rtt *r)
{
    return CW_NS(r->smooth8 / 8);
}

static inline cw_span rtt_spread(const struct rtt *r)
{
    return CW_NS(r->spread4 / 4);
}

/* 0 when nothing is known. */
cw_span rtt_least(const struct rtt *r);
/* Smoothed + 4 spreads, within the bounds; before the first sample 4 times the lower bound (or the upper one). */
cw_span rtt_timeout(const struct rtt *r, cw_span lowest, cw_span highest);

#endif
