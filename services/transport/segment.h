/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segment.h - the transport's packets, as bytes and as a struct. Network order.
 *
 *      0            1       2             4
 *  all | 1:4 kind:4 | flags | source port | ...
 *
 *  HELLO    4 out | 8 instance (8)                    may I send to you? out: the sender's name for the association
 *  WELCOME  4 out | 8 instance (8) | 16 in | 20 wait ns
 *                                                     yes: in is the receiver's name for it; wait: of the hello, in
 *                                                     queues
 *  STRANGE  4 out | 8 in | 12 instance (8) | 20 age us
 *                                                     I do not know this association (any more); I am so old
 *  GIVEN_UP 4 out | 8 in | 12 number                  that message will not be finished
 *  SEGMENT  4 acknowledgement if FLAG_ACK, then data if FLAG_DATA
 *  PERMIT   4 out | 8 in | 12 message                 to the sender of data: it may send that message again now
 *  SEEK     4 out | 8 key (20)                        has your process this key? out: the message it is for
 *  FOUND    4 out                                     it has, now
 *
 *  acknowledgement, of packets that came to us:
 *      out (4) in (4) newest packet (4) delay ns (4) words (1) notes (1) 0 (2)
 *      words of 64: bit i of word w: packet newest - 1 - (64 w + i) has come
 *      notes of 12: kind (1) 0 (3) number (4) value (4)
 *  data:
 *      out (4) in (4) packet (4) number (4) floor (4) total bytes (8) index (4)
 *      part bytes (2) data flags (1) head bytes (1) tag (4) message (4)
 *      request (8) and status (2) if DATA_REQUEST or DATA_ANSWER; key (20) if DATA_KEY
 *      the message's head, 0 to 48 bytes
 *      the bytes: `part` of them, but for the last part
 *
 * `number` is that of one attempt to send a message, in the association. `message` is the same in all attempts, and is
 * of no other message that its sender has under way. Packets on tori overtake one another, so a message's head is in
 * every part that leaves before the sender has heard that one has come: whichever part is first begins the message.
 *
 * FLAG_BACKGROUND may be in the flags of all kinds but SEEK and FOUND, which are of no association: the packet is of an
 * association, or about one, by which messages go that wait in the background place of their sender. Two instances may
 * have one of each sort in each direction.
 *
 * An association is one direction between two instances; both names in it are fresh, so that nothing from an earlier
 * one is taken for one of a later one. Packets are numbered as they leave, also those that repeat a part: an
 * acknowledgement says which one came.
 */
#ifndef SERVICES_TRANSPORT_SEGMENT_H
#define SERVICES_TRANSPORT_SEGMENT_H

#include "cubeway/types.h"

enum {
    SEGMENT_VERSION = 2,
    SEGMENT_WORDS = 4,  /* of 64 packets, at most */
    SEGMENT_NOTES = 32, /* at most */
    SEGMENT_HEAD_BYTES = 4,
    SEGMENT_ACK_BYTES = 20,
    SEGMENT_NOTE_BYTES = 12,
    SEGMENT_DATA_BYTES = 44,
    SEGMENT_MESSAGE_HEAD_MOST = 48,
    SEGMENT_DATA_MOST = SEGMENT_DATA_BYTES + 10 + CW_KEY_BYTES + SEGMENT_MESSAGE_HEAD_MOST,
    SEGMENT_PART_LEAST = 64, /* no part but the last is shorter */
    SEGMENT_FIRST = 16,      /* parts that may be sent of a message before its receiver has said how many */
    SEGMENT_NUMBERS = 128,   /* messages of one association that may be unfinished: number - floor is below it */
};
#define SEGMENT_PARTS_MAX (UINT32_C(1) << 30)

enum segment_kind {
    SEGMENT_HELLO = 1,
    SEGMENT_WELCOME = 2,
    SEGMENT_STRANGE = 3,
    SEGMENT_GIVEN_UP = 4,
    SEGMENT_SEGMENT = 5,
    SEGMENT_PERMIT = 6,
    SEGMENT_SEEK = 7,
    SEGMENT_FOUND = 8,
};

enum {
    FLAG_ACK = 1,
    FLAG_DATA = 2,
    FLAG_NOW = 4, /* the sender waits for the acknowledgement */
    FLAG_BACKGROUND = 8,
};
enum { DATA_KEY = 1, DATA_REQUEST = 2, DATA_ANSWER = 4 };

enum segment_note_kind {
    NOTE_RESULT = 1, /* value: what became of the message, 0 or an errno or RESULT_... */
    NOTE_CREDIT = 2, /* value: parts below it may be sent */
};
enum {
    RESULT_NOT_ROOT = 0x8001, /* not taken: the receiver is not the key's root */
    RESULT_BUSY = 0x8002,     /* not taken: no memory now */
    RESULT_WAIT = 0x8003,     /* not taken: the receiving service gives no permission yet */
};

struct segment_note {
    uint8_t kind;
    uint32_t number, value;
};

struct segment_ack {
    uint32_t out, in;
    uint32_t newest, delay_ns;
    unsigned words, notes;
    uint64_t word[SEGMENT_WORDS];
    struct segment_note note[SEGMENT_NOTES];
};

struct segment_data {
    uint32_t out, in;
    uint32_t packet, number, floor;
    uint64_t total;
    uint32_t index;
    uint16_t part;
    uint8_t flags;
    uint32_t tag;
    uint32_t message;
    uint64_t request;
    uint16_t status; /* of an answer: 0 or an errno */
    cw_key key;
    const uint8_t *head; /* of the message; decoded: borrowed */
    uint8_t head_bytes;
    const uint8_t *bytes; /* decoded: borrowed */
    size_t length;
};

struct segment {
    enum segment_kind kind;
    uint8_t flags;
    cw_port port;
    uint32_t out, in, number; /* of all kinds but SEGMENT; PERMIT: number is that of the message */
    uint64_t instance;
    uint32_t wait_ns;         /* WELCOME */
    uint32_t age_us;          /* STRANGE; UINT32_MAX stands for that or more */
    cw_key key;               /* SEEK */
    struct segment_ack ack;   /* FLAG_ACK */
    struct segment_data data; /* FLAG_DATA */
};

/* Is part i in a set of parts, which has a bit for each? */
static inline bool bit_has(const uint64_t *bits, uint32_t i)
{
    return bits[i / 64] >> i % 64 & 1;
}

/* How many parts of `part` bytes (> 0) a message of `total` bytes has; at least 1. */
uint64_t segment_parts(uint64_t total, uint32_t part);
/* Bytes of part `index`. */
size_t segment_part_bytes(uint64_t total, uint32_t part, uint32_t index);

/* How many bytes stand before the payload, for the kind and flags of s. */
size_t segment_head(const struct segment *s);
/* Writes segment_head(s) bytes to out; the payload is the caller's to append. */
void segment_encode(const struct segment *s, uint8_t *out);
/*
 * Fills *out, which borrows bytes. -EPROTO: too short or too long, unknown, or impossible: then nothing in *out means
 * anything. What is decoded has parts that fit together: index below segment_parts(), length that of the part, packets
 * and numbers as they are.
 */
CW_MUST_CHECK int segment_decode(const uint8_t *bytes, size_t length, struct segment *out);

#endif
