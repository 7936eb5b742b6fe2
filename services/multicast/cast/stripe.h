/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stripe.h - the source's dealing of pieces to its trees: the next piece of a round goes by whichever tree can send now, so that a tree which is slow, because
 * it shares a link since a server died, carries less and holds up nobody.
 *
 *  1. In a round each piece that is wanted is assigned once, to one tree.
 *  2. A tree has at most CAST_SPREAD pieces under way; and once it is known how fast it is, no more than it takes in 5 ms, and CAST_AHEAD: so the trees end a
 *     round at about the same time.
 *  3. What is under way in a tree, and up to CAST_WINDOW in all, can be looked up by its number there.
 *
 * Pure; time comes in.
 */
#ifndef SERVICES_MULTICAST_CAST_STRIPE_H
#define SERVICES_MULTICAST_CAST_STRIPE_H

#include "cubeway/time.h"
#include "services/multicast/cast/head.h"

/* What is left to CAST_WINDOW is history: for servers that get a new parent, who hears of it a little later than others go on. */
enum { CAST_SPREAD = 96, CAST_AHEAD = 16 };

struct cast_lane {
    uint32_t base, next; /* pieces of the tree: below base all have them; below next they are assigned */
    uint32_t piece[CAST_WINDOW];
    double rate; /* pieces a second, 0: not known */
    uint32_t mark;
    cw_time mark_at;
};

struct cast_stripe {
    uint32_t pieces;
    uint8_t *want; /* still to be assigned in this round, or wanted in the next */
    uint32_t left, cursor;
    struct cast_lane lane[CW_LINK_COUNT];
};

/* -ENOMEM. Wants nothing yet. */
CW_MUST_CHECK int cast_stripe_open(struct cast_stripe *d, uint32_t pieces);
void cast_stripe_close(struct cast_stripe *d);
size_t cast_stripe_memory(const struct cast_stripe *d);

/* Wants pieces first .. first + count - 1, of which bit i % 8 of bits[i / 8] is set (NULL: all). Those beyond the message are ignored. */
void cast_stripe_want(struct cast_stripe *d, uint32_t first, uint32_t count, const uint8_t *bits);
/* A new round: the lanes begin anew, nothing is forgotten of what is wanted. */
void cast_stripe_round(struct cast_stripe *d, cw_time now);

/* How many pieces a tree may have under way. */
uint32_t cast_stripe_room(const struct cast_stripe *d, uint8_t tree);
/* Deals a piece to a tree: true, and its number there. False: it may have no more now, or there is none. */
bool cast_stripe_assign(struct cast_stripe *d, uint8_t tree, uint32_t *index);
/* Takes back what cast_stripe_assign() gave last. */
void cast_stripe_undo(struct cast_stripe *d, uint8_t tree);
/* The piece of the message with that number in the tree, which is below next and not CAST_WINDOW older. */
static inline uint32_t cast_stripe_piece(const struct cast_stripe *d, uint8_t tree, uint32_t index)
{
    return d->lane[tree].piece[index % CAST_WINDOW];
}
/* All below `base` of the tree is settled. */
void cast_stripe_settle(struct cast_stripe *d, uint8_t tree, uint32_t base, cw_time now);

#endif
