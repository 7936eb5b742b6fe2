/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.h - the pieces of one tree that a server keeps, in one round: the newest CAST_WINDOW of them.
 *
 *  1. A piece that came is kept until one comes that is CAST_WINDOW numbers later: also below the base there is what has not been written over yet, for a
 *     child that hung somewhere else before.
 *  2. What is taken lies in base .. base + CAST_WINDOW - 1, and memory is one block of CAST_WINDOW pieces, had from the first piece on.
 *
 * Zeroed it keeps nothing. One owner. Release with cast_ring_close().
 */
#ifndef SERVICES_MULTICAST_CAST_RING_H
#define SERVICES_MULTICAST_CAST_RING_H

#include "services/multicast/cast/head.h"

struct cast_ring {
    uint32_t base;    /* all below, this server and all below it have, or will not get by this tree */
    uint64_t have[2]; /* bit i: piece base + i */
    uint32_t piece_bytes;
    uint8_t *bytes;
    uint32_t index[CAST_WINDOW], piece[CAST_WINDOW],
        length[CAST_WINDOW]; /* by index % CAST_WINDOW; length 0: nothing */
    uint64_t sum[CAST_WINDOW];
};

void cast_ring_init(struct cast_ring *r, uint32_t base, uint32_t piece_bytes);
/* Lets go of all bytes; base and bits stay. */
void cast_ring_close(struct cast_ring *r);
size_t cast_ring_memory(const struct cast_ring *r);

/* The bytes are here. */
bool cast_ring_has(const struct cast_ring *r, uint32_t index);
/* Copies a piece in: index, piece, sum, rest. 0; -EEXIST it is there, or below the base; -ERANGE beyond the window; -EMSGSIZE longer than a piece; -ENOMEM. */
CW_MUST_CHECK int cast_ring_put(struct cast_ring *r, const struct cast_head *data);
/* Borrows the bytes of a piece that is here, until the ring changes, and says what it is; NULL: it is not here. */
const uint8_t *cast_ring_get(const struct cast_ring *r, uint32_t index, struct cast_head *data);
/* The first piece from base on that is not there. */
uint32_t cast_ring_whole(const struct cast_ring *r);
/* The first from which on, up to cast_ring_whole(), every piece is still here: what a new child can be given. */
uint32_t cast_ring_oldest(const struct cast_ring *r);
/* Moves the base on to `to`, which is between base and cast_ring_whole(). */
void cast_ring_advance(struct cast_ring *r, uint32_t to);
/* Moves the base on to `to` whatever is there: what is missing below it will not come by this tree. Gives how many are missing. */
uint32_t cast_ring_skip(struct cast_ring *r, uint32_t to);

/* Sets of CAST_WINDOW bits. */
static inline bool cast_bits_has(const uint64_t have[2], uint32_t i)
{
    return have[i / 64] >> i % 64 & 1;
}
static inline void cast_bits_add(uint64_t have[2], uint32_t i)
{
    have[i / 64] |= UINT64_C(1) << i % 64;
}
/* Moves all bits down by n, or up: what leaves the window goes. */
void cast_bits_down(uint64_t have[2], uint32_t n);
void cast_bits_up(uint64_t have[2], uint32_t n);
/* The bits from 0 to n - 1. */
void cast_bits_first(uint64_t have[2], uint32_t n);
/* The lowest bit; CAST_WINDOW: there is none. */
uint32_t cast_bits_lowest(const uint64_t have[2]);

#endif
