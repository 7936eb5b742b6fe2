/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frontier.h - which blocks of a vector the reducer has whole ("settled": every contributor is in them once), and which
 * one it deals next to a tree.
 *
 * In one attempt each block is dealt at most once, and a settled block never: so nobody is added twice. A new attempt
 * deals again what was dealt and not settled.
 */
#ifndef SERVICES_AGGREGATE_DENSE_FRONTIER_H
#define SERVICES_AGGREGATE_DENSE_FRONTIER_H

#include "cubeway/types.h"

struct frontier {
    uint64_t *set;    /* of the settled blocks */
    uint32_t blocks;  /* of the vector */
    uint32_t settled; /* how many are */
    uint32_t next;    /* the blocks before it are settled, or dealt in this attempt */
    uint32_t dealt;   /* in this attempt */
    uint64_t again;   /* were dealt and not settled when attempts before this one ended */
};

/* Fills *f, for frontier_free() to release. -ENOMEM. */
CW_MUST_CHECK int frontier_init(struct frontier *f, uint32_t blocks);
void frontier_free(struct frontier *f);

/* A new attempt begins. keep: with the blocks that are settled; otherwise with none. */
void frontier_restart(struct frontier *f, bool keep);
/* The block that is to be dealt next, and is not yet. False: all are settled or dealt. */
CW_MUST_CHECK bool frontier_next(struct frontier *f, uint32_t *block);
/* The next block to be dealt. False: all are settled or dealt. */
CW_MUST_CHECK bool frontier_deal(struct frontier *f, uint32_t *block);
/* The block is whole. It was dealt in this attempt, and is not settled yet: otherwise the program stops (CHECK). */
void frontier_settle(struct frontier *f, uint32_t block);

static inline bool frontier_has(const struct frontier *f, uint32_t block)
{
    return f->set[block / 64] >> block % 64 & 1;
}

static inline bool frontier_done(const struct frontier *f)
{
    return f->settled == f->blocks;
}

#endif
