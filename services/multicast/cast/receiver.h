/* SPDX-License-Identifier: Apache-2.0 */
/*
 * receiver.h - a member's own taking of a message: which pieces it has, its sink, and how it ended. What it forwards is none of its business.
 *
 *  1. The sink gets each piece once, and end() once: when all are there, when it failed, or when the message ended unfinished.
 *  2. A sink that cannot take is waited for so long (patience) in one round, all waits together; then it is given nothing more in that round, and the
 *     member catches up in a later one. Who is slow holds up others no longer than that.
 *
 * Time comes in. One owner; cast_receiver_close() after cast_receiver_stop(), or when it has ended.
 */
#ifndef SERVICES_MULTICAST_CAST_RECEIVER_H
#define SERVICES_MULTICAST_CAST_RECEIVER_H

#include "cubeway/time.h"
#include "services/multicast/cast/head.h"

/* How a message is cut. */
struct cast_cut {
    uint64_t bytes;
    uint32_t piece_bytes, pieces;
};

/* -EINVAL: no bytes, or pieces of none; -E2BIG: more pieces than 32 bits number. */
CW_MUST_CHECK int cast_cut_init(struct cast_cut *cut, uint64_t bytes, uint32_t piece_bytes);
/* Bytes of a piece, which is below pieces. */
size_t cast_cut_length(const struct cast_cut *cut, uint32_t piece);

enum cast_receiver_state { CAST_RECEIVING, CAST_ENDING, CAST_ENDED };

struct cast_receiver {
    struct cast_cut cut;
    struct cast_sink sink;
    enum cast_receiver_state state;
    int status; /* when it is CAST_ENDED */
    uint8_t *got;
    uint32_t count; /* of them */
    uint32_t here;  /* of these, that came in this session; the sum is theirs */
    uint64_t sum;
    bool refused; /* the sink's last word was -EAGAIN, at: */
    cw_time refused_at;
    cw_span waited; /* in this round */
    bool out;       /* of this round */
};

/* Takes the sink, and asks what it has. It may have ended at once. -ENOMEM: the sink stays the caller's. */
CW_MUST_CHECK int cast_receiver_open(struct cast_receiver *t, const struct cast_sink *sink, const struct cast_cut *cut);
/* A member without a sink, that has ended with status. */
void cast_receiver_refuse(struct cast_receiver *t, const struct cast_cut *cut, int status);
/* Frees what it has; the sink must have been told of the end. */
void cast_receiver_close(struct cast_receiver *t);
size_t cast_receiver_memory(const struct cast_receiver *t);

/* It is still to be given this piece. */
static inline bool cast_receiver_lacks(const struct cast_receiver *t, uint32_t piece)
{
    return t->state == CAST_RECEIVING && piece < t->cut.pieces && !(t->got[piece / 8] >> piece % 8 & 1);
}
/*
 * A piece whose sum is right: 0 it is there now, or was, or is not wanted any more (ended, out of the round). -EAGAIN: keep it and give it again; -EINVAL: its
 * length is not that piece's.
 */
CW_MUST_CHECK int cast_receiver_give(struct cast_receiver *t, const struct cast_head *data, cw_span patience,
                                     cw_time now);
/* A new round has begun. */
void cast_receiver_round(struct cast_receiver *t);
/* Ends it unfinished. Nothing happens when it has ended. */
void cast_receiver_stop(struct cast_receiver *t, int status);
/* The sink's end() that was in progress is done. */
void cast_receiver_ended(struct cast_receiver *t, int status);
/* The sum of all pieces when all came in this session, else 0. */
uint64_t cast_receiver_sum(const struct cast_receiver *t);

/*
 * What it lacks from piece `from` on, as one LACK of at most `room` bytes of bits: fills piece, count, missing, rest_bytes of *h and the bits. count 0: nothing.
 */
void cast_receiver_lack(const struct cast_receiver *t, uint32_t from, size_t room, struct cast_head *h, uint8_t *bits);

#endif
