/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packetq.h - the default queue of a service: each packet waits once, with the set of links it may leave by.
 *
 * Guarantee: a link takes the oldest packet that may leave by it; so, over all links, the oldest packet leaves by
 * whichever of its links has room first (CamCubeOS 3.3). Nothing comes in beyond the limits. Nothing here allocates:
 * packets are linked through `next`.
 *
 * Packets with the same link set share one FIFO; 64 sets, a bitmap of those in use, and a link looks only at the heads
 * of the sets that contain it. Packets are owned by the queue from put to take.
 */
#ifndef CORE_PACKETQ_H
#define CORE_PACKETQ_H

#include "core/pkt.h"

enum { PACKETQ_SETS = 64 };

enum packetq_drop {
    PACKETQ_DROP_TAIL,   /* full: the newcomer is refused */
    PACKETQ_DROP_OLDEST, /* full: the oldest makes room */
    /*
     * Full: the youngest of the least important goes, which is the newcomer itself unless one inside has a lower
     * priority. A search of the queue, and only when the newcomer is above `floor`: where all are equal this costs what
     * drop tail costs.
     */
    PACKETQ_DROP_PRIORITY,
};

struct packetq_fifo {
    struct cw_packet *head, *tail;
};

struct packetq {
    uint64_t used; /* bit s: the FIFO of link set s is not empty */
    uint32_t packets;
    uint32_t bytes; /* length and pad of all inside */
    uint32_t packets_max;
    uint32_t bytes_max;
    enum packetq_drop drop;
    uint8_t floor;                 /* nothing inside has a lower priority; may be too low */
    uint32_t oldest[PACKETQ_SETS]; /* low half of the `order` of a FIFO's head: choosing reads no packet */
    uint32_t count[PACKETQ_SETS];  /* of a FIFO's packets */
    struct packetq_fifo fifo[PACKETQ_SETS];
};

void packetq_init(struct packetq *q, uint32_t packets_max, uint32_t bytes_max, enum packetq_drop drop);

/*
 * Takes p, with p->links (not empty), p->order (above all inside) and p->priority set. Gives what did not fit: NULL; or
 * p itself (packetq_takes() is false); or a list, linked by next, of the packets that made room for it, in the order
 * they went.
 */
CW_MUST_CHECK struct cw_packet *packetq_put(struct packetq *q, struct cw_packet *p);

/*
 * Takes p, that was drained, in any case: limits, lowered perhaps since it came, are for newcomers. links and order as
 * above.
 */
void packetq_put_back(struct packetq *q, struct cw_packet *p);

/* True when p would fit now without dropping anything. */
bool packetq_has_room(const struct packetq *q, const struct cw_packet *p);
/* True when p would be let in now, if need be at the cost of others. */
bool packetq_takes(const struct packetq *q, const struct cw_packet *p);

/* The links that have something to take here. O(1). */
cw_links packetq_links(const struct packetq *q);

/* How many packets may leave by link. O(sets in use). */
uint32_t packetq_count(const struct packetq *q, cw_link link);

/* The oldest packet that may leave by link: borrowed, or NULL. */
static inline bool packetq_has(const struct packetq *q, cw_links set)
{
    return q->used >> set & 1;
}
struct cw_packet *packetq_peek(const struct packetq *q, cw_link link);

/* Gives that packet, or NULL. */
struct cw_packet *packetq_take(struct packetq *q, cw_link link);

/* Gives everything, oldest first, linked by next: to route anew after a change (put back in that order), or to drop. */
struct cw_packet *packetq_drain(struct packetq *q);

#endif
