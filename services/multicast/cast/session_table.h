/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_table.h - all sessions of a server: found by the names of their messages, bounded in number, forgotten when
 * there is no room.
 *
 *  1. At most CAST_BUSY_MOST sessions that are not quiet, of which this server is the source; and as many of others.
 *  2. At most CAST_SESSIONS_MOST sessions in all. The quiet one that was heard least lately makes room.
 *  3. A message that comes first in the order of (number, origin) always gets a place: a later one of another server,
 *     which has not ended here, is put off for it. So of all messages one at least gets on everywhere, whatever comes
 *     at once.
 */
#ifndef SERVICES_MULTICAST_CAST_SESSION_TABLE_H
#define SERVICES_MULTICAST_CAST_SESSION_TABLE_H

#include "services/multicast/cast/session.h"

enum { CAST_BUSY_MOST = 16, CAST_SESSIONS_MOST = 64 };

enum { CAST_TABLE_REPEATED, CAST_TABLE_DOUBLED, CAST_TABLE_SKIPPED, CAST_TABLE_COUNTS };

struct cast_session_table {
    cw_svc *s;
    struct torus torus;
    struct trees *trees; /* NULL until the first message needs them */
    struct cast_limits limits;
    struct cast_session *first;
    unsigned count;
    /* The owner goes through the list, with upcalls on the way: meanwhile no session makes room for another. */
    bool walked;
    uint64_t tickets;
    cw_counter *count_of[CAST_TABLE_COUNTS];
};

/* Registers the counters; the caller sets the limits. The errors of torus_init(). */
CW_MUST_CHECK int cast_session_table_open(struct cast_session_table *t, cw_svc *s);
/* Removes all sessions; members that have not ended end with -ESHUTDOWN. */
void cast_session_table_close(struct cast_session_table *t);

/* NULL: there is no such session. */
struct cast_session *cast_session_table_find(const struct cast_session_table *t, cw_server origin, uint64_t number);
struct cast_session *cast_session_table_ticket(const struct cast_session_table *t, uint64_t ticket);
/* The number of sessions that are not quiet. */
unsigned cast_session_table_busy(const struct cast_session_table *t);
/*
 * Opens one more session and gives it a ticket. A session that makes room for it (rules 2, 3) is removed with
 * -ETIMEDOUT or -EBUSY. -EBUSY: there is no room; and the errors of cast_session_open().
 */
CW_MUST_CHECK int cast_session_table_begin(struct cast_session_table *t, const struct cast_head *open,
                                           struct cast_session **out);
/* Removes and closes a session; a member that has not ended, ends with status. */
void cast_session_table_remove(struct cast_session_table *t, struct cast_session *c, int status);

#endif
