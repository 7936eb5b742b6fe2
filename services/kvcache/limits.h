/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits.h - what may be tuned of the cache itself: options of the service (cw_option), by which an operator changes the defaults.
 *
 *   extras        0..8, default 4: extra keys at which copies of hot values are kept
 *   values_mib    1..1048576, default 64: memory of values as root
 *   copies_mib    1..65536, default 8: memory of copies
 *   copy_age_ms   1..10000, default 10000: the longest that a copy is served; 10 s is what registrations are made for
 */
#ifndef SERVICES_KVCACHE_LIMITS_H
#define SERVICES_KVCACHE_LIMITS_H

#include "cubeway/service.h"

enum { KV_EXTRAS_MOST = 8, KV_AGE_MOST_MS = 10000, KV_LIMITS_WHY = 160 };

struct kv_limits {
    size_t value_bytes; /* of values as root */
    size_t copy_bytes;
    unsigned extras; /* k */
    cw_span timeout; /* of a request */
    cw_span attempt; /* before it is asked again */
    cw_span age;     /* of a copy, at most */
};

struct kv_limits kv_limits_default(void);
/*
 * The defaults, and what the options say: get gives a value, or NULL. 0, or -EINVAL and why in one sentence. All names are asked for in any
 * case, as cw_option() wants.
 */
CW_MUST_CHECK int kv_limits_read(struct kv_limits *l, const char *(*get)(void *context, const char *name),
                                 void *context, char why[static KV_LIMITS_WHY]);

#endif
