/* SPDX-License-Identifier: Apache-2.0 */
/* request.h - an operation on a value of the cache, and its result: memcached's operations. kvcache.h asks them. */
#ifndef SERVICES_KVCACHE_DATA_REQUEST_H
#define SERVICES_KVCACHE_DATA_REQUEST_H

#include "cubeway/time.h"
#include "cubeway/types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KV_KEY_MAX = 250, KV_VALUE_MAX = 1024 * 1024 }; /* memcached's */

enum kv_op {
    KV_GET = 1,
    KV_SET,
    KV_ADD,     /* stores only if there is no value, else KV_NOT_STORED */
    KV_REPLACE, /* stores only if there is a value, else KV_NOT_STORED */
    KV_APPEND,  /* as REPLACE; flags and expiry of the value stay */
    KV_PREPEND, /* as APPEND */
    KV_CAS,     /* stores only if the value still has that cas: KV_EXISTS if it has another, KV_MISS if there is none */
    KV_INCR,    /* of a decimal of 64 bits, wraps; else KV_NOT_NUMBER. With create, a missing value becomes initial */
    KV_DECR,    /* as INCR; stops at 0 */
    KV_TOUCH,   /* gives the value a new expiry */
    KV_GAT,     /* gives the value a new expiry, and returns it */
    KV_DELETE,  /* with KV_META_STALE: the value stays and is stale, under a new cas */
    KV_LOOK,    /* as GET, and what the steps say. Numbered like a write, so that nobody wins twice */
    KV_OPS,
};

/*
 * What memcached's meta commands ask besides. A stale value is still served, and its readers are told that it is stale.
 * Of the readers that find a value stale, or about to expire (KV_STEP_RECACHE), the first one *wins*: it is told to
 * make the value anew, and the others are told that somebody does.
 */
enum kv_meta {
    /* The result tells the value's marks, and a reader may win. */
    KV_META = 1,
    /* The result tells how the value was used and how long it lives: only its root knows. */
    KV_META_TIMES = 2,
    /* This operation does not count as a use of the value. */
    KV_META_UNUSED = 4,
    /* DELETE makes stale; a write whose cas is older than the value's is not refused, but stored as stale. */
    KV_META_STALE = 8,
    KV_METAS = 15,
};

/*
 * Steps of GAT, LOOK, INCR, DECR and of the DELETE that makes stale: what happens to times, in the order in which they
 * are listed. Each step is a nibble of kv_request.steps; the lowest nibble is the first step.
 */
enum kv_step {
    KV_STEP_RENEW = 1, /* from now on the value lives for `expiry` */
    KV_STEP_VIVIFY,    /* a missing value is made, empty or as `initial` says, lives for `vivify`, and its maker wins */
    KV_STEP_RECACHE,   /* the asker wins if the value lives for less than `recache` */
    KV_STEP_LEFT,      /* the result's `left` is what it is at this step */
    KV_STEPS,
};
enum { KV_STEPS_MOST = 4 };

/* Expiries are spans from now on, or one of these two. */
#define KV_NEVER ((cw_span){0})
#define KV_AT_ONCE ((cw_span){-1})

struct kv_request {
    size_t size; /* KV_REQUEST_INIT */
    enum kv_op op;
    cw_job job; /* whose name space: the gateway's, or the asking service's */
    /* 1..KV_KEY_MAX bytes. Key and value are borrowed for the call. */
    const uint8_t *key;
    size_t key_length;
    const uint8_t *value; /* of the operations that carry one: SET, ADD, REPLACE, APPEND, PREPEND, CAS */
    size_t value_length;
    uint32_t flags; /* the client's, kept beside the value */
    cw_span expiry;
    uint64_t cas;            /* of CAS; of the other writes and of DELETE too, unless it is 0 */
    uint64_t delta, initial; /* of INCR and DECR */
    bool create;
    uint8_t meta;            /* of enum kv_meta */
    uint16_t steps;          /* of enum kv_step; 0: no steps, and GAT renews */
    cw_span vivify, recache; /* of these steps; as expiry */
};
#define KV_REQUEST_INIT .size = sizeof(struct kv_request)

enum kv_status {
    KV_OK,
    KV_MISS,
    KV_EXISTS,
    KV_NOT_STORED,
    KV_NOT_NUMBER,
    KV_TOO_LARGE,
    KV_NO_MEMORY,
    KV_NO_MAJORITY, /* this side of a partition takes no writes */
    KV_TIMED_OUT,
    KV_UNKNOWN, /* a write that may have taken effect at a server that died */
    KV_DENIED,  /* the job has no privilege */
    KV_STATUSES,
};

/* What the value of a result was before this operation. */
enum kv_mark {
    KV_MARK_FETCHED = 1, /* somebody has looked at it */
    KV_MARK_STALE = 2,
    KV_MARK_SENT = 4, /* somebody has won it */
    KV_MARK_WON = 8,  /* the asker of this operation has won it */
};

enum kv_source { KV_FROM_HERE, KV_FROM_COPY, KV_FROM_ROOT };

struct kv_result {
    size_t size;
    enum kv_status status;
    /* GET, GAT: the value; INCR, DECR: the new number in decimal. Borrowed for the upcall. */
    const uint8_t *value;
    size_t value_length;
    uint32_t flags;
    /*
     * Of the value that is there now. No two values of a key have the same cas; it grows while the key has the same
     * root.
     */
    uint64_t cas;
    enum kv_source source;
    /* With KV_META: of enum kv_mark. */
    unsigned marks;
    /* With KV_META_TIMES: seconds since the value was looked at or written. */
    uint32_t idle_s;
    /* With KV_META_TIMES: how long the value still lives. 0: for ever; never negative. */
    cw_span left;
};

#endif
