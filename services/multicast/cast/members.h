/* SPDX-License-Identifier: Apache-2.0 */
/*
 * members.h - the source's table of a message's members: who waits for it, who has it, and who will not get it and why.
 *
 *      WAITING -> HAS            the member said so
 *      WAITING -> LOST           the member said why not, or made no progress for too long (-ETIMEDOUT)
 *      WAITING <-> AWAY          it left the view; it came back. Nobody waits for it, but it gets the message when it
 *                                comes back while others are still waited for
 *
 * A round is over when all that wait have reported what they still lack. Pure; time comes in.
 */
#ifndef SERVICES_MULTICAST_CAST_MEMBERS_H
#define SERVICES_MULTICAST_CAST_MEMBERS_H

#include "cubeway/time.h"
#include "cubeway/types.h"

enum cast_member_state { CAST_WAITING, CAST_HAS, CAST_LOST, CAST_AWAY };

struct cast_member {
    cw_server server;
    enum cast_member_state state;
    int status;
    cw_span took;        /* from the beginning until HAS or LOST */
    bool reported;       /* in this round, all that it lacks */
    uint32_t missing;    /* pieces lacking by its last report; UINT32_MAX: it made none */
    cw_time progress_at; /* when missing became less, or its first round was over */
    bool counted;        /* progress_at is set */
    bool returned;       /* it was away, and came back */
    cw_time away_at;     /* when it left the view last */
    /*
     * Shown to operators only: the pieces that it lacked when it was asked before anything was sent (UINT32_MAX: it did
     * not answer in time); and those that it had missed at the end of rounds which had brought them, all such rounds
     * together: they were sent again for this member.
     */
    uint32_t lacked;
    uint64_t missed;
};

struct cast_members {
    struct cast_member *member; /* ascending by server */
    unsigned count;
    unsigned waiting;
    cw_time began;
};

/* Makes a row for each server of the set (bit i % 8 of byte i / 8) but self. -EINVAL: there is none; -ENOMEM. */
CW_MUST_CHECK int cast_members_open(struct cast_members *b, const uint8_t *set, cw_server servers, cw_server self,
                                    cw_time now);
void cast_members_close(struct cast_members *b);

/* NULL: the server is no member. */
struct cast_member *cast_members_find(const struct cast_members *b, cw_server server);
/* A member has ended with 0 or -errno. False: the server is no member, or had ended before. */
bool cast_members_end(struct cast_members *b, cw_server server, int status, cw_time now);
/* A member left the view, or came back. False: nothing changed. */
bool cast_members_away(struct cast_members *b, cw_server server, bool away, cw_time now);
/* A member that has come back before is away, for less than `patience` so far: it may come back again. */
bool cast_members_flap(const struct cast_members *b, cw_span patience, cw_time now);
/* Some member is away. */
bool cast_members_any_away(const struct cast_members *b);
/* A member has reported everything that it lacks in this round. */
void cast_members_report(struct cast_members *b, cw_server server, uint32_t missing, cw_time now);
/* Notes for operators what a member lacks, by a word of its own; `sent`: pieces have been sent before. */
void cast_members_lacks(struct cast_members *b, cw_server server, uint32_t missing, bool sent);
/* All members that wait have reported. */
bool cast_members_all_reported(const struct cast_members *b);
/*
 * A round is over: a member that has not come to lack less for `limit` is lost, the others are to report again. Gives
 * how many were lost.
 */
unsigned cast_members_round(struct cast_members *b, cw_span limit, cw_time now);
/* Clears the set and adds the members of the next round: those that wait, and those that are away. */
void cast_members_set(const struct cast_members *b, uint8_t *set, size_t bytes);
/* How the message ended for a member, when it ended with `ended` for the source: 0 or -errno. */
int cast_member_result(const struct cast_member *m, int ended);

#endif
