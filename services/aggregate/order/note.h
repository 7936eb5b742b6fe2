/* SPDX-License-Identifier: Apache-2.0 */
/*
 * note.h - what servers say to one another about an operator's reduction, as bytes and as a struct. Network order; what
 * is 0 must be 0.
 *
 *      0                   1      2      4           8         16 ...
 *  all | 1:4 kind:4 (1)    | 0 (1) | 0 (2) | number (4) | life (8) |
 *
 *  LOOK    16 root | 20 type operation flags 0 (1 each) | 24 elements (8) | 32 limit, ms | 36 source sink (1 each)
 *          38 bytes of the two names (1 each) | 40 name of the source | .. name of the sink
 *  LOOKED  16 bytes (8)                                      the answer: how long the vector is that was found
 *  GO      16 elements (8) | 24 servers | 28 members
 *  DONE    16 who | 20 attempts | 24 took, ns (8) | 32 wrong (8) | 40 servers | 44 the counted
 *  DROP
 *
 * The server at which the operator asked is the desk. life is drawn by the desk's service, number counts up there: so
 * the two, and the server that a note comes from, name the order. LOOK and GO are requests of the transport, to which
 * LOOKED and DONE are the answers; the status of such an answer is an errno. DROP ends what the desk does not want any
 * more.
 */
#ifndef SERVICES_AGGREGATE_ORDER_NOTE_H
#define SERVICES_AGGREGATE_ORDER_NOTE_H

#include "services/aggregate/dense/head.h"

enum {
    NOTE_VERSION = 1,
    NOTE_NAME_MOST = 200,
    NOTE_BYTES_MOST = 44 + 8 * MESSAGE_SET_WORDS,
};

enum note_kind {
    NOTE_LOOK = 1,
    NOTE_LOOKED = 2,
    NOTE_GO = 3,
    NOTE_DONE = 4,
    NOTE_DROP = 5,
};

/* Where a member's vector comes from, and where the result goes. */
enum note_source { NOTE_SOURCE_NONE = 0, NOTE_SOURCE_FILE = 1, NOTE_SOURCE_KNOWN = 2 };
enum note_sink { NOTE_SINK_NONE = 0, NOTE_SINK_FILE = 1, NOTE_SINK_COMPARE = 2 };

struct note {
    enum note_kind kind;
    uint32_t number;
    uint64_t life;
    cw_server root;                  /* LOOK */
    struct spec spec;                /* LOOK; elements: of a known vector; GO: elements alone */
    uint32_t limit_ms;               /* LOOK */
    uint8_t source, sink;            /* LOOK: enum note_source, enum note_sink */
    char from[NOTE_NAME_MOST + 1];   /* LOOK */
    char to[NOTE_NAME_MOST + 1];     /* LOOK */
    uint64_t bytes;                  /* LOOKED */
    cw_server who;                   /* DONE: whom the status is about; CW_SERVER_NONE: nobody */
    uint32_t attempts;               /* DONE */
    uint64_t took_ns;                /* DONE */
    uint64_t wrong;                  /* DONE: elements of a known result that are not what they must be */
    uint32_t servers;                /* GO, DONE */
    uint64_t set[MESSAGE_SET_WORDS]; /* GO: the members; DONE: the counted */
};

/* How many bytes note_encode() writes: at most NOTE_BYTES_MOST. */
size_t note_size(const struct note *n);
void note_encode(const struct note *n, uint8_t *out);
/*
 * Fills *out. -EPROTO: too short or too long, unknown, or impossible: then nothing in *out means anything. What is
 * decoded has at most MESSAGE_SERVERS_MOST servers with no bit beyond them, a type and an operation that fit, and names
 * without a NUL that are there when the source or the sink is a file.
 */
CW_MUST_CHECK int note_decode(const uint8_t *bytes, size_t size, struct note *out);

#endif
