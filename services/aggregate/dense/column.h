/* SPDX-License-Identifier: Apache-2.0 */
/*
 * column.h - one tree of one attempt at one server: the blocks that come up this tree, in the order in which the
 * reducer dealt them to it. Position p of the tree is the p-th block that was dealt.
 *
 *         passed (base)          in the window                       dealt, and not open yet
 *     ----------------------|------------------------------------|---------------------------|
 *     0                     base                       base + window                       dealt
 *
 *  1. A position is open while base <= position < base + window. It is then gathered in memory of its own: so a server
 *     has at most `window` blocks of a tree, however long the vector.
 *  2. A child's part is taken once for each position, and only when the position is open (column_take()).
 *  3. A position is ready when the parts of all children are in it, and this server's own. It may be lent before that:
 *     what goes up then is what all children have brought so far (column_common()).
 *  4. A child may send the positions below its parent's base + window: the parent tells its base (the credit).
 *
 * The column keeps states; what is in the memory is its user's business.
 */
#ifndef SERVICES_AGGREGATE_DENSE_COLUMN_H
#define SERVICES_AGGREGATE_DENSE_COLUMN_H

#include "cubeway/types.h"

enum { COLUMN_WINDOW_MOST = 64, COLUMN_AHEAD_MOST = 4096, COLUMN_ELEMENT = 16 };

enum column_state {
    COLUMN_WAITING, /* for parts of children */
    COLUMN_READY,   /* whole, and not lent */
    COLUMN_LENT,    /* on its way to the parent */
    COLUMN_PASSED,  /* the parent has it; a position before it is not passed yet */
};

struct column_slot {
    enum column_state state;
    cw_links begun;                 /* the children whose part has begun to come */
    cw_links missing;               /* the children whose part is not whole */
    uint32_t filled;                /* bytes of the memory that have something in them */
    uint32_t came[CW_LINK_COUNT];   /* bytes of each child that are in it: whole elements, from the first on */
    uint8_t carried[CW_LINK_COUNT]; /* bytes of each child's next element, which are kept in */
    uint8_t carry[CW_LINK_COUNT][COLUMN_ELEMENT]; /* this */
};

struct column {
    cw_links children;
    uint32_t window, ahead;
    uint32_t base, dealt;
    uint32_t limit;           /* positions below it may be sent to the parent */
    size_t bytes;             /* of a slot's memory */
    struct column_slot *slot; /* [position % window] */
    uint32_t *block;          /* [position % ahead]: what was dealt */
    uint8_t *memory;          /* window * bytes; NULL: the user has wanted none */
};

/*
 * Fills *c, for column_free() to release. window 1..COLUMN_WINDOW_MOST, ahead window..COLUMN_AHEAD_MOST; bytes may be
 * 0. -ENOMEM.
 */
CW_MUST_CHECK int column_init(struct column *c, cw_links children, uint32_t window, uint32_t ahead, size_t bytes);
void column_free(struct column *c);
/* How many bytes column_init() allocates. */
size_t column_cost(uint32_t window, uint32_t ahead, size_t bytes);

/* May another position be dealt? At most `ahead` are dealt and not passed. */
static inline bool column_room(const struct column *c)
{
    return c->dealt - c->base < c->ahead;
}

/* The block is dealt: it gets position c->dealt. -EPROTO: there is no room. */
CW_MUST_CHECK int column_deal(struct column *c, uint32_t block);
/* The parent has passed on so many positions: the credit only grows, so an older word changes nothing. */
void column_credit(struct column *c, uint32_t passed);

/* Is the position dealt and open? */
static inline bool column_open(const struct column *c, uint32_t position)
{
    return position - c->base < c->window && position < c->dealt && position >= c->base;
}

static inline struct column_slot *column_slot(const struct column *c, uint32_t position)
{
    return &c->slot[position % c->window];
}

/* The memory of an open position; NULL when there is none. */
static inline uint8_t *column_memory(const struct column *c, uint32_t position)
{
    return c->memory == NULL ? NULL : c->memory + position % c->window * c->bytes;
}

static inline uint32_t column_block(const struct column *c, uint32_t position)
{
    return c->block[position % c->ahead];
}

/*
 * The part of the child at that link begins to come. 0: the caller puts what comes into the memory; -EALREADY: it has
 * begun before; -EPROTO: no such child, or the position is not open. Then nothing changes.
 */
CW_MUST_CHECK int column_begin(struct column *c, uint32_t position, cw_link child);
/* The part that has begun is whole. */
void column_take(struct column *c, uint32_t position, cw_link child);
/* How many bytes of the position all children have brought. It has children, and is open. */
uint32_t column_common(const struct column *c, uint32_t position);
/*
 * The lowest position that is ready and may be sent; with `early`, and none ready, one of which all children have
 * brought something. False: there is none.
 */
CW_MUST_CHECK bool column_ready(const struct column *c, bool early, uint32_t *position);
/* A ready position, or one that column_ready() gave early, is lent to the parent, or at the root to the result. */
void column_lend(struct column *c, uint32_t position);
/* A lent position is with the parent. Gives true when base has moved: children have more credit. */
bool column_pass(struct column *c, uint32_t position);
/* True when all that is dealt is passed. */
static inline bool column_idle(const struct column *c)
{
    return c->base == c->dealt;
}

#endif
