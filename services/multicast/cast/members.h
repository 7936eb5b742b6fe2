/* SPDX-License-Identifier: Apache-2.0 */
/*
 * members.h - the source's book of a message's members: who waits, who has it, who will not get it and why.
 *
 *      WAITING -> HAS            it said so
 *      WAITING -> LOST           it said why not, or did not get on for so long (-ETIMEDOUT)
 *      WAITING <-> AWAY          it left the view; it came back. Nobody waits for it, but whoever is back in time gets it
 *
 * A round is over when all that wait have said what they still lack. Time comes in.
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
    bool reported;       /* in this round */
    uint32_t missing;    /* pieces it lacked when it said so last; UINT32_MAX: it never did */
    cw_time progress_at; /* when that had become less, or its first round was over */
    bool counted;        /* better means something */
};

struct cast_members {
    struct cast_member *member; /* ascending by server */
    unsigned count;
    unsigned waiting;
    cw_time began;
};

/* One row for each server of the set (bit i % 8 of byte i / 8) but self. -ENOMEM; -EINVAL: nobody. */
CW_MUST_CHECK int cast_members_open(struct cast_members *b, const uint8_t *set, cw_server servers, cw_server self,
                                    cw_time now);
void cast_members_close(struct cast_members *b);

/* NULL: no member. */
struct cast_member *cast_members_find(const struct cast_members *b, cw_server server);
/* It has ended: 0 or -errno. False: it is no member, or had ended. */
bool cast_members_end(struct cast_members *b, cw_server server, int status, cw_time now);
/* It left the view, or came back. False: nothing changed. */
bool cast_members_away(struct cast_members *b, cw_server server, bool away);
/* It has said all that it lacks in this round. */
void cast_members_report(struct cast_members *b, cw_server server, uint32_t missing, cw_time now);
/* All that wait have said so. */
bool cast_members_all_reported(const struct cast_members *b);
/* A round is over: who has not become better for so long is lost; the others are to say again. Gives how many were lost. */
unsigned cast_members_round(struct cast_members *b, cw_span limit, cw_time now);
/* Clears and fills the set of those that are not to be left out of a round: who waits or is away. */
void cast_members_set(const struct cast_members *b, uint8_t *set, size_t bytes);

#endif
