/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cast_edge.h - one parent's sending to one child on one tree: what the child lacks, once, and again what was lost.
 *
 *  1. A piece is offered only when the child said that it lacks it and can keep it, and what was sent is not known to be lost.
 *  2. Everything sent is numbered (order). The way is one link, so what is CAST_LATE numbers older than the newest the child has seen, and
 *     which it lacks, is lost; a probe (an OPEN) counts for CAST_LATE numbers, so that its answer settles all that went before it.
 *  3. As long as the child is not complete, a probe is due after a time without news of it, which doubles each time.
 *
 * Pure; time comes in. A plain value with one owner.
 */
#ifndef SERVICES_MULTICAST_CAST_EDGE_H
#define SERVICES_MULTICAST_CAST_EDGE_H

#include "cubeway/time.h"
#include "services/multicast/cast_ring.h"

enum { CAST_LATE = 3 };

struct cast_edge {
    /* Where it leads; set by the user and not looked at here. */
    cw_server to;
    uint8_t tree;
    cw_key key;
    cw_links links; /* that a packet to it may leave by */

    uint32_t id; /* names this edge, never 0 */
    uint32_t pieces;
    bool heard;
    uint32_t base;    /* all below, the child and everything under it have */
    uint64_t have[2]; /* from base on, what the child has */
    uint32_t order;   /* of what was sent last */
    uint32_t echo;    /* of the newest that the child has seen */
    uint64_t serial;
    uint32_t sent_order[CAST_WINDOW], sent_index[CAST_WINDOW]; /* 0: never */
    cw_time alarm;
    unsigned tries;
    uint32_t timed; /* order whose round trip is being measured; 0: none */
    cw_time timed_at;
    cw_span rtt;
    uint64_t sent, repeated, probes;
};

/* What the parent itself has: all of from .. end - 1 when have is NULL, else the ring's. */
struct cast_mine {
    uint32_t from, end;
    const struct cast_ring *ring;
};

/* A fresh edge; base is the parent's own, below which nobody lacks anything. The first probe is due at once. */
void cast_edge_init(struct cast_edge *e, uint32_t id, uint32_t base, uint32_t pieces, cw_time now);
static inline bool cast_edge_complete(const struct cast_edge *e)
{
    return e->heard && e->base >= e->pieces; /* what the child has not said itself does not count */
}
/* The piece to send now. False: none. */
bool cast_edge_next(const struct cast_edge *e, const struct cast_mine *mine, uint32_t *index);
/* It leaves: gives its order. */
uint32_t cast_edge_sent(struct cast_edge *e, uint32_t index, cw_time now);
/* A probe is due. */
bool cast_edge_due(const struct cast_edge *e, cw_time now);
/* It leaves: gives its order, and sets the next alarm. */
uint32_t cast_edge_probed(struct cast_edge *e, cw_time now);
/* Takes an answer. False: it is of another edge, old, or impossible, and nothing changed. */
bool cast_edge_told(struct cast_edge *e, const struct cast_head *ack, cw_time now);

#endif
