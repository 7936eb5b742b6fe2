/* SPDX-License-Identifier: Apache-2.0 */
/*
 * turns.h - one place of many senders: packets wait in turns by the job that sent them.
 *
 * Guarantee: jobs that want a link at the same time get the same bytes of it, plus or minus one maximal packet
 * (invariant 23 once more, one level below the places of fairq.h: QNIX's two-level round robin). No job fills the room:
 * a job may have twice what is free, so that one alone gets two thirds, and two get two fifths each.
 *
 * TURNS_JOBS jobs have a turn of their own at a time. When more of them have packets here, each further one shares the
 * turn of another, which a hash chooses. A turn whose packets have gone keeps its clocks, also for the job that has it
 * next: who begins anew gains nothing, and loses one packet's time at most.
 *
 * As in packetq.h each packet waits once, with the set of links it may leave by, and a link takes the oldest one that
 * may leave by it, of the job whose turn it is. The turns own a packet from put to take.
 */
#ifndef CORE_TURNS_H
#define CORE_TURNS_H

#include "core/queue/fairq.h"
#include "core/queue/packetq.h"

enum { TURNS_JOBS = FAIRQ_PLACES };

struct turns {
    uint32_t packets, bytes; /* inside */
    uint32_t packets_max, bytes_max;
    uint64_t ready[CW_LINK_COUNT];     /* bit i: the job whose turn is number i has packets for the link */
    cw_job job[TURNS_JOBS];            /* whose turn it is, or was; 0: nobody's yet */
    struct packetq *queue[TURNS_JOBS]; /* NULL: there was never a packet */
    struct fairq fair[CW_LINK_COUNT];
};

void turns_init(struct turns *t, uint32_t packets_max, uint32_t bytes_max);
/* All packets must have been taken. */
void turns_close(struct turns *t);
size_t turns_bytes(const struct turns *t);

/*
 * Takes p, with p->links and p->order as packetq_put() wants them; its head says which job sent it. False: there is no
 * room for a packet of this job, or no memory, and p is still the caller's.
 */
CW_MUST_CHECK bool turns_put(struct turns *t, struct cw_packet *p);
/* True when turns_put() would take p now, as far as memory goes. */
bool turns_takes(const struct turns *t, const struct cw_packet *p);
/* Takes p back, which turns_drain() gave, whatever the limits are. */
void turns_put_back(struct turns *t, struct cw_packet *p);

/* The links for which there is something to take. */
cw_links turns_links(const struct turns *t);
/* How many jobs have packets for the link. */
unsigned turns_wanted(const struct turns *t, cw_link link);

/* The next packet for the link, or NULL: peek borrows it, take gives it. */
struct cw_packet *turns_peek(struct turns *t, cw_link link);
struct cw_packet *turns_take(struct turns *t, cw_link link);

/* Gives all packets, oldest first, linked by `next`. */
struct cw_packet *turns_drain(struct turns *t);

/* For tests and CHECK_SLOW: walks all packets; true when counts and sums are those of the packets inside. */
bool turns_valid(const struct turns *t);

#endif
