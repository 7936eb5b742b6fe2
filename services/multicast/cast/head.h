/* SPDX-License-Identifier: Apache-2.0 */
/*
 * head.h - the packets of messages, as bytes and as a struct. Network order; a number in parentheses is a length in
 * bytes.
 *
 *      0        1      2           4            8            16
 *  all | kind:1 | tree | round (2) | origin (4) | number (8) | ...
 *
 *  OPEN      16 edge | 20 order | 24 from | 28 piece bytes | 32 bytes (8) | 40 length | 44 servers | 48 id (16)
 *            64 content:1 | 65 0 | 66 label bytes (2) | 68 0 (4) | 72 members, bit i % 8 of byte i / 8, then the label
 *  DATA      16 edge | 20 order | 24 index | 28 piece | 32 sum (8) | 40 the bytes
 *  ACK       16 edge | 20 echo  | 24 base  | 28 length | 32 serial (8) | 40 have (16), bit i: piece base + i is there
 *  DONE      16 status (4) | 20 0 (4) | 24 sum (8)
 *  LACK      16 first | 20 count | 24 missing | 28 0 (4) | 32 bits
 *  HEARD     16 first
 *  STOP      16 status (4) | 20 0 (4)
 *
 * Between a parent and its child in a tree:
 *   OPEN   what the message is, who its members are, and a probe: the child answers with an ACK at once
 *   DATA   a piece
 *   ACK    the child's answer: which pieces of the tree are there
 * Between a member and the source:
 *   DONE   the member has ended, with that status and the sum of all pieces
 *   LACK   at the end of a round: of the pieces first .. first + count - 1 the member lacks those whose bits are set
 *          (no bits: all of them), and `missing` pieces in all; count 0: that was everything
 *   HEARD  the source confirms DONE (`first` is CAST_HEARD_DONE), or the LACK that begins with `first`
 *   STOP   the source to everybody: the message has ended, unfinished
 *
 * origin is the server id of the source, number its name for the message. A message comes in one round or in several.
 * edge names one parent's sending to one child in a round, anew each time that begins; order numbers what the edge
 * sends, repetitions too. index counts the pieces of one tree in one round, piece those of the message. length is the
 * number of pieces that go by the tree in this round, CAST_OPEN_ENDED while the sender does not know it. sum of DATA is
 * cast_sum() of the piece.
 */
#ifndef SERVICES_MULTICAST_CAST_HEAD_H
#define SERVICES_MULTICAST_CAST_HEAD_H

#include "services/multicast/cast/store.h"

/* Port 1 is that of files (file/progress.h). */
enum { MULTICAST_JOB = 7, MULTICAST_PORT = 0, MULTICAST_PORT_GROUPS = 2 };

#define CAST_OPEN_ENDED UINT32_MAX
/* No message has a piece of that number. */
#define CAST_HEARD_DONE UINT32_MAX

enum {
    CAST_WINDOW = 128, /* pieces of one tree that a server keeps at a time */
    CAST_DATA_HEAD = 40,
    CAST_OPEN_HEAD = 72,
    CAST_ACK_BYTES = 56,
    CAST_DONE_BYTES = 32,
    CAST_LACK_HEAD = 32,
    CAST_HEARD_BYTES = 20,
    CAST_STOP_BYTES = 24,
    CAST_PIECE_LEAST = 64,
    CAST_PIECE_MOST = 65536,
};

enum cast_kind {
    CAST_OPEN = 1,
    CAST_DATA = 2,
    CAST_ACK = 3,
    CAST_DONE = 4,
    CAST_LACK = 5,
    CAST_HEARD = 6,
    CAST_STOP = 7,
};

/* Fields of other kinds are zero. */
struct cast_head {
    enum cast_kind kind;
    uint8_t tree; /* a cw_link; 0 between a member and the source */
    uint16_t round;
    uint32_t origin;
    uint64_t number;
    uint32_t edge, order;    /* ACK: order is echo, the newest order that the child has seen */
    uint32_t index;          /* DATA: of the tree; OPEN: from; ACK: base */
    uint32_t piece;          /* DATA; first in LACK and HEARD */
    uint32_t count, missing; /* LACK */
    uint64_t sum;            /* DATA, DONE */
    uint64_t serial;         /* ACK */
    uint64_t have[2];        /* ACK */
    int32_t status;          /* DONE, STOP: 0 or -errno */
    uint32_t length;         /* OPEN, ACK */
    uint32_t piece_bytes;    /* OPEN, as all below */
    uint64_t bytes;
    uint32_t servers;
    uint8_t id[CAST_ID_BYTES];
    uint8_t content;
    uint16_t label_bytes;
    /* OPEN: members and label; DATA: the bytes; LACK: the bits. Borrowed from the packet that was decoded. */
    const uint8_t *rest;
    size_t rest_bytes;
};

/* Bytes of a packet of that kind, without rest. */
size_t cast_head_bytes(enum cast_kind kind);
/* Bytes of a set of servers (bit i % 8 of byte i / 8 is server i) in a torus of so many. */
static inline size_t cast_set_bytes(uint32_t servers)
{
    return ((size_t)servers + 7) / 8;
}
/* Writes cast_head_bytes() bytes; the caller writes rest behind them. */
void cast_head_encode(const struct cast_head *h, uint8_t *out);
/* -EBADMSG: no such packet (too short or long, an unknown kind, a tree that is no link, bytes that must be zero,
 * lengths that do not fit one another); *out is then undefined. */
CW_MUST_CHECK int cast_head_decode(const uint8_t *bytes, size_t length, struct cast_head *out);

/* The sum of one piece: of its place in the message and its bytes. It finds faults, not forgery (base/sum.h). */
uint64_t cast_sum(uint32_t piece, const uint8_t *bytes, size_t length);

#endif
