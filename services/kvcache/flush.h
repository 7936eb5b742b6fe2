/* SPDX-License-Identifier: Apache-2.0 */
/* flush.h - all values of a job dropped, on all servers: flush.c. */
#ifndef SERVICES_KVCACHE_FLUSH_H
#define SERVICES_KVCACHE_FLUSH_H

#include "services/kvcache/internal.h"
#include "services/kvcache/rpc.h"

struct flush_result {
    /*
     * KV_OK; KV_NO_MAJORITY: nothing was done; KV_TIMED_OUT, KV_UNKNOWN: values may be left on the servers that are
     * missing.
     */
    enum kv_status status;
    unsigned answered; /* servers that did what the last round asked for */
    unsigned missing;  /* servers that are in a view and did not answer */
    cw_server first;   /* one of the missing, or CW_SERVER_NONE */
};
typedef void (*flush_done_fn)(void *arg, const struct flush_result *result);
/*
 * Calls done exactly once, perhaps before it returns. -ENOBUFS (too many are under way), -ENOMEM, -ESHUTDOWN: then done
 * is not called.
 */
int flush_begin(struct kvcache *k, cw_job job, flush_done_fn done, void *arg);
/* Asks all servers to drop all copies; k->quiet ends when they have (kvcache rule 17). From open(). */
void flush_renew(struct kvcache *k);
/* A round that another server asks for; it is answered. */
void flush_take(struct kvcache *k, const struct asker *asker, const struct kv_ask *ask);
/* To be called when the view has changed. */
void flush_review(struct kvcache *k);
/* Ends all flushes, as KV_UNKNOWN. */
void flush_close(struct kvcache *k);

#endif
