/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feed.h - one link's reliable, ordered control stream, both directions (semantics 4.4): numbers only.
 *
 * Guarantees, towards a receiver that plays by the same rules over a link that loses frames but keeps their order:
 *  1. the items owed to the link are received once each, in the order of the log (flood.h);
 *  2. at most FEED_WINDOW of them are under way, so that 16 bits of a position name one item;
 *  3. after `retry` without progress everything not acknowledged is sent again (go-back-N), at first only FEED_PROBE
 *     items.
 *
 * Items have numbers from 1 on in each session. A sender numbers only what is owed, and an entry keeps the number that
 * it got; so repeating means walking the log again.
 *
 *         base            next           high          end of the log
 *   ...acked | under way    | to repeat    | never sent   |
 *
 * A leaf: it reads the log and writes nothing but itself; time is an argument.
 */
#ifndef LINKSTATE_FEED_H
#define LINKSTATE_FEED_H

#include "cubeway/time.h"
#include "linkstate/flood.h"
#include "wire/position.h"

#include <assert.h>

enum {
    FEED_WINDOW = 1024, /* items under way at most: 36 KB of records, 0.3 ms of 1 Gb/s */
    FEED_PROBE = 32,    /* items under way while repeating without progress: one frame of them */
};
static_assert((int)FEED_WINDOW < (int)POSITION_WINDOW, "16 bits must name one item");

/* Read freely; written by the functions below only. */
struct feed {
    uint64_t base, next, high; /* positions in the log */
    uint64_t behind;           /* the position behind the item `sent` */
    uint32_t acked;            /* number of the last item before base */
    uint32_t sent;             /* number of the last item before next */
    uint32_t top;              /* number of the last item ever sent */
    uint32_t unsent;           /* entries at and behind `high` that are owed */
    uint32_t received;         /* number of the last item received in order */
    cw_time moved;             /* when the receiver made progress last, or the first item under way was sent */
    cw_time ack_at;            /* when an acknowledgement leaves even if it must go alone; CW_NEVER: none is owed */
    bool running;
    bool stalled; /* it has gone back, and there was no progress since */
};

/* A session begins: what the log has at this position and behind it will be sent. */
void feed_start(struct feed *d, uint64_t position);
void feed_stop(struct feed *d);

/* An entry that is owed to this link was appended to the log; an owed entry at or behind `high` was struck out. */
void feed_owe(struct feed *d);
void feed_forgive(struct feed *d);

/*
 * Borrows the next entry to send, NULL: nothing is owed, or the window is full. Moves past entries that are not owed.
 * feed_sent() then counts the entry as sent; d->sent is its number afterwards.
 */
const struct flood_entry *feed_peek(struct feed *d, const struct flood *f, cw_link link);
void feed_sent(struct feed *d, cw_time now);

/* True when feed_peek() would give an entry: there are items to repeat, or new ones, and the window has room. */
static inline bool feed_has_more(const struct feed *d)
{
    uint32_t window = d->stalled ? FEED_PROBE : FEED_WINDOW;
    return (d->sent != d->top || d->unsent > 0) && d->sent - d->acked < window;
}

/* The receiver has all items up to this number. False, and nothing changed: it cannot, since that was not sent yet. */
bool feed_acked(struct feed *d, const struct flood *f, cw_link link, uint32_t number, cw_time now);

/* The first position of the log that this stream may still need; the log may drop what is before it. */
uint64_t feed_floor(struct feed *d, const struct flood *f);

/* Begins to repeat when there was no progress for `retry`. True when it did. */
bool feed_tick(struct feed *d, cw_span retry, cw_time now);
/* When feed_tick() is due. */
static inline cw_time feed_wake(const struct feed *d, cw_span retry)
{
    return d->acked == d->top ? CW_NEVER : cw_time_add(d->moved, retry);
}

/* An item came in. True: it is the next in order, to be applied. In any case an acknowledgement is owed by ack_by. */
bool feed_receive(struct feed *d, uint32_t number, cw_time ack_by);
/* An acknowledgement of d->received leaves. */
void feed_ack_left(struct feed *d);

/* True when all items up to this position of the sender have been received here: data may pass (semantics 4.4). */
static inline bool feed_knows(const struct feed *d, uint16_t position)
{
    return !position16_before((uint16_t)d->received, position);
}

/* Everything ever owed has been sent and acknowledged. */
static inline bool feed_is_idle(const struct feed *d)
{
    return d->unsent == 0 && d->acked == d->top;
}

#endif
