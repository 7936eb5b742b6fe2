/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fairq.h - whose turn is it on a link: byte-fair, weighted, two classes.
 *
 * Guarantee: over any interval in which some places of one class want a link, each gets bytes in proportion to its
 * weight, plus or minus one maximal packet, whatever the packet sizes (invariant 23). A background place is served only
 * while no foreground place wants the link (CamCubeOS 3.3). A place is a number from 0 to FAIRQ_PLACES - 1; what it
 * stands for is the caller's affair.
 *
 * This is start-time fair queueing (Goyal, Vin, Cheng 1996). Deficit round robin has the same long-run shares, but its
 * bursts grow with the ratio of the weights, and it must know a packet's length before it may choose. Here a place is
 * chosen first, then asked for a packet, then charged for what it gave, by the weight that it has at that moment. So a
 * service may have a queue of its own, and a place may stand for several senders.
 *
 * Numbers in, numbers out: this module knows neither queues nor packets. There is one struct fairq for each link.
 */
#ifndef CORE_QUEUE_FAIRQ_H
#define CORE_QUEUE_FAIRQ_H

#include <stdint.h>

enum {
    FAIRQ_PLACES = 64, /* one bit each in a mask */
    FAIRQ_WEIGHT_MAX = 1000,
    FAIRQ_NONE = FAIRQ_PLACES, /* nobody wants the link */
};

struct fairq {
    uint64_t now[2]; /* virtual time of each class (1: background): the start of its packet that was served last */
    uint64_t wanted; /* bit i: place i wanted the link in the last fairq_pick() */
    /*
     * Virtual time at which the place's next packet starts. The first few share a cache line with the members above.
     */
    uint64_t start[FAIRQ_PLACES];
};

void fairq_init(struct fairq *q);

/*
 * The place to serve next, out of those whose bit is set in `wants` (all that have something for this link now), or
 * FAIRQ_NONE. `background` has the bits of the background places. Asking again without a charge gives the same answer.
 * A place that did not want the link for a while begins at the present virtual time: it has saved up no credit.
 */
unsigned fairq_pick(struct fairq *q, uint64_t background, uint64_t wants);

/*
 * The place sent this many bytes (of packets: what a frame costs beside them is shared by those gathered in it), with
 * this weight, 1..FAIRQ_WEIGHT_MAX.
 */
void fairq_charge(struct fairq *q, uint64_t background, unsigned place, uint32_t bytes, uint32_t weight);

/* The place stands for another sender now, or changed its class: it begins at the present, as above. */
void fairq_forget(struct fairq *q, unsigned place);

#endif
