/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fairq.h - whose turn is it on a link: byte-fair, weighted, two classes.
 *
 * Guarantee: over any interval in which s services of one class want a link, each gets bytes in proportion to its
 * weight, plus or minus one maximal packet, whatever the packet sizes (invariant 23). A background service is served
 * only while no foreground service wants the link (CamCubeOS 3.3).
 *
 * This is start-time fair queueing (Goyal, Vin, Cheng 1996). Deficit round robin has the same long-run shares, but its
 * bursts grow with the ratio of the weights, and it must know a packet's length before it may choose. Here a service is
 * chosen first, then asked for a packet, then charged for what it gave: so services may have queues of their own.
 *
 * Numbers in, numbers out: this module knows neither queues nor packets. There is one struct fairq for each link.
 */
#ifndef CORE_FAIRQ_H
#define CORE_FAIRQ_H

#include <stdint.h>

enum {
    FAIRQ_SERVICES = 32,
    FAIRQ_WEIGHT_MAX = 1000,
    FAIRQ_NONE = FAIRQ_SERVICES, /* nobody wants the link */
};

struct fairq {
    uint64_t now[2]; /* virtual time of each class (1: background): the start of its packet that was served last */
    uint32_t wanted; /* bit i: service i wanted the link in the last fairq_pick() */
    /*
     * Virtual time at which the service's next packet starts. The first few share a cache line with the members above.
     */
    uint64_t start[FAIRQ_SERVICES];
};

/* What all links of a node agree on about its services. */
struct fairq_shares {
    uint16_t weight[FAIRQ_SERVICES]; /* 1..FAIRQ_WEIGHT_MAX */
    uint32_t background;             /* bit i: service i is background */
};

void fairq_init(struct fairq *q);

/*
 * The service to serve next, out of those whose bit is set in `wants` (all that have something for this link now), or
 * FAIRQ_NONE. Asking again without a charge gives the same answer. A service that did not want the link for a while
 * begins at the present virtual time: it has saved up no credit.
 */
unsigned fairq_pick(struct fairq *q, const struct fairq_shares *shares, uint32_t wants);

/* The service sent this many bytes (of packets: what a frame costs beside them is shared by those gathered in it). */
void fairq_charge(struct fairq *q, const struct fairq_shares *shares, unsigned service, uint32_t bytes);

/* The index belongs to another service now, or the service changed its class: it begins at the present, as above. */
void fairq_forget(struct fairq *q, unsigned service);

#endif
