/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cast_ring.h - the pieces of one tree that a server keeps: at most CAST_WINDOW, from `base` on.
 *
 *  1. Nothing is kept outside base .. base + CAST_WINDOW - 1, and memory is one block of CAST_WINDOW pieces.
 *  2. A piece that is kept is there until the base passes it, or is set back below it by more than the window.
 *
 * Zeroed it keeps nothing of nothing. One owner.
 */
#ifndef SERVICES_MULTICAST_CAST_RING_H
#define SERVICES_MULTICAST_CAST_RING_H

#include "services/multicast/cast_head.h"

struct cast_ring {
    uint32_t base, pieces; /* pieces: of the whole tree */
    uint32_t piece_bytes;
    uint64_t have[2]; /* bit i: piece base + i */
    uint8_t *bytes;
    uint32_t length[CAST_WINDOW];
    uint64_t sum[CAST_WINDOW];
};

/* -ENOMEM. Begins at base, which is at most pieces. Release with cast_ring_close(). */
CW_MUST_CHECK int cast_ring_open(struct cast_ring *r, uint32_t base, uint32_t pieces, uint32_t piece_bytes);
void cast_ring_close(struct cast_ring *r);
size_t cast_ring_memory(const struct cast_ring *r);

bool cast_ring_has(const struct cast_ring *r, uint32_t index);
/* Copies a piece in. 0; -EEXIST it is there, or below the base; -ERANGE beyond the window or the tree; -EMSGSIZE longer than a piece. */
CW_MUST_CHECK int cast_ring_put(struct cast_ring *r, uint32_t index, const uint8_t *bytes, size_t length, uint64_t sum);
/* Borrows a piece that is there, until the ring changes; NULL otherwise. */
const uint8_t *cast_ring_get(const struct cast_ring *r, uint32_t index, size_t *length, uint64_t *sum);
/* The first piece that is not there: base or above. */
uint32_t cast_ring_whole(const struct cast_ring *r);
/* Lets go of everything below `to`, which is between base and cast_ring_whole(). */
void cast_ring_advance(struct cast_ring *r, uint32_t to);
/* Sets the base back: pieces from it on are wanted (again). Keeps what still fits. */
void cast_ring_rewind(struct cast_ring *r, uint32_t to);

/* Sets of CAST_WINDOW bits. */
static inline bool cast_bits_has(const uint64_t have[2], uint32_t i)
{
    return have[i / 64] >> i % 64 & 1;
}
/* Moves all bits down by n, or up: what leaves the window goes. */
void cast_bits_down(uint64_t have[2], uint32_t n);
void cast_bits_up(uint64_t have[2], uint32_t n);

#endif
