/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stripe.h - how the source stripes a message over its trees: the next piece of a round goes by whichever tree can send
 * now. So a tree that is slow, because it shares a link since a server died, carries less and holds up nobody.
 *
 *  1. In a round each piece that is wanted is assigned once, to one tree.
 *  2. A tree has at most CAST_SPREAD pieces under way; once its rate is known, no more than it moves in 5 ms, and
 *     CAST_AHEAD besides. So all trees end a round at about the same time.
 *  3. When servers go out of sight or come back, some of what is under way may have to be sent again. So from then on a
 *     tree has at most CAST_CAREFUL pieces under way, and one more for each four that have arrived everywhere since.
 *  4. The last CAST_WINDOW pieces that were assigned to a tree can be looked up by their number in it.
 *
 * Pure; time comes in.
 */
#ifndef SERVICES_MULTICAST_CAST_STRIPE_H
#define SERVICES_MULTICAST_CAST_STRIPE_H

#include "cubeway/time.h"
#include "services/multicast/cast/head.h"

/*
 * CAST_SPREAD is less than CAST_WINDOW: the rest is history, for a server that gets a new parent while others have gone
 * on already.
 */
enum { CAST_SPREAD = 96, CAST_AHEAD = 16, CAST_CAREFUL = 4 };

struct cast_lane {
    uint32_t base, next; /* numbers in the tree: below next assigned, below base needed nowhere */
    uint32_t piece[CAST_WINDOW];
    /*
     * Pieces a second; 0: not known. Floating point, though this rate decides in the simulator too which piece goes by
     * which tree: the results are the same on every machine with IEEE 754 arithmetic in 64 bits (FLT_EVAL_METHOD 0, as
     * on x86-64 and arm64), as only + * / and comparisons are used, and no library function. No sum has a product as an
     * operand, so there is nothing that a compiler could fuse (-ffp-contract). Keep it so, and out of -ffast-math.
     */
    double rate;
    uint32_t mark;
    cw_time mark_at;
    /* Rule 3 holds, since the base was careful_from. */
    bool careful;
    uint32_t careful_from;
};

struct cast_stripe {
    uint32_t pieces;
    uint8_t *want; /* a bit for each piece that is still to be assigned */
    uint32_t left, cursor;
    struct cast_lane lane[CW_LINK_COUNT];
};

/* Nothing is wanted yet. -ENOMEM. */
CW_MUST_CHECK int cast_stripe_open(struct cast_stripe *d, uint32_t pieces);
void cast_stripe_close(struct cast_stripe *d);
size_t cast_stripe_memory(const struct cast_stripe *d);

/*
 * Wants the pieces first + i, i < count, for which bit i % 8 of bits[i / 8] is set (NULL: all of them). Pieces beyond
 * the message are ignored.
 */
void cast_stripe_want(struct cast_stripe *d, uint32_t first, uint32_t count, const uint8_t *bits);
/* Begins a round: all trees are empty; what is wanted stays wanted. */
void cast_stripe_round(struct cast_stripe *d, cw_time now);

/* Servers went out of sight or came back (rule 3). Call it after cast_stripe_advance() for what has arrived so far. */
void cast_stripe_careful(struct cast_stripe *d);
/* The number of pieces that a tree may have under way (rules 2 and 3). */
uint32_t cast_stripe_room(const struct cast_stripe *d, uint8_t tree);
/*
 * Assigns the next piece to a tree, and gives its number there. False: the tree is full for now, or nothing is wanted.
 */
bool cast_stripe_assign(struct cast_stripe *d, uint8_t tree, uint32_t *index);
/* Takes back what the last cast_stripe_assign() of that tree gave. */
void cast_stripe_undo(struct cast_stripe *d, uint8_t tree);
/* The piece with that number in the tree: one of the last CAST_WINDOW that were assigned to it. */
static inline uint32_t cast_stripe_piece(const struct cast_stripe *d, uint8_t tree, uint32_t index)
{
    return d->lane[tree].piece[index % CAST_WINDOW];
}
/* Nobody needs the pieces of the tree below `base` any more. */
void cast_stripe_advance(struct cast_stripe *d, uint8_t tree, uint32_t base, cw_time now);

#endif
