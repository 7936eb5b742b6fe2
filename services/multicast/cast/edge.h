/* SPDX-License-Identifier: Apache-2.0 */
/*
 * edge.h - one parent's sending to one child, on one tree, in one round: what the child lacks, once, and again what was
 * lost.
 *
 *  1. A piece is offered only when the child has said that it lacks the piece and can keep it, and when the piece is
 *     not already on its way.
 *  2. Everything that is sent has a number, its order. The way is one link, which keeps the order; so what is CAST_LATE
 *     orders older than the newest that the child has seen, and is still lacking there, is lost. A probe (an OPEN)
 *     counts for CAST_LATE orders, so that its answer shows of everything sent before it whether it was lost.
 *  3. Until the child is complete, a probe is due when it has not been heard for a time that follows the measured round
 *     trip; the time doubles with each probe in a row.
 *  4. A child that does not take CAST_PACE pieces in the time it is given, though they are there for it, is put out:
 *     its parent no longer waits for it. It is in again when it says that it has everything before the parent's oldest
 *     piece.
 *
 * Pure; time comes in. A plain value with one owner.
 */
#ifndef SERVICES_MULTICAST_CAST_EDGE_H
#define SERVICES_MULTICAST_CAST_EDGE_H

#include "cubeway/time.h"
#include "services/multicast/cast/ring.h"

enum { CAST_LATE = 3, CAST_PACE = 8 };

struct cast_edge {
    /* Where it leads: set by the owner; edge.c looks at height only. */
    cw_server to;
    uint8_t tree;
    uint8_t rank;   /* of the trees that share a link, the one of lower rank goes first */
    uint8_t height; /* edges below the child, on the longest way down */
    cw_links links; /* by which a packet to the child may leave */

    /* Names this edge in its packets; never 0. */
    uint32_t id;
    /* The tree's length, or CAST_OPEN_ENDED; and what the child takes it for. */
    uint32_t length, knows;
    bool heard;  /* the child has answered */
    bool out;    /* rule 4 */
    bool ending; /* the child is to hear the length, and no probe has left since it is known */

    /* The first piece that the child, or a server below it, may still need by this tree. */
    uint32_t base;
    /* Bit i: of piece base + i: the child has it; it was sent and may still arrive; it was sent at all. */
    uint64_t have[2], flying[2], sent[2];
    /* The order of the packet that was sent last, and of the newest that the child has seen. */
    uint32_t order, echo;
    /* Of the newest acknowledgement: older ones are ignored. */
    uint64_t serial;
    /* By index % CAST_WINDOW: the order of a piece that flies. */
    uint32_t sent_order[CAST_WINDOW];

    /* When the next probe is due, when the last one left, and how many left in a row without an answer. */
    cw_time alarm, probed_at;
    unsigned tries;
    /* The order whose round trip is being measured (0: none), since when, and what was measured so far (RFC 6298). */
    uint32_t timed;
    cw_time timed_at;
    cw_span rtt, rtt_varies;
    /* Of rule 4: the base at mark_at. */
    uint32_t mark;
    cw_time mark_at;

    /* Counts. */
    uint64_t repeated, probes;
};

/* The pieces that a parent has: all from oldest to base - 1, and base + i for each bit i of have. */
struct cast_holding {
    uint32_t oldest, base;
    uint64_t have[2];
};

/* Makes a fresh edge; base is that of the parent. The first probe is due at once. */
void cast_edge_init(struct cast_edge *e, uint32_t id, uint32_t base, cw_time now);
/* The child has everything and has said so itself: it knows the length. */
static inline bool cast_edge_complete(const struct cast_edge *e)
{
    return e->heard && e->base >= e->length && e->knows == e->length;
}
/* The piece to send now, of those that the parent has. False: none. */
bool cast_edge_next(const struct cast_edge *e, const struct cast_holding *holding, uint32_t *index);
/* That piece leaves: gives its order. */
uint32_t cast_edge_sent(struct cast_edge *e, uint32_t index, cw_time now);
/* A probe is due. */
bool cast_edge_due(const struct cast_edge *e, cw_time now);
/* A probe leaves: gives its order, and sets the next alarm. */
uint32_t cast_edge_probed(struct cast_edge *e, cw_time now);
/* Takes an acknowledgement. False: it is another edge's, old, or impossible, and nothing changed. */
bool cast_edge_acked(struct cast_edge *e, const struct cast_head *ack, cw_time now);
/* The tree's length is known now: the child is to hear it at once. */
void cast_edge_ends(struct cast_edge *e, uint32_t length, cw_time now);
/*
 * Keeps rule 4. `whole` is the first piece that the parent lacks; `patience` is for a leaf, and an eighth more is given
 * for each edge below. True: this call has put the child out.
 */
bool cast_edge_watch(struct cast_edge *e, uint32_t whole, cw_span patience, cw_time now);

#endif
