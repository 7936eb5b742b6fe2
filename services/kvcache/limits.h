/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits.h - what an operator may tune of the cache itself, by options of the service (cw_option).
 *
 *   extras        0..8, default 4: extra keys at which copies of hot values are kept
 *   values_mib    1..1048576, default 64: memory for values of keys that this server is the root of
 *   copies_mib    1..65536, default 8: memory for copies
 *   copy_age_ms   1..10000, default 10000: the longest time that a copy is served; registrations of copies last 10 s,
 *                 so that a copy cannot be served longer
 */
#ifndef SERVICES_KVCACHE_LIMITS_H
#define SERVICES_KVCACHE_LIMITS_H

#include "cubeway/service.h"
#include "setting/setting.h"

enum { KV_EXTRAS_MOST = 8, KV_AGE_MOST_MS = 10000, KV_LIMITS_WHY = SETTING_WHY };

struct kv_limits {
    size_t value_bytes; /* for values of keys that this server is the root of */
    size_t copy_bytes;  /* for copies */
    unsigned extras;    /* extra keys of a hot value: k */
    cw_span timeout;    /* of a request, after which it has failed */
    cw_span attempt;    /* how long a request waits for its answer before it is asked again */
    cw_span age;        /* of a copy, at most */
};

struct kv_limits kv_limits_default(void);
/*
 * The defaults, changed by the options: get gives the value of an option, or NULL. 0; or -EINVAL, and why is one
 * sentence. Every name is asked for in any case, as cw_option() wants.
 */
CW_MUST_CHECK int kv_limits_read(struct kv_limits *l, const char *(*get)(void *context, const char *name),
                                 void *context, char why[static KV_LIMITS_WHY]);

#endif
