/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.h - a message in an inbox or a lane: a head of 64 bytes, then the payload, padded to 64.
 *
 *   word 0   kind:8 flags:8 endpoint:16 length:32
 *   word 1   job:32 process:32
 *   word 2   life:32 server:24 0:8
 *   word 3   port:16 items:16 tag:32
 *   word 4   right:64
 *   word 5-7 key:160 0:32; of an answer to a third party's question, the asker in the first 8 bytes: job:32 process:32
 *
 * A record lies in one piece: where it does not fit before the end of a ring, a filler closes the end, a record of kind
 * FILLER with the length of what is left behind its head, and the record stands at the beginning.
 */
#ifndef SHARE_RECORD_H
#define SHARE_RECORD_H

#include "cubeway/types.h"
#include "share/layout.h"

enum share_record_kind {
    SHARE_RECORD_SHORT = 1,     /* a message; its bytes follow */
    SHARE_RECORD_LONG = 2,      /* a message in a window: length is its bytes there, none follow */
    SHARE_RECORD_LONG_HERE = 3, /* a long message waits for a window: the same */
    SHARE_RECORD_ANSWER = 4,    /* to a request without an answer window; its bytes follow */
    SHARE_RECORD_FILLER = 5,
};

enum share_record_flag {
    SHARE_RECORD_TO_KEY = 1,    /* key is set */
    SHARE_RECORD_REQUESTER = 2, /* who asked is set */
    SHARE_RECORD_REQUEST = 4,   /* right is set */
    SHARE_RECORD_FLAGS = 7,
};

struct share_record {
    uint64_t right; /* of ANSWER: user of the request */
    uint32_t length;
    cw_job job;
    cw_process process;
    uint32_t life;
    uint32_t server; /* 24 bits: x, y, z from the highest on */
    uint32_t tag;
    cw_job requester_job;
    cw_process requester_process;
    cw_key key;
    uint16_t endpoint;
    cw_port port;
    uint16_t items;
    uint8_t kind, flags;
};

enum { SHARE_RECORD_WORDS = SHARE_RECORD_BYTES / 8 };

/* A key and a requester exclude one another; flags say which, and the other is not written. */
void share_record_encode(const struct share_record *r, uint64_t word[static SHARE_RECORD_WORDS]);

/* Takes a copied head apart. False: it has bits that have no name, or no kind that there is, and *out is not set. */
CW_MUST_CHECK bool share_record_decode(const uint64_t word[static SHARE_RECORD_WORDS], struct share_record *out);

/* Do its bytes follow? Of the others only the head is in the ring. */
static inline bool share_record_has_bytes(uint8_t kind)
{
    return kind == SHARE_RECORD_SHORT || kind == SHARE_RECORD_ANSWER || kind == SHARE_RECORD_FILLER;
}

/* The room that a head and so many bytes need: a multiple of 64, beyond any ring when length is. */
static inline uint64_t share_record_room(uint64_t length)
{
    return (length + 2 * (uint64_t)SHARE_RECORD_BYTES - 1) / SHARE_RECORD_BYTES * SHARE_RECORD_BYTES;
}

/*
 * What has to be free so that a record with so many bytes finds room wherever a ring's end lies: a head alone always
 * fits; a longer one may need a filler before it, which is at least one head shorter than the record.
 */
static inline uint64_t share_record_room_anywhere(uint64_t length)
{
    return 2 * share_record_room(length) - SHARE_RECORD_BYTES;
}

#endif
