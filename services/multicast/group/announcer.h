/* SPDX-License-Identifier: Apache-2.0 */
/*
 * announcer.h - the groups that this server is a member or a keeper of, and when to say so to their roots.
 *
 *  1. What is wanted is announced at once, and again every few milliseconds until the group's root has acknowledged it.
 *  2. What was acknowledged is announced anew when the key may have another root than the one that acknowledged it, and in any case every `refresh`.
 *  3. One announcement of a group is on its way at a time; an acknowledgement counts for what was said, not for what is wanted by then.
 *  4. A group that is not wanted any more is forgotten when its root has acknowledged that, or after `patience`: there it ends by itself.
 *
 * Pure; time comes in. One owner.
 */
#ifndef SERVICES_MULTICAST_GROUP_ANNOUNCER_H
#define SERVICES_MULTICAST_GROUP_ANNOUNCER_H

#include "services/multicast/group/table.h"

/* Whoever waits for an acknowledgement; called once, with 0 or -errno. */
typedef void (*announcer_done_fn)(void *arg, int status);

struct announcer_waiter {
    struct announcer_waiter *next;
    uint32_t serial;
    bool done; /* acknowledged, or not to be waited for; to be told */
    int status;
    cw_time until;
    announcer_done_fn fn;
    void *arg;
};

struct announced {
    struct group_name name;
    cw_key key;
    uint8_t flags;        /* what is wanted: GROUP_MEMBER, GROUP_KEEPER */
    bool acked;           /* that, with this serial, in epoch */
    bool announcing;      /* an announcement is on its way */
    uint32_t serial;      /* of what is wanted */
    uint32_t sent_serial; /* of what is on its way */
    uint64_t epoch;       /* of the map of keys when the last one left */
    unsigned tries;       /* since the last acknowledgement */
    cw_time due;          /* the next announcement */
    cw_time since;        /* it is wanted, or not wanted */
    struct announcer_waiter *waiters;
};

struct announcer {
    struct announced **group;
    unsigned count, room, most;
    uint32_t serials; /* no two of one life are the same */
    cw_span refresh, again, patience;
};

/* Waiters that are left are freed and not told. */
void announcer_free(struct announcer *s);
struct announced *announcer_find(const struct announcer *s, const struct group_name *name);
/*
 * What this server wants to be to a group from now on; flags 0: nothing. It is due. -ENOSPC: `most` groups; -ENOMEM; -ENOENT: flags 0, and it is not
 * known. *out may be NULL.
 */
CW_MUST_CHECK int announcer_want(struct announcer *s, const struct group_name *name, const cw_key *key, uint8_t flags,
                                 cw_time now, struct announced **out);
/* fn is told when what is wanted now is acknowledged, or else: -ETIMEDOUT after patience, -ECANCELED (something else is wanted by then), or what the root
 * refused it with. -ENOMEM. */
CW_MUST_CHECK int announcer_wait(struct announcer *s, struct announced *m, cw_time now, announcer_done_fn fn,
                                 void *arg);
/* One that is due and not on its way; NULL: none. */
struct announced *announcer_due(const struct announcer *s, cw_time now);
/* When to look again; CW_NEVER. */
cw_time announcer_wake(const struct announcer *s);
/* It leaves, in that epoch. */
void announcer_sent(struct announced *m, uint64_t epoch);
/*
 * How it ended: 0, or -errno: -ENOSPC (the root has no room) refuses what its waiters wait for; -EINPROGRESS (the root knows, and is new) leaves them
 * waiting, and is as good as 0
 * for what was acknowledged before; everything else is tried again. draw: any 32 bits, so that not all come at one instant.
 */
void announcer_answered(const struct announcer *s, struct announced *m, int status, cw_time now, uint32_t draw);
/* It may have another root: due now. */
void announcer_unsure(struct announced *m, cw_time now);
/* A waiter to be told, taken out: the caller calls it and frees it. NULL: none. */
struct announcer_waiter *announcer_take_waiter(struct announcer *s, cw_time now);
/* Forgets what is over (rule 4). */
void announcer_sweep(struct announcer *s, cw_time now);

#endif
