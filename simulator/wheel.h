/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wheel.h - what happens next. wheel_take() gives events in one order, always, whatever their history:
 *
 *     (time, order, insertion)        order = EVENT_ORDER(server, kind): the world first, then servers by id,
 *                                     at one server by kind, frames by input port
 *
 * It is a timing wheel of buckets for events that are near, and a 4-ary heap for events that are far. A link's delay is
 * bounded, so nearly all events of a torus go through the wheel, in O(1). Buckets are opened a few events before their
 * turn: what they hold is sorted behind the events that come next, in one array, which also says what to prefetch. An
 * event has 32 bytes and is reused, last in, first out; nothing is allocated once the world has reached its size. Not
 * thread-safe: one owner.
 */
#ifndef SIMULATOR_WHEEL_H
#define SIMULATOR_WHEEL_H

#include "cubeway/time.h"
#include "cubeway/types.h"

struct wheel_event {
    int64_t at_ns;
    uint64_t sequence; /* of insertion */
    void *what;
    uint32_t order;
    uint32_t next; /* the wheel's own */
};

/* The kinds of one server's events, in the order in which they happen at one instant. */
enum event_kind {
    EVENT_WORLD = 0,    /* no server's: scripted actions */
    EVENT_POLL = 1,     /* + link: the link has room again */
    EVENT_FRAME = 8,    /* + link: a frame is in */
    EVENT_WORK = 16,    /* the processor of the server is free */
    EVENT_OFFLOAD = 17, /* work that ran beside the server is done */
    EVENT_WAKE = 18,    /* what the server asked for */
    EVENT_RELAY = 24,   /* + link: a frame leaves that the server's relay has passed */
};
#define EVENT_ORDER(server, kind) (((uint32_t)(server) + 1) << 8 | (uint32_t)(kind))
#define EVENT_SERVER(order) (((order) >> 8) - 1)
#define EVENT_KIND(order) ((order)&0xffu)
enum { EVENT_SERVERS_MAX = (1 << 24) - 1 };

enum { WHEEL_AHEAD = 4 }; /* events that are known ahead, if there are so many */

struct wheel {
    /* private */
    struct wheel_event *pool;
    uint32_t free;            /* first event of the list of those to reuse, the last one given back first */
    uint32_t made;            /* events of the pool that were ever used */
    uint32_t room;            /* events that the pool has room for */
    struct wheel_event *open; /* those of opened buckets that are left, in order: [first, end) */
    uint32_t first, end;
    uint32_t open_room;
    uint32_t near;            /* events in buckets, opened ones included */
    uint32_t filled;          /* buckets that hold something and are not opened */
    uint32_t mask;            /* buckets - 1 */
    unsigned shift;           /* a bucket spans 2^shift ns */
    int64_t slot;             /* of the last bucket that was opened: its start in ns >> shift */
    int64_t next;             /* slot of the next bucket that holds something; INT64_MAX: none does */
    uint32_t *bucket;         /* by slot & mask: first event of its list, newest first */
    uint64_t *taken;          /* a bit for each bucket: it is not empty */
    uint64_t sequence;        /* of the last event that was queued */
    struct wheel_event *heap; /* events that are far, or too many for the opened buckets */
    uint32_t heap_count, heap_room;
};

/*
 * A bucket spans about `gap` (a few mean gaps between events), all buckets together at least `horizon`.
 * -ENOMEM: nothing is left behind.
 */
CW_MUST_CHECK int wheel_open(struct wheel *w, cw_span horizon, cw_span gap);
/* Events that are still queued are forgotten. */
void wheel_close(struct wheel *w);

/* Queues an event; `at` is not before the last event that was given. Without memory the program ends (CHECK). */
void wheel_put(struct wheel *w, cw_time at, uint32_t order, void *what);

/* Gives the first event that is due at `until` or before; false: there is none. */
bool wheel_take(struct wheel *w, cw_time until, struct wheel_event *out);

/*
 * An event that is likely to be given soon, with `ahead` others before it; NULL: unknown. ahead: 0..WHEEL_AHEAD - 1.
 * Borrowed until the next call. For prefetching only: it may be wrong.
 */
static inline const struct wheel_event *wheel_ahead(const struct wheel *w, unsigned ahead)
{
    return w->first + ahead < w->end && ahead < WHEEL_AHEAD ? &w->open[w->first + ahead] : NULL;
}
/*
 * Removes every queued event for which fn says so, in no stated order; O(buckets + events). fn must not touch the
 * wheel.
 */
uint32_t wheel_sweep(struct wheel *w, bool (*remove)(void *context, const struct wheel_event *event), void *context);

uint32_t wheel_count(const struct wheel *w);
size_t wheel_bytes(const struct wheel *w);

#endif
