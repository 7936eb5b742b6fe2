/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shelf.h - the sessions of a server: found by their names, few enough at a time, forgotten when there is no room.
 */
#ifndef SERVICES_MULTICAST_CAST_SHELF_H
#define SERVICES_MULTICAST_CAST_SHELF_H

#include "services/multicast/cast/session.h"

enum {
    CAST_BUSY_MOST =
        16, /* sessions that are not quiet: so many of which this server is the source, and so many others */
    CAST_SESSIONS_MOST = 64,
};

struct cast_shelf {
    cw_svc *s;
    struct torus torus;
    struct trees *trees; /* made when it is first needed */
    struct cast_limits limits;
    struct cast_session *sessions;
    unsigned count;
    bool walked; /* its user goes through them, with upcalls on the way: none makes room for another meanwhile */
    uint64_t tickets;
    cw_counter *repeated, *doubled, *skipped;
};

/* What torus_init() says; registers counters. limits are the caller's to set. */
CW_MUST_CHECK int cast_shelf_open(struct cast_shelf *f, cw_svc *s);
/* All sessions go; members that have not ended end with -ECANCELED. */
void cast_shelf_close(struct cast_shelf *f);

/* NULL: there is none. */
struct cast_session *cast_shelf_find(const struct cast_shelf *f, cw_server origin, uint64_t number);
struct cast_session *cast_shelf_ticket(const struct cast_shelf *f, uint64_t ticket);
/* How many are not quiet. */
unsigned cast_shelf_busy(const struct cast_shelf *f);
/*
 * Opens one more and gives it a ticket: -EBUSY there is no room, and as cast_session_open(). Another server's message may take the place of one that comes
 * later in the order of (number, origin) and has not ended here: that one is removed with -EBUSY.
 */
CW_MUST_CHECK int cast_shelf_begin(struct cast_shelf *f, const struct cast_head *open, struct cast_session **out);
/* A session goes; a member that has not ended, ends with status. */
void cast_shelf_remove(struct cast_shelf *f, struct cast_session *c, int status);

#endif
