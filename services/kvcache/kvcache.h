/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kvcache.h - the key-value cache (CamCubeOS 5.1, memcached's operations): what gateways and other services of this
 * server ask of it.
 *
 * Guarantee (docs/services/kvcache.md, "What is promised"): among operations of servers in the majority component, the
 * acknowledged writes and deletes and the hits of each key are linearizable. A miss may come at any time and says
 * nothing. Values may be lost at any time: this is a cache. Values of one job are never given to another. A write whose
 * result is KV_UNKNOWN or KV_TIMED_OUT may have taken effect, may still, or never will.
 *
 * Threading: that of the server.
 */
#ifndef SERVICES_KVCACHE_KVCACHE_H
#define SERVICES_KVCACHE_KVCACHE_H

#include "cubeway/service.h"

enum { KVCACHE_JOB = 6, KVCACHE_API_VERSION = 1 };
enum { KV_KEY_MAX = 250, KV_VALUE_MAX = 1024 * 1024 }; /* memcached's */

enum kv_op {
    KV_GET = 1,
    KV_SET,
    KV_ADD,     /* only if there is none: else KV_NOT_STORED */
    KV_REPLACE, /* only if there is one: else KV_NOT_STORED */
    KV_APPEND,  /* only if there is one: else KV_NOT_STORED; flags and expiry stay */
    KV_PREPEND,
    KV_CAS,    /* only if it is still the one with that cas: KV_EXISTS when it is another, KV_MISS when there is none */
    KV_INCR,   /* of a decimal of 64 bits, wraps; KV_NOT_NUMBER. With create, a missing one becomes initial */
    KV_DECR,   /* stops at 0 */
    KV_TOUCH,  /* a new expiry */
    KV_GAT,    /* the value, and a new expiry */
    KV_DELETE, /* with KV_META_STALE: the value stays and is stale, under a new cas */
    KV_LOOK,   /* as GET, and what the steps say. Numbered like a write, so that nobody wins twice */
    KV_OPS,
};

/*
 * What memcached's meta commands ask besides. A stale value is served, and told to be stale; of those who look at one,
 * or at one that lives no longer than they wish, the first wins: it is told to make the value anew, and the others are
 * told that somebody does.
 */
enum kv_meta {
    KV_META = 1,        /* the value's marks are told, and who looks may win */
    KV_META_TIMES = 2,  /* how it was used and how long it lives: only its root knows */
    KV_META_UNUSED = 4, /* this does not count as a use */
    KV_META_STALE =
        8, /* DELETE; and the writes with a cas: an older one than is there does not refuse, but stores what is stale */
    KV_METAS = 15,
};

/*
 * Of GAT, LOOK, INCR, DECR and the DELETE that makes stale: what happens to times, in that order. Nibbles of steps, the
 * lowest is the first.
 */
enum kv_step {
    KV_STEP_RENEW = 1, /* the value lives for expiry from now on */
    KV_STEP_VIVIFY,    /* a missing one is made, empty or as initial says, and lives for vivify; who makes it wins */
    KV_STEP_RECACHE,   /* wins when the value lives for less than recache */
    KV_STEP_LEFT,      /* left is told as it is at this step */
    KV_STEPS,
};
enum { KV_STEPS_MOST = 4 };

/* expiry: from now on; these two besides. */
#define KV_NEVER ((cw_span){0})
#define KV_AT_ONCE ((cw_span){-1})

struct kv_request {
    size_t size; /* KV_REQUEST_INIT */
    enum kv_op op;
    cw_job job;         /* whose name space: the gateway's, or the asking service's */
    const uint8_t *key; /* 1..KV_KEY_MAX bytes, borrowed for the call, as is value */
    size_t key_length;
    const uint8_t *value; /* SET, ADD, REPLACE, APPEND, PREPEND, CAS */
    size_t value_length;
    uint32_t flags; /* the client's, kept beside the value */
    cw_span expiry;
    uint64_t cas;            /* CAS; for the other writes and DELETE too, unless 0 */
    uint64_t delta, initial; /* INCR, DECR */
    bool create;
    uint8_t meta;            /* of enum kv_meta */
    uint16_t steps;          /* 0: none, and GAT renews */
    cw_span vivify, recache; /* as expiry */
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
/* The words for people. */
const char *kv_status_text(enum kv_status status);

/* Of a value that is the answer: what it was before. */
enum kv_mark {
    KV_MARK_FETCHED = 1, /* somebody has looked at it */
    KV_MARK_STALE = 2,
    KV_MARK_SENT = 4, /* somebody has won it */
    KV_MARK_WON = 8,  /* whoever asked now */
};

enum kv_source { KV_FROM_HERE, KV_FROM_COPY, KV_FROM_ROOT };

struct kv_result {
    size_t size;
    enum kv_status status;
    const uint8_t *value; /* GET, GAT; INCR and DECR: the new number in decimal. Borrowed for the upcall */
    size_t value_length;
    uint32_t flags;
    uint64_t
        cas; /* of what is there now; no two values of a key ever have the same; they grow while the key has the same root */
    enum kv_source source;
    unsigned marks; /* when meta was asked for: of enum kv_mark */
    /*
     * With KV_META_TIMES: seconds since it was looked at or written, and how long it lives still (0: for ever; never
     * negative)
     */
    uint32_t idle_s;
    cw_span left;
};

typedef void (*kv_done_fn)(void *arg, const struct kv_result *r);

/*
 * Asks; done is called exactly once, perhaps before this returns (a hit here), and else when the answer is there or the
 * time is over, or from the close of the service. Key and value of the request are copied. The value of the result is
 * the cache's own memory or a packet's: it is gone when done returns, and with the first call of kv_do() or kv_flush()
 * from within done, which may move or end it. Who needs it longer, or asks more first, copies it. -EINVAL (no such op,
 * a key of no or too many bytes), -EMSGSIZE (a value above KV_VALUE_MAX), -ENOBUFS (too many questions under way, or
 * too many bytes of them), -ESHUTDOWN, -ENOMEM: then done is not called. Any job may be asked for: that it is the
 * asker's own is trust. kvcache: the peer of cw_find().
 */
CW_MUST_CHECK int kv_do(cw_svc *kvcache, const struct kv_request *request, kv_done_fn done, void *arg);

/*
 * Drops all values of the job, on all servers; done is called exactly once, perhaps before this returns. KV_OK: a value
 * whose write was acknowledged before this was asked is read by nobody any more, wherever it is; one written after it
 * stays. KV_NO_MAJORITY: nothing was dropped. KV_TIMED_OUT, KV_UNKNOWN: some server has not answered, and may serve
 * such values still. -ENOBUFS (too many at once), -ENOMEM, -ESHUTDOWN, -EINVAL: then done is not called.
 */
CW_MUST_CHECK int kv_flush(cw_svc *kvcache, cw_job job, kv_done_fn done, void *arg);

/* For services that come as files: cw_find(s, "kvcache", KVCACHE_API_VERSION, &peer). */
struct kvcache_api {
    size_t size;
    int (*run)(cw_svc *kvcache, const struct kv_request *request, kv_done_fn done, void *arg);
    /* kv_flush(). May be NULL, or beyond size: it cannot. */
    int (*flush)(cw_svc *kvcache, cw_job job, kv_done_fn done, void *arg);
};

extern const cw_service kvcache_service;

#endif
