/* SPDX-License-Identifier: Apache-2.0 */
/*
 * edge.h - one parent's sending to one child on one tree in one round: what the child lacks, once, and again what was lost.
 *
 *  1. A piece is offered only when the child said that it lacks it and can keep it, and what was sent is not known to be lost.
 *  2. Everything sent is numbered (order). The way is one link, so what is CAST_LATE numbers older than the newest the child has seen, and
 *     which it lacks, is lost; a probe (an OPEN) counts for CAST_LATE numbers, so that its answer settles all that went before it.
 *  3. As long as the child is not complete, a probe is due after a time without news of it that follows the measured round trip, and doubles each time.
 *  4. A child that does not take CAST_PACE pieces in the time it is given, though they are there for it, is put out: the parent no longer waits for it. It
 *     is in again when it says that it has what went before.
 *
 * Pure; time comes in. A plain value with one owner.
 */
#ifndef SERVICES_MULTICAST_CAST_EDGE_H
#define SERVICES_MULTICAST_CAST_EDGE_H

#include "cubeway/time.h"
#include "services/multicast/cast/ring.h"

enum { CAST_LATE = 3, CAST_PACE = 8 };

struct cast_edge {
    /* Where it leads; set by the user and not looked at here, but for height. */
    cw_server to;
    uint8_t tree;
    uint8_t rank;   /* of the trees that share a link the lower goes first */
    uint8_t height; /* edges below the child, on the longest way down */
    cw_links links; /* that a packet to it may leave by */

    uint32_t id;     /* names this edge, never 0 */
    uint32_t length; /* of the tree, or CAST_OPEN_ENDED */
    uint32_t knows;  /* what the child says it is */
    bool heard;
    bool out;
    bool ending;        /* the child is to be told the length, which no probe has said yet */
    uint32_t base;      /* all below, the child and everything under it have, or will not get by this tree */
    uint64_t have[2];   /* from base on, what the child has; */
    uint64_t flying[2]; /* what was sent, and may still come; */
    uint64_t sent[2];   /* what was sent at all */
    uint32_t order;     /* of what was sent last */
    uint32_t echo;      /* of the newest that the child has seen */
    uint64_t serial;
    uint32_t sent_order[CAST_WINDOW]; /* by index % CAST_WINDOW, of what flies */
    cw_time alarm, probed_at;
    unsigned tries;
    uint32_t timed; /* order whose round trip is being measured; 0: none */
    cw_time timed_at;
    cw_span rtt, rtt_varies;
    uint32_t mark; /* the base at mark_at */
    cw_time mark_at;
    uint64_t repeated, probes;
};

/* What the parent itself has: all of oldest .. base - 1, and base + i for bit i. */
struct cast_holding {
    uint32_t oldest, base;
    uint64_t have[2];
};

/* A fresh edge; base is the parent's own. The first probe is due at once. */
void cast_edge_init(struct cast_edge *e, uint32_t id, uint32_t base, cw_time now);
static inline bool cast_edge_complete(const struct cast_edge *e)
{
    return e->heard && e->base >= e->length &&
           e->knows == e->length; /* what the child has not said itself does not count */
}
/* The piece to send now. False: none. */
bool cast_edge_next(const struct cast_edge *e, const struct cast_holding *mine, uint32_t *index);
/* It leaves: gives its order. */
uint32_t cast_edge_sent(struct cast_edge *e, uint32_t index, cw_time now);
/* A probe is due. */
bool cast_edge_due(const struct cast_edge *e, cw_time now);
/* It leaves: gives its order, and sets the next alarm. */
uint32_t cast_edge_probed(struct cast_edge *e, cw_time now);
/* Takes an answer. False: it is of another edge, old, or impossible, and nothing changed. */
bool cast_edge_acked(struct cast_edge *e, const struct cast_head *ack, cw_time now);
/* How long the tree now is: the child is to be told at once. */
void cast_edge_ends(struct cast_edge *e, uint32_t length, cw_time now);
/* Looks after rule 4; whole: the first piece that the parent lacks. True: it is put out by this call. patience is for a leaf; an eighth more for each of height. */
bool cast_edge_watch(struct cast_edge *e, uint32_t whole, cw_span patience, cw_time now);

#endif
