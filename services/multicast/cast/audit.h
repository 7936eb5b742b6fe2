/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit.h - walkers of the invariants of messages, for CHECK_SLOW: debug and sanitizer builds call them at the end of
 * each upcall, a release build never does. A walker returns true, or stops the program with a sentence that names the
 * rule, the server and the message (origin and number).
 *
 *   A1  The table of sessions and its count agree, within CAST_SESSIONS_MOST; names and tickets are not given twice.
 *   A2  A receiver's count is the number of its pieces that are here; what came in this session is among them; a
 *       message that has ended well is complete.
 *   A3  The source counts right what it still has to assign to trees, and which pieces it has read; a tree has at most
 *       CAST_SPREAD pieces under way.
 *   A4  A ring holds the bytes of every piece that it says it has, and what a sink is owed is among them.
 *   A5  What may still come to a child was sent to it, and its parent has had it.
 *   A6  The source's table of members ascends, and counts right who waits; who has everything has status 0.
 *   A7  A session is its source's or a member's, never both; a member's session has ended when its receiver has.
 *
 * That the base of a ring never goes back within a round is checked where it moves (cast_ring_advance()).
 */
#ifndef SERVICES_MULTICAST_CAST_AUDIT_H
#define SERVICES_MULTICAST_CAST_AUDIT_H

#include "services/multicast/cast/session_table.h"

bool cast_audit_session(const struct cast_session *c);
/* The table, and every session in it. */
bool cast_audit_table(const struct cast_session_table *t);

#endif
