/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outside.h - what the loop hears from outside of the process: its own descriptors, and libevent, which runs the
 * control socket, the gateways and the metrics.
 *
 * The descriptors are in epoll sets of our own (waits.h), and libevent's descriptor is one of them. libevent is asked
 * only when that is ready, and every OUTSIDE_ASK_MS for its time-outs: a frame costs none of its time. The library has
 * no call that gives its descriptor. It is found as the one epoll set of this process that watches what only libevent
 * was told to watch. Where that fails, libevent watches all descriptors and is asked in every turn.
 *
 * One thread uses a struct outside. What it calls for a descriptor only marks that there is work.
 */
#ifndef DAEMON_MACHINE_OUTSIDE_H
#define DAEMON_MACHINE_OUTSIDE_H

#include "daemon/machine/waits.h"

struct event;
struct event_base;

enum {
    OUTSIDE_ASK_MS = 10, /* libevent's time-outs are late by so much at most */
    /* A turn that comes so long before libevent must be asked asks it: one wake-up instead of two. */
    OUTSIDE_EARLY_MS = 5,
};

enum outside_kind {
    OUTSIDE_DATA, /* readable when a link has frames of data: in WAITS_ALL alone */
    OUTSIDE_CALM, /* readable when there is anything else */
    OUTSIDE_ROOM, /* writable when a link has room; watched from outside_again() until it is */
};

/* A descriptor that the loop watches. */
struct outside_watch;

struct outside {
    struct event_base *base;
    bool own; /* descriptors are in `waits`; else libevent watches them */
    struct waits waits;
    struct waits_item inner; /* libevent's descriptor */
    bool inner_ready;
    cw_time ask_at;      /* with `own`: libevent must be asked then. Else CW_NEVER */
    struct event *limit; /* without `own`: ends a wait of libevent's */
};

/*
 * probe: a descriptor that no epoll set of this process watches; it is watched for the time of the call. 0 or -ENOMEM;
 * outside_close() is due in any case. A struct outside that is all zero may be closed.
 */
CW_MUST_CHECK int outside_open(struct outside *o, int probe);
/* All watches have ended. */
void outside_close(struct outside *o);

/*
 * Calls fn(context) whenever fd is ready, until outside_unwatch(). Two watches may have one descriptor. NULL: no
 * memory, or the system refuses.
 */
struct outside_watch *outside_watch(struct outside *o, int fd, enum outside_kind kind, void (*fn)(void *context),
                                    void *context);
/* Takes the watch; NULL is allowed. The descriptor is still open. */
void outside_unwatch(struct outside_watch *w);
/* Has a watch of OUTSIDE_ROOM tell once when there is room. 0 or -errno. */
CW_MUST_CHECK int outside_again(struct outside_watch *w);

/*
 * Waits until something is ready, and calls the watches. limit: as waits_look(); without `own` it is kept to a
 * millisecond, and all descriptors are watched whichever the set is.
 */
void outside_look(struct outside *o, enum waits_set set, cw_span limit);

/* Lets libevent make its calls, when it has some or may have: *now moves on with the clock then. */
void outside_ask(struct outside *o, cw_time *now);
/* libevent was given a time-out that is due at once: the next turn asks it. */
void outside_ask_soon(struct outside *o);

#endif
