/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op.h - what an operation makes of the value that is there: memcached's rules (its doc/protocol.txt), and nothing
 * else. Pure, and stores nothing: so the root can ask before it takes the copies back, and a checker can ask the same.
 */
#ifndef SERVICES_KVCACHE_DATA_OP_H
#define SERVICES_KVCACHE_DATA_OP_H

#include "services/kvcache/data/request.h"

/* The value of a key, as far as operations look at it. */
struct op_value {
    bool there;
    const uint8_t *bytes;
    size_t length;
    uint32_t flags;
    uint64_t cas;
    unsigned marks; /* of enum kv_mark, without WON */
    cw_span left;   /* 0: for ever */
};

/* What becomes of the value. */
enum op_change {
    OP_KEEPS,   /* nothing changes */
    OP_STORES,  /* there is a new value of `length` bytes, which op_write() writes */
    OP_RENEWS,  /* the same value gets another expiry or other marks, or becomes stale under another cas */
    OP_REMOVES, /* there is no value any more */
};

enum { OP_NUMBER_MAX = 20 }; /* digits of 2^64 - 1 */

struct op_outcome {
    enum kv_status status;
    enum op_change change;
    bool answers; /* the value, the old or the new one, is part of the answer */
    size_t length;
    uint32_t flags;
    bool expiry_stays; /* a stored or renewed value keeps the expiry of the one before; else it lives for `expiry` */
    cw_span expiry;
    unsigned marks;   /* of a stored or renewed value */
    bool another_cas; /* a renewed value gets another cas */
    bool won;         /* the asker has won */
    bool win_due;     /* the asker would have won if it had asked by KV_LOOK */
    cw_span left;     /* how long the answer says that the value lives, as it is at KV_STEP_LEFT */
    uint8_t digits;
    uint8_t number[OP_NUMBER_MAX]; /* of INCR and DECR */
};

/* Borrows both for the call. The request is one that kv_do() has let through. */
struct op_outcome op_decide(const struct kv_request *request, const struct op_value *now);
/*
 * Writes the new value, outcome->length bytes at out; outcome->change is OP_STORES. out may be where now->bytes or the
 * request's value is, except for APPEND and PREPEND.
 */
void op_write(const struct kv_request *request, const struct op_value *now, const struct op_outcome *outcome,
              uint8_t *out);
/* True for an operation that only looks. GAT and TOUCH do more. */
bool op_reads(enum kv_op op);
/* True for an operation that carries a value. */
bool op_carries(enum kv_op op);

#endif
