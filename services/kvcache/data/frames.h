/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frames.h - what instances of the cache send one another: an ask and an answer, each of them one packet, or one
 * message of the transport. Pure.
 *
 * All numbers are in network order. Lengths are checked against the bytes that are there: nothing beyond them is read,
 * and nothing may follow.
 */
#ifndef SERVICES_KVCACHE_DATA_FRAMES_H
#define SERVICES_KVCACHE_DATA_FRAMES_H

#include "services/kvcache/data/request.h"

enum { KV_WIRE_VERSION = 2, KV_ASK_BYTES = 84, KV_ASK_STEPS_BYTES = 16, KV_ANSWER_BYTES = 44 };
enum { KV_ASK_MOST = KV_ASK_BYTES + KV_ASK_STEPS_BYTES + KV_KEY_MAX + KV_VALUE_MAX };

enum kv_kind {
    KV_ASK_OP = 1,    /* an operation: for the root of the key, or (with KV_BIT_EXTRA) for a server that keeps copies */
    KV_ASK_DROP = 2,  /* the root takes copies of the key back */
    KV_ASK_NAME = 3,  /* asks for nothing but the instance, which every answer has; without a key */
    KV_ASK_CUT = 4,   /* flush.c: the values of the job go; without a key */
    KV_ASK_RENEW = 5, /* flush.c: all copies go; without a key */
    KV_ASK_STATS = 6, /* report.c: the numbers of a server; without a key */
    KV_ASK_HOT = 7,   /* report.c: the keys that it is asked for most; without a key */
};

enum {
    KV_BIT_CREATE = 1, /* kv_request.create */
    KV_BIT_COPY = 2,   /* the asker would keep a copy of the answer */
    KV_BIT_EXTRA = 4,  /* the packet went to an extra key: its receiver answers from a copy, or fetches the value */
    KV_BITS = 7,
};

struct kv_ask {
    enum kv_kind kind;
    unsigned bits;
    uint64_t to;         /* the instance that is meant; 0, of reads: any */
    uint64_t from;       /* the asker's instance */
    uint64_t number;     /* of this write; 0 of reads. Of a flush: its number */
    uint64_t floor;      /* the lowest number of a write of the asker's that is not over; 0 of reads */
    struct kv_request r; /* key and value borrowed from the bytes */
};

enum kv_state {
    KV_DONE = 1, /* the result follows */
    KV_NOT_ME,   /* not the root of the key, or not the instance that is meant: this ask had no effect */
    KV_BUSY,     /* not now, ask again: this ask had no effect */
    KV_LARGE,    /* the answer fits no packet, ask by the transport: this ask had no effect */
    KV_STATES,
};

struct kv_answer {
    enum kv_state state;
    enum kv_status status;
    enum kv_source source;
    bool copyable;  /* the asker has been registered and may keep a copy */
    bool win_due;   /* the asker may win if it asks by KV_LOOK */
    unsigned marks; /* of enum kv_mark */
    uint32_t idle_s;
    uint64_t instance; /* that answers */
    uint32_t flags;
    uint64_t cas;
    cw_span left; /* until the value expires; 0: never */
    const uint8_t *value;
    size_t length;
};

/* The bytes of the whole frame, at most KV_ASK_MOST. */
size_t kv_ask_size(const struct kv_ask *ask);
size_t kv_answer_size(const struct kv_answer *answer);
/* Write exactly so many bytes. */
void kv_ask_encode(const struct kv_ask *ask, uint8_t *out);
void kv_answer_encode(const struct kv_answer *answer, uint8_t *out);
/* False: the bytes are no ask, or no answer. *out borrows the bytes. */
CW_MUST_CHECK bool kv_ask_decode(const uint8_t *bytes, size_t size, struct kv_ask *out);
CW_MUST_CHECK bool kv_answer_decode(const uint8_t *bytes, size_t size, struct kv_answer *out);

#endif
