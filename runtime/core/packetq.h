/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packetq.h - the default queue of a service: each packet waits once, with the set of links it may leave by.
 *
 * Guarantee: a link takes the oldest packet that may leave by it; so, over all links, the oldest packet leaves by whichever of its links
 * has room first (CamCubeOS 3.3). Never more than the limits inside. Nothing here allocates: packets are linked through `next`.
 *
 * Packets with the same link set share one FIFO; 64 sets, a bitmap of those in use, and a link looks only at the heads of the sets that
 * contain it. Packets are owned by the queue from put to take.
 */
#ifndef CORE_PACKETQ_H
#define CORE_PACKETQ_H

#include "core/pkt.h"

enum { PACKETQ_SETS = 64 };

enum packetq_drop {
    PACKETQ_DROP_TAIL,   /* full: the newcomer is refused */
    PACKETQ_DROP_OLDEST, /* full: the oldest makes room */
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
    uint32_t oldest[PACKETQ_SETS]; /* low half of the `order` of a FIFO's head: choosing reads no packet */
    uint32_t count[PACKETQ_SETS];  /* of a FIFO's packets */
    struct packetq_fifo fifo[PACKETQ_SETS];
};

void packetq_init(struct packetq *q, uint32_t packets_max, uint32_t bytes_max, enum packetq_drop drop);

/*
 * Takes p, with p->links (not empty) and p->order (above all inside) set. Gives what did not fit: NULL; or p itself (drop tail, or larger
 * than the whole queue); or a list, linked by next, of the oldest packets that made room for it.
 */
CW_MUST_CHECK struct cw_packet *packetq_put(struct packetq *q, struct cw_packet *p);

/* True when p would fit now without dropping anything. */
bool packetq_has_room(const struct packetq *q, const struct cw_packet *p);

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

/* Gives everything, oldest first, linked by next: to route anew after a change (put again in that order), or to drop. */
struct cw_packet *packetq_drain(struct packetq *q);

#endif
