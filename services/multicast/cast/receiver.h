/* SPDX-License-Identifier: Apache-2.0 */
/*
 * receiver.h - a member's receiving of a message: which pieces it has, its sink, and how it ended. What the server
 * forwards is none of its business.
 *
 *  1. The sink gets each piece once, and end() once: when all pieces are there, when it failed, or when the message
 *     ended unfinished.
 *  2. A sink that cannot take a piece is waited for in a round for `patience`, all its pauses together. After that
 *     nobody waits for it in that round: it gets the pieces that it can take at once, and lacks the others. So a slow
 *     sink holds up others no longer.
 *  3. In later rounds such a sink is waited for as long as each of its pauses is shorter than `patience`: these rounds
 *     bring what members lack, and would else bring nearly all of it again and again, a few pieces further each time.
 *
 * Time comes in. One owner; cast_receiver_close() after cast_receiver_stop(), or when it has ended.
 */
#ifndef SERVICES_MULTICAST_CAST_RECEIVER_H
#define SERVICES_MULTICAST_CAST_RECEIVER_H

#include "cubeway/time.h"
#include "services/multicast/cast/head.h"

/* How a message is cut into pieces: all of piece_bytes but the last, which may be shorter. */
struct cast_cut {
    uint64_t bytes;
    uint32_t piece_bytes, pieces;
};

/* -EINVAL: no bytes, or pieces of none; -E2BIG: too many pieces to be numbered. */
CW_MUST_CHECK int cast_cut_init(struct cast_cut *cut, uint64_t bytes, uint32_t piece_bytes);
/* The bytes of a piece, which must be below cut->pieces. */
size_t cast_cut_length(const struct cast_cut *cut, uint32_t piece);

enum cast_receiver_state { CAST_RECEIVING, CAST_ENDING, CAST_ENDED };

struct cast_receiver {
    struct cast_cut cut;
    struct cast_sink sink;
    enum cast_receiver_state state;
    int status;     /* when it is CAST_ENDED */
    uint8_t *got;   /* a bit for each piece that the sink has */
    uint32_t count; /* of the bits in got */
    /* The pieces that came in this session (the others were there before), and the sum of their sums. */
    uint32_t here;
    uint64_t sum;
    /* The sink's last answer was -EAGAIN, at refused_at; and all its pauses in this round together. */
    bool refused;
    cw_time refused_at;
    cw_span waited;
    bool out;  /* it is not waited for any more in this round (rule 2) */
    bool slow; /* it was out in an earlier round (rule 3) */
};

/*
 * Takes the sink and asks it what it has; the receiver may have ended when this returns. -ENOMEM: the sink is still the
 * caller's.
 */
CW_MUST_CHECK int cast_receiver_open(struct cast_receiver *t, const struct cast_sink *sink, const struct cast_cut *cut);
/* Makes a receiver without a sink, which has ended with status. */
void cast_receiver_refuse(struct cast_receiver *t, const struct cast_cut *cut, int status);
/* Frees its memory; the sink's end() must have been called. */
void cast_receiver_close(struct cast_receiver *t);
size_t cast_receiver_memory(const struct cast_receiver *t);

/* The sink lacks this piece and is still to get it. */
static inline bool cast_receiver_lacks(const struct cast_receiver *t, uint32_t piece)
{
    return t->state == CAST_RECEIVING && piece < t->cut.pieces && !(t->got[piece / 8] >> piece % 8 & 1);
}
/*
 * Gives the sink a piece whose sum is right. 0: nothing more is to be done with it, as it is there now, was there
 * before, or is not wanted (the receiver has ended, or is out of the round and cannot take it). -EAGAIN: keep the piece
 * and give it again. -EINVAL: its length is not that of this piece.
 */
CW_MUST_CHECK int cast_receiver_give(struct cast_receiver *t, const struct cast_head *data, cw_span patience,
                                     cw_time now);
/* A new round has begun: the sink is asked again. */
void cast_receiver_round(struct cast_receiver *t);
/* Ends the receiving unfinished. Nothing happens when it has ended already. */
void cast_receiver_stop(struct cast_receiver *t, int status);
/* The sink's end(), which gave -EINPROGRESS, is done. */
void cast_receiver_ended(struct cast_receiver *t, int status);
/* The sum of all pieces when all of them came in this session; else 0. */
uint64_t cast_receiver_sum(const struct cast_receiver *t);

/*
 * Writes what is lacking from the piece `from` on as one LACK with at most `room` bytes of bits: fills piece, count,
 * missing and rest_bytes of *h, and the bits. count 0: nothing more is lacking.
 */
void cast_receiver_lack(const struct cast_receiver *t, uint32_t from, size_t room, struct cast_head *h, uint8_t *bits);

#endif
