/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rounds.h - the source's part of a message: it takes the pieces that somebody lacks to those who lack them, asks who lacks what then, and begins again, until
 * nobody who lives lacks anything. Late joiners, members that lost pieces, resumed files and a source that begins anew are all one thing: a further round.
 *
 *  1. The first round takes all pieces to all members; or none, when they are to be asked first.
 *  2. A round ends when every member that waits has said what it lacks; or nothing has been under way for the time of patience.
 *  3. Nothing is sent in a further round but what a member lacks, and to nobody but those who have not all.
 */
#ifndef SERVICES_MULTICAST_CAST_ROUNDS_H
#define SERVICES_MULTICAST_CAST_ROUNDS_H

#include "services/multicast/cast/session.h"

/* Of a source's session that has just been opened. Servers that cannot be reached are away. -ENETUNREACH: all are; -ENOMEM. */
CW_MUST_CHECK int cast_rounds_begin(struct cast_session *c, bool ask_first);

/* The source could assign a piece to this tree. */
bool cast_rounds_may_assign(const struct cast_session *c, uint8_t tree);
/* A piece was assigned: when it was the last, the trees get their lengths. */
void cast_rounds_assigned(struct cast_session *c);
/* It was read before: in an earlier round. */
bool cast_rounds_made(const struct cast_session *c, uint8_t tree, uint32_t index);
/* Reads the tree's piece and fills piece, sum and rest_bytes of *h. -errno as the source's read(). */
CW_MUST_CHECK int cast_rounds_read(struct cast_session *c, uint8_t tree, uint32_t index, uint8_t *out,
                                   struct cast_head *h);

/* A member's DONE or LACK. True: it is to be told that it was heard. */
bool cast_rounds_report(struct cast_session *c, const struct cast_head *h, cw_server from);
/* A server left the view or came back. */
void cast_rounds_away(struct cast_session *c, cw_server server, bool away);
/* What is due. 0: it goes on; 1: all have it or were told why not; -errno: it ends with that. */
int cast_rounds_tick(struct cast_session *c);
/* Nothing is read any more: the trees end with what was assigned. */
void cast_rounds_close(struct cast_session *c);

#endif
