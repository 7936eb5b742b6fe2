/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocks.h - a vector cut into blocks: whole elements, all blocks of one length but the last.
 *
 * A block is passed on packet by packet, so its length costs no time on the way, but at the end, when the trees wait
 * for the last of their blocks: a block of the vector's bytes / (170 * depth) keeps that near 1 %. Each block costs two
 * or three small packets, and one of a single packet would be acknowledged late: so it is not below 15 KiB, two packets
 * of 9,000 bytes; less by up to a seventh where that gives each of the six trees equally many. It is not above 32 KiB,
 * since the blocks of several runs wait behind one another, nor above what the transport sends of a message before the
 * receiver has answered, 16 packets: with one more, frames of 1,500 bytes bring half. It is 64 KiB where a vector would
 * have too many blocks otherwise.
 */
#ifndef SERVICES_AGGREGATE_DENSE_BLOCKS_H
#define SERVICES_AGGREGATE_DENSE_BLOCKS_H

#include "services/aggregate/dense/number.h"

enum { BLOCKS_BYTES_LEAST = 15 * 1024, BLOCKS_BYTES_MOST = 64 * 1024 };
/* The longest vector: 64 GiB, that is 2^20 blocks of the greatest size. No vector has more blocks than that. */
#define BLOCKS_VECTOR_MOST (UINT64_C(64) << 30)
#define BLOCKS_MOST (UINT32_C(1) << 20)

struct blocks {
    uint64_t elements;
    uint32_t element; /* bytes of one */
    uint32_t each;    /* elements of every block but the last, which has 1..each */
    uint32_t count;   /* 0: a vector without elements */
};

/*
 * Cuts a vector for trees of that depth, where a packet has so many bytes (cw_mtu()). -EINVAL: element is not
 * 1..NUMBER_ELEMENT_MOST; -EFBIG: more than BLOCKS_VECTOR_MOST bytes.
 */
CW_MUST_CHECK int blocks_make(struct blocks *b, uint64_t elements, size_t element, unsigned depth, size_t packet);
/*
 * As somebody else has cut it. -EPROTO: nobody cuts so: each is 0, or a block would be longer than BLOCKS_BYTES_MOST,
 * or there would be more than BLOCKS_MOST of them.
 */
CW_MUST_CHECK int blocks_read(struct blocks *b, uint64_t elements, size_t element, uint32_t each);

/* The number of the first element of a block, and how many the block has. block < count. */
static inline uint64_t blocks_first(const struct blocks *b, uint32_t block)
{
    return (uint64_t)block * b->each;
}

static inline size_t blocks_elements(const struct blocks *b, uint32_t block)
{
    uint64_t left = b->elements - blocks_first(b, block);
    return left < b->each ? (size_t)left : b->each;
}

/* Bytes of the longest block; 0 when there is none. */
static inline size_t blocks_longest(const struct blocks *b)
{
    return b->count == 0 ? 0 : blocks_elements(b, 0) * b->element;
}

#endif
