/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_table.h - the sessions of a server: found by their names, few enough at a time, forgotten when there is no room.
 */
#ifndef SERVICES_MULTICAST_CAST_SESSION_TABLE_H
#define SERVICES_MULTICAST_CAST_SESSION_TABLE_H

#include "services/multicast/cast/session.h"

enum {
    CAST_BUSY_MOST =
        16, /* sessions that are not quiet: so many of which this server is the source, and so many others */
    CAST_SESSIONS_MOST = 64,
};

struct cast_session_table {
    cw_svc *s;
    struct torus torus;
    struct trees *trees; /* made when it is first needed */
    struct cast_limits limits;
    struct cast_session *first;
    unsigned count;
    bool walked; /* its user goes through them, with upcalls on the way: none makes room for another meanwhile */
    uint64_t tickets;
    cw_counter *repeated, *doubled, *skipped;
};

/* What torus_init() says; registers counters. limits are the caller's to set. */
CW_MUST_CHECK int cast_session_table_open(struct cast_session_table *t, cw_svc *s);
/* All sessions go; members that have not ended end with -ECANCELED. */
void cast_session_table_close(struct cast_session_table *t);

/* NULL: there is none. */
struct cast_session *cast_session_table_find(const struct cast_session_table *t, cw_server origin, uint64_t number);
struct cast_session *cast_session_table_ticket(const struct cast_session_table *t, uint64_t ticket);
/* How many are not quiet. */
unsigned cast_session_table_busy(const struct cast_session_table *t);
/*
 * Opens one more and gives it a ticket: -EBUSY there is no room, and as cast_session_open(). Another server's message may take the place of one that comes
 * later in the order of (number, origin) and has not ended here: that one is removed with -EBUSY.
 */
CW_MUST_CHECK int cast_session_table_begin(struct cast_session_table *t, const struct cast_head *open,
                                           struct cast_session **out);
/* A session goes; a member that has not ended, ends with status. */
void cast_session_table_remove(struct cast_session_table *t, struct cast_session *c, int status);

#endif
