/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rounds.h - the source's part of a message: it brings the pieces that somebody lacks to those who lack them, asks all
 * members what they lack then, and begins again, until no living member lacks anything. Late joiners, members that lost
 * pieces, resumed files and a source that begins anew are all one thing: a further round.
 *
 *  1. The first round brings all pieces to all members; or none, when the members are to be asked first.
 *  2. A round ends when every member that waits has reported what it lacks, or when nothing has been under way for
 *     `patience`.
 *  3. In a further round nothing is sent but what a member lacks, and only to members that do not have everything.
 *  4. A member that has come back once and is away again may come back again: links flap, and servers stall. Until it
 *     does, nothing new is dealt out, or the member would lack it; for `patience` in a round, all such pauses together.
 *     The message does not end either before such a member has been away for `patience`. Nobody waits for a member that
 *     goes for the first time: it may be dead. A source that sees no other server at all waits as well: it is itself
 *     what is out of sight.
 *  5. Where a tree has several edges at the source, each piece of it leaves several times. What that costs is paid from
 *     a budget: 16 pieces, and one for each eight that were read. While the budget is used up, new pieces go only by
 *     those trees that have the fewest edges at the source; there is always one, so the message goes on.
 */
#ifndef SERVICES_MULTICAST_CAST_ROUNDS_H
#define SERVICES_MULTICAST_CAST_ROUNDS_H

#include "services/multicast/cast/session.h"

/*
 * Begins the first round of a source's session that has just been opened. Members that cannot be reached are away.
 * -ENETUNREACH: all of them are; -ENOMEM.
 */
CW_MUST_CHECK int cast_rounds_begin(struct cast_session *c, bool ask_first);

/* A piece could be assigned to this tree now. */
bool cast_rounds_may_assign(const struct cast_session *c, uint8_t tree);
/* A piece was assigned and sent. After the last one of the round, the trees get their lengths. */
void cast_rounds_assigned(struct cast_session *c);
/* The piece with that number in the tree was read before, in an earlier round. */
bool cast_rounds_made(const struct cast_session *c, uint8_t tree, uint32_t index);
/* Reads that piece into out, and fills piece, sum and rest_bytes of *h. -errno: that of the source's read(). */
CW_MUST_CHECK int cast_rounds_read(struct cast_session *c, uint8_t tree, uint32_t index, uint8_t *out,
                                   struct cast_head *h);

/* Takes a member's DONE or LACK. True: it is to be confirmed. */
bool cast_rounds_report(struct cast_session *c, const struct cast_head *h, cw_server from);
/* A server left the view, or came back. */
void cast_rounds_away(struct cast_session *c, cw_server server, bool away);
/* The edges are planned anew, as some server left the view or came back. */
void cast_rounds_view(struct cast_session *c);
/* Does what is due. 0: the message goes on; 1: no member is waited for any more; -errno: the message ends with that. */
int cast_rounds_tick(struct cast_session *c);
/* Closes the source: nothing is read any more, and the trees end with what was assigned to them. */
void cast_rounds_close(struct cast_session *c);
/*
 * Ends the message with status: closes the source, sends STOP to everybody (status < 0) or to the members that were
 * given up, and calls done(). Nothing happens when it has ended already.
 */
void cast_rounds_finish(struct cast_session *c, int status);

#endif
