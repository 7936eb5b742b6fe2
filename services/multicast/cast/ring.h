/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.h - the pieces of one tree that a server keeps in one round: the newest CAST_WINDOW of them.
 *
 *  1. A piece that came is kept until one comes whose number is CAST_WINDOW higher. So pieces below the base that have
 *     not been written over are still there, for a child that had another parent before.
 *  2. A piece is taken when its number lies in base .. base + CAST_WINDOW - 1. The memory is one block of CAST_WINDOW
 *     pieces, allocated with the first piece.
 *  3. The base never goes back.
 *
 * Zeroed it keeps nothing. One owner. Release with cast_ring_close().
 */
#ifndef SERVICES_MULTICAST_CAST_RING_H
#define SERVICES_MULTICAST_CAST_RING_H

#include "services/multicast/cast/head.h"

struct cast_ring {
    uint32_t base;    /* the first piece that this server, or a server below it, may still need by this tree */
    uint64_t have[2]; /* bit i: piece base + i */
    uint32_t piece_bytes;
    uint8_t *bytes;
    uint32_t index[CAST_WINDOW], piece[CAST_WINDOW],
        length[CAST_WINDOW]; /* by index % CAST_WINDOW; length 0: nothing */
    uint64_t sum[CAST_WINDOW];
};

void cast_ring_init(struct cast_ring *r, uint32_t base, uint32_t piece_bytes);
/* Frees all bytes; the base and the bits stay. */
void cast_ring_close(struct cast_ring *r);
size_t cast_ring_memory(const struct cast_ring *r);

/* The bytes of the piece are here. */
bool cast_ring_has(const struct cast_ring *r, uint32_t index);
/*
 * Copies a piece in: its index, piece, sum and rest. -EEXIST: it is there already, or lies below the base; -ERANGE: it
 * lies beyond the window; -EMSGSIZE: it is empty or longer than a piece; -ENOMEM.
 */
CW_MUST_CHECK int cast_ring_put(struct cast_ring *r, const struct cast_head *data);
/*
 * Borrows the bytes of a piece until the ring changes, and fills index, piece, sum and rest of *data. NULL: it is not
 * here.
 */
const uint8_t *cast_ring_get(const struct cast_ring *r, uint32_t index, struct cast_head *data);
/* The first piece from the base on that is not here. */
uint32_t cast_ring_whole(const struct cast_ring *r);
/* The oldest piece from which on every piece up to cast_ring_whole() is here: what a new child can be given. */
uint32_t cast_ring_oldest(const struct cast_ring *r);
/* Moves the base up to `to`, which must lie between base and cast_ring_whole(). */
void cast_ring_advance(struct cast_ring *r, uint32_t to);
/*
 * Moves the base up to `to`, whatever is here: pieces missing below it will not come by this tree. Gives how many are
 * missing; a lower `to` changes nothing.
 */
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
/* Move all bits down, or up, by n; what leaves the window is forgotten. */
void cast_bits_down(uint64_t have[2], uint32_t n);
void cast_bits_up(uint64_t have[2], uint32_t n);
/* Sets exactly the bits from 0 to n - 1. */
void cast_bits_first(uint64_t have[2], uint32_t n);
/* The lowest bit that is set; CAST_WINDOW: none is. */
uint32_t cast_bits_lowest(const uint64_t have[2]);

#endif
