/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cast_stripe.h - how the bytes of a message are laid on its trees: piece g goes by tree g mod trees, as that tree's piece g / trees.
 *
 * Behind the pieces comes one more, the trailer: 8 bytes, the sum modulo 2^64 of the sums (cast_sum()) of all others, by which whoever
 * has them all knows that they are the source's. A plain value; functions are pure.
 */
#ifndef SERVICES_MULTICAST_CAST_STRIPE_H
#define SERVICES_MULTICAST_CAST_STRIPE_H

#include "cubeway/types.h"

enum { CAST_TRAILER_BYTES = 8 };

struct cast_stripe {
    uint64_t bytes;
    uint32_t piece_bytes;
    unsigned trees;
    uint8_t tree[CW_LINK_COUNT];   /* their links, lowest first */
    uint8_t number[CW_LINK_COUNT]; /* by link, of those in it */
    uint64_t pieces;               /* the trailer is one of them */
};

/* -EINVAL: no tree, or pieces of no bytes; -E2BIG: more pieces of a tree than 32 bits number. */
CW_MUST_CHECK int cast_stripe_init(struct cast_stripe *s, uint64_t bytes, uint32_t piece_bytes, cw_links trees);
/* How many pieces go by a tree (0 when it is none of them). */
uint32_t cast_stripe_count(const struct cast_stripe *s, uint8_t tree);
/* The piece of the message that is the tree's piece index, below cast_stripe_count(). */
uint64_t cast_stripe_piece(const struct cast_stripe *s, uint8_t tree, uint32_t index);
static inline bool cast_stripe_trailer(const struct cast_stripe *s, uint64_t piece)
{
    return piece + 1 == s->pieces;
}
/* The bytes of a piece, the trailer's too. */
size_t cast_stripe_length(const struct cast_stripe *s, uint64_t piece);

#endif
