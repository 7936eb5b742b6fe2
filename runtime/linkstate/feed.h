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
 * Items have numbers from 1 on in each session. A sender never numbers what is not owed, and an entry once numbered
 * keeps its number; so repeating means walking the log again.
 *
 *         base            next           high          end of the log
 *   ...acked | under way    | to repeat    | never sent   |
 *
 * A leaf: it reads the log, writes nothing but itself, and takes now.
 */
#ifndef LINKSTATE_FEED_H
#define LINKSTATE_FEED_H

#include "cubeway/time.h"
#include "linkstate/flood.h"
#include "wire/position.h"

#include <assert.h>

enum {
    FEED_WINDOW = 1024, /* 36 KB of records: 0.3 ms of 1 Gb/s, and far below POSITION_WINDOW */
    FEED_PROBE = 32,    /* one frame */
};
static_assert((int)FEED_WINDOW < (int)POSITION_WINDOW, "16 bits must name one item");

/* Read freely; written by the functions below only. */
struct feed {
    uint64_t base, next, high; /* positions in the log */
    uint32_t acked;            /* number of the last item before base */
    uint32_t sent;             /* number of the last item before next */
    uint32_t top;              /* number of the last item ever sent */
    uint32_t unsent;           /* entries owed at high and behind */
    uint32_t received;         /* number of the last item received in order */
    cw_time moved;             /* when the receiver last made progress, or the first item under way was sent */
    cw_time ack_at;            /* when an acknowledgement must leave even alone; CW_NEVER: none is owed */
    bool running;
    bool stalled; /* repeating, and no progress since */
};

/* A fresh session: what is at and behind position will be sent. */
void feed_start(struct feed *d, uint64_t position);
void feed_stop(struct feed *d);

/* An entry owed to this link was appended to the log; or one at or behind high was struck out. */
void feed_owe(struct feed *d);
void feed_forgive(struct feed *d);

/*
 * The next entry to send, borrowed; NULL when nothing is owed or the window is full. Moves past what is not owed.
 * feed_sent() then counts it as sent, its number being d->sent after that.
 */
const struct flood_entry *feed_peek(struct feed *d, const struct flood *f, cw_link link);
void feed_sent(struct feed *d, cw_time now);

/* True when feed_peek() would give an entry. */
bool feed_has_more(const struct feed *d);

/* The receiver has all up to number. False, and nothing changed, when it cannot have (it was never sent). */
bool feed_acked(struct feed *d, const struct flood *f, cw_link link, uint32_t number, cw_time now);

/* The first position of the log that this stream may still need; what is before it may be let go of. */
uint64_t feed_floor(struct feed *d, const struct flood *f);

/* Goes back when there was no progress for `retry`. True when it did. */
bool feed_tick(struct feed *d, cw_span retry, cw_time now);
/* When feed_tick() is due. */
cw_time feed_wake(const struct feed *d, cw_span retry);

/*
 * An item came in. True when it is the next in order: apply it. An acknowledgement is owed by ack_by at the latest
 * either way.
 */
bool feed_receive(struct feed *d, uint32_t number, cw_time ack_by);
/* An acknowledgement of d->received leaves. */
void feed_ack_left(struct feed *d);

/* True when everything stamped with a position of the sender has been received here: data may pass (semantics 4.4). */
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
