/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kvcache.h - the key-value cache (CamCubeOS 5.1, with memcached's operations): what gateways and other services of
 * this server may ask of it.
 *
 * Guarantee (docs/services/kvcache.md, "What is promised"): among operations of servers in the majority component, the
 * acknowledged writes and deletes and the hits of each key are linearizable. A miss may come at any time and says
 * nothing. Values may be lost at any time: this is a cache. Values of one job are never given to another. A write whose
 * result is KV_UNKNOWN or KV_TIMED_OUT may have taken effect, may still, or never will.
 *
 * Threading: all calls come from the thread of the server.
 */
#ifndef SERVICES_KVCACHE_KVCACHE_H
#define SERVICES_KVCACHE_KVCACHE_H

#include "cubeway/service.h"
#include "services/kvcache/data/request.h"

enum { KVCACHE_JOB = 6, KVCACHE_API_VERSION = 1 };

/* The words for people; static. */
const char *kv_status_text(enum kv_status status);

typedef void (*kv_done_fn)(void *arg, const struct kv_result *r);

/*
 * Asks. done is called exactly once: perhaps before this returns (a hit here), else when the answer comes or the time
 * is over, or from the close of the service. Key and value of the request are copied. The value of the result is the
 * cache's own memory or a packet's: it is gone when done returns, and also with the first call of kv_do() or kv_flush()
 * from within done, which may move or end it. A caller that needs the value for longer, or asks more first, copies it.
 *
 * -EINVAL (no such op, a key of no or too many bytes), -EMSGSIZE (a value above KV_VALUE_MAX), -ENOBUFS (too many
 * questions under way, or too many bytes of them), -ESHUTDOWN, -ENOMEM: then done is not called. Any job may be asked
 * for; that it is the asker's own is not checked. kvcache: the peer of cw_find().
 */
CW_MUST_CHECK int kv_do(cw_svc *kvcache, const struct kv_request *request, kv_done_fn done, void *arg);

/*
 * Drops all values of the job, on all servers. done is called exactly once, perhaps before this returns. KV_OK: a value
 * whose write was acknowledged before this call is read by nobody any more, wherever it is; a value that is written
 * afterwards stays. KV_NO_MAJORITY: nothing was dropped. KV_TIMED_OUT, KV_UNKNOWN: some server has not answered, and
 * may serve such values still. -ENOBUFS (too many at once), -ENOMEM, -ESHUTDOWN, -EINVAL: then done is not called.
 */
CW_MUST_CHECK int kv_flush(cw_svc *kvcache, cw_job job, kv_done_fn done, void *arg);

/* The same for services that are loaded as files: cw_find(s, "kvcache", KVCACHE_API_VERSION, &peer). */
struct kvcache_api {
    size_t size;
    int (*run)(cw_svc *kvcache, const struct kv_request *request, kv_done_fn done, void *arg);
    /* kv_flush(). NULL, or beyond size: this cache cannot flush. */
    int (*flush)(cw_svc *kvcache, cw_job job, kv_done_fn done, void *arg);
};

extern const cw_service kvcache_service;

#endif
