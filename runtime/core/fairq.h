/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fairq.h - whose turn is it on a link: byte-fair, weighted, two classes.
 *
 * Guarantee: over any interval in which s services of one class want a link, each gets bytes in proportion to its
 * weight, plus or minus one maximal packet, whatever the packet sizes (invariant 23). A background service is served
 * only while no foreground service wants the link (CamCubeOS 3.3).
 *
 * This is start-time fair queueing (Goyal, Vin, Cheng 1996). Deficit round robin has the same long-run shares, but its
 * burst grows with the ratio of the weights and it must know a packet's length before it may choose; here a service is
 * chosen first, asked for its packet, and charged for what it gave, which is what polling services with queues of their
 * own needs.
 *
 * Numbers in, numbers out: knows neither queues nor packets. One per link.
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
    uint64_t now[2]; /* virtual time of each class (1: background): start of its last packet served */
    uint32_t wanted; /* who wanted the link when it was last asked */
    /* Virtual time at which the service's next packet starts. The first few share a cache line with the members above. */
    uint64_t start[FAIRQ_SERVICES];
};

/* What all links of a node agree on about its services. */
struct fairq_shares {
    uint16_t weight[FAIRQ_SERVICES]; /* 1..FAIRQ_WEIGHT_MAX */
    uint32_t background;             /* bit i: service i is background */
};

void fairq_init(struct fairq *q);

/*
 * The service to serve next, out of those whose bit is set in wants (all that have something for this link now), or
 * FAIRQ_NONE. Asking again without a charge gives the same answer. A service that has been away starts level with the
 * present, never with credit.
 */
unsigned fairq_pick(struct fairq *q, const struct fairq_shares *shares, uint32_t wants);

/* The service sent this many bytes (of packets: what a frame costs beside them is shared by those gathered in it). */
void fairq_charge(struct fairq *q, const struct fairq_shares *shares, unsigned service, uint32_t bytes);

/* The service is another one now, or of the other class: it starts level when it next wants the link. */
void fairq_forget(struct fairq *q, unsigned service);

#endif
