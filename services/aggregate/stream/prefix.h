/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prefix.h - what has come of one partition to its root: blocks of records, which ascend from the partition's first key
 * on. An attempt that ends before the partition is whole leaves a prefix; it is cut behind a key of which nothing can
 * follow any more, and the next attempt goes on behind that key (aggregate rule 26). So what is done again is what was
 * on its way, and not what had arrived.
 */
#ifndef SERVICES_AGGREGATE_STREAM_PREFIX_H
#define SERVICES_AGGREGATE_STREAM_PREFIX_H

#include "base/bytes.h"
#include "cubeway/combine.h"

struct prefix_block {
    struct prefix_block *next;
    size_t size;
    uint8_t bytes[];
};

struct prefix {
    struct prefix_block *first, **last;
    uint64_t bytes;
    uint8_t *after; /* others go on behind this key; NULL: they begin with the first one */
    uint32_t after_length;
    bool cut; /* since the last block came */
};

void prefix_init(struct prefix *p);
/* Copies a block of records, none of whose keys is below those that are there. 0 or -ENOMEM. */
CW_MUST_CHECK int prefix_add(struct prefix *p, const uint8_t *bytes, size_t size);
/*
 * Keeps the records up to the last key of which no more can come. one_of_each: records of equal keys were combined on
 * their way, so a key that is there is complete. Else they come one by one, perhaps in several blocks: those of the
 * last key are taken away. Where no memory is left for the key nothing is kept.
 */
void prefix_cut(struct prefix *p, bool one_of_each);
/* The key that the next attempt goes on behind, borrowed; of no length: there is none. */
cw_bytes prefix_after(const struct prefix *p);
/* Frees all: p is as after prefix_init(). */
void prefix_clear(struct prefix *p);

#endif
