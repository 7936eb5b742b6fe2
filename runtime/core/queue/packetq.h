/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packetq.h - the default queue of a service: each packet waits once, with the set of links it may leave by.
 *
 * Guarantee: a link takes the oldest packet that may leave by it. So a packet leaves by whichever of its links has room
 * first (CamCubeOS 3.3), and packets that may leave by the same links do not overtake one another. Nothing comes in
 * beyond the limits. Nothing here allocates: packets are linked through `next`.
 *
 * Packets with the same set of links share one FIFO. There are 64 sets and a bitmap of those in use, and a link looks
 * only at the heads of the sets that contain it. The queue owns a packet from put to take.
 */
#ifndef CORE_QUEUE_PACKETQ_H
#define CORE_QUEUE_PACKETQ_H

#include "core/queue/pkt.h"

enum { PACKETQ_SETS = 64 };

enum packetq_drop {
    PACKETQ_DROP_TAIL,   /* full: the newcomer is refused */
    PACKETQ_DROP_OLDEST, /* full: the oldest packet makes room */
    /*
     * Full: the youngest packet of the lowest priority goes, which is the newcomer itself unless one inside has a lower
     * priority than it. That is a search of the queue, made only if the newcomer is above `floor`: where all priorities
     * are equal this policy costs what PACKETQ_DROP_TAIL costs.
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
    uint8_t floor;                 /* lower bound of the priorities inside; not kept tight */
    uint32_t oldest[PACKETQ_SETS]; /* by set: low half of its head's `order`, so that choosing reads no packet */
    uint32_t count[PACKETQ_SETS];  /* by set: packets in its FIFO */
    struct packetq_fifo fifo[PACKETQ_SETS];
};

void packetq_init(struct packetq *q, uint32_t packets_max, uint32_t bytes_max, enum packetq_drop drop);

/*
 * Takes p, with p->links (not empty), p->order (above all inside) and p->priority set. Gives what did not fit: NULL; or
 * p itself, if packetq_takes() is false; or a list through `next` of the packets that made room for p, in the order in
 * which they went.
 */
CW_MUST_CHECK struct cw_packet *packetq_put(struct packetq *q, struct cw_packet *p);

/*
 * Takes p back, which packetq_drain() gave, whatever the limits are now: they are for newcomers. links and order as in
 * packetq_put().
 */
void packetq_put_back(struct packetq *q, struct cw_packet *p);

/* True when p would fit now without dropping anything. */
bool packetq_has_room(const struct packetq *q, const struct cw_packet *p);
/* True when p would be let in now, perhaps at the cost of others. */
bool packetq_takes(const struct packetq *q, const struct cw_packet *p);

/* The links for which there is something to take here. O(1). */
cw_links packetq_links(const struct packetq *q);

/* How many packets may leave by link. O(sets in use). */
uint32_t packetq_count(const struct packetq *q, cw_link link);

/* True when some packet inside has exactly this set of links. */
static inline bool packetq_has(const struct packetq *q, cw_links set)
{
    return q->used >> set & 1;
}

/* The oldest packet that may leave by link, or NULL: peek borrows it, take gives it. */
struct cw_packet *packetq_peek(const struct packetq *q, cw_link link);
struct cw_packet *packetq_take(struct packetq *q, cw_link link);

/*
 * For tests and CHECK_SLOW: walks all packets; true when counts, sums, heads and tails are those of the packets inside
 * and each FIFO is in the order of arrival. (The limits may have been lowered below what is inside.)
 */
bool packetq_valid(const struct packetq *q);

/* Gives all packets, oldest first, linked by `next`: to be routed anew and put back in that order, or to be dropped. */
struct cw_packet *packetq_drain(struct packetq *q);

#endif
