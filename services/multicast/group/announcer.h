/* SPDX-License-Identifier: Apache-2.0 */
/*
 * announcer.h - the groups that this server is a member or a keeper of, and when it announces that to their roots.
 *
 *  1. What is wanted is announced at once, and again every few milliseconds until the group's root has acknowledged it.
 *  2. What was acknowledged is announced anew when the key may have another root than the one that acknowledged it, and
 *     in any case every `refresh`.
 *  3. At most one announcement of a group is under way. An acknowledgement counts for what was announced, not for what
 *     is wanted by then.
 *  4. A group that is not wanted any more is forgotten when its root has acknowledged that, or after `patience`: by
 *     then the root's soft state ends by itself.
 *
 * Pure; time comes in. One owner.
 */
#ifndef SERVICES_MULTICAST_GROUP_ANNOUNCER_H
#define SERVICES_MULTICAST_GROUP_ANNOUNCER_H

#include "services/multicast/group/table.h"

/* Called once, with 0 or -errno, for whoever waits for an acknowledgement. */
typedef void (*announcer_done_fn)(void *arg, int status);

struct announcer_waiter {
    struct announcer_waiter *next;
    uint32_t serial; /* of what it waits for */
    /* It is over, with status: the owner is to take it (announcer_take_waiter()). */
    bool done;
    int status;
    cw_time until;
    announcer_done_fn fn;
    void *arg;
};

/* One group. */
struct announced {
    struct group_name name;
    cw_key key;
    uint8_t flags;   /* what is wanted: GROUP_MEMBER, GROUP_KEEPER; 0: it is left */
    uint32_t serial; /* of what is wanted; higher for each change */
    cw_time since;   /* when it became wanted, or not wanted */
    bool acked;      /* the root has acknowledged what is wanted */
    /* The announcement that is under way, or was last: its serial, and the epoch of the map of keys when it left. */
    bool announcing;
    uint32_t sent_serial;
    uint64_t epoch;
    unsigned tries; /* since the last acknowledgement */
    cw_time due;    /* when to announce it next */
    struct announcer_waiter *waiters;
};

struct announcer {
    struct announced **group;
    unsigned count, room, most;
    uint32_t serials; /* given out so far: no two announcements of one life have the same */
    /* Rules 2, 1 and 4. */
    cw_span refresh, again, patience;
};

/* Frees everything; waiters that are left are not called. */
void announcer_free(struct announcer *s);
/* NULL: nothing is known of the group. */
struct announced *announcer_find(const struct announcer *s, const struct group_name *name);
/*
 * Sets what this server wants to be to a group; flags 0: nothing. The group is due then. -ENOSPC: `most` groups;
 * -ENOENT: flags 0, and the group is not known; -ENOMEM.
 */
CW_MUST_CHECK int announcer_want(struct announcer *s, const struct group_name *name, const cw_key *key, uint8_t flags,
                                 cw_time now, struct announced **out);
/*
 * fn is to be called when what is wanted now is acknowledged; or with -ETIMEDOUT after patience, -ECANCELED when
 * something else is wanted by then, or the error with which the root refused it. -ENOMEM.
 */
CW_MUST_CHECK int announcer_wait(struct announcer *s, struct announced *m, cw_time now, announcer_done_fn fn,
                                 void *arg);
/* The group that has been due longest, without an announcement under way. NULL: none. */
struct announced *announcer_due(const struct announcer *s, cw_time now);
/* When to look again; CW_NEVER: not before something changes. */
cw_time announcer_wake(const struct announcer *s);
/* An announcement leaves, in that epoch. */
void announcer_sent(struct announced *m, uint64_t epoch);
/*
 * How the announcement ended: 0: acknowledged. -ENOSPC: the root has no room, and waiters are refused with that.
 * -EINPROGRESS: the root has recorded it and is not settled yet: waiters go on waiting, but what was acknowledged
 * before still is. Any other -errno: it is tried again. draw: any 32 bits, so that not all announcements come at one
 * instant.
 */
void announcer_answered(const struct announcer *s, struct announced *m, int status, cw_time now, uint32_t draw);
/* The key may have another root: the group is due now. */
void announcer_unsure(struct announced *m, cw_time now);
/* Takes out a waiter that is over; the caller calls its fn and frees it. NULL: none. */
struct announcer_waiter *announcer_take_waiter(struct announcer *s, cw_time now);
/* Forgets groups by rule 4. */
void announcer_sweep(struct announcer *s, cw_time now);

#endif
