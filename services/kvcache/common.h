/* SPDX-License-Identifier: Apache-2.0 */
/* common.h - what all files of the cache use: counts, names, keys and servers as text. */
#ifndef SERVICES_KVCACHE_COMMON_H
#define SERVICES_KVCACHE_COMMON_H

#include "services/kvcache/internal.h"
#include "services/reply/metrics.h"

extern const struct metric kv_count_names[KV_COUNTS];
extern const struct metric kv_time_names[KV_TIMES];

/* Counts one, for `kv stats` and for the daemon's metrics. */
void kv_count(struct kvcache *k, enum kv_counter what);
/* The item that a request is about. Borrows the request's key. */
struct item_name kv_name(const cw_key *id, const struct kv_request *r);
/* memId: where a key of a job is in the key space. length is at most KV_KEY_MAX. */
cw_key kv_mem_id(struct kvcache *k, cw_job job, const uint8_t *key, size_t length);
/* Copies key and value to `at`, which has room for both, and lets the request point there. */
void kv_keep_bytes(struct kv_request *r, uint8_t *at);
/*
 * Writes bytes for people: each byte that cannot be printed, and each backslash, becomes an escape such as \x0a. Writes
 * as many bytes as fit, and a NUL.
 */
void kv_text(const uint8_t *bytes, size_t length, char *out, size_t room);

enum { KV_WHO = 400 };
/*
 * For the last argument of CHECK_RULE(): "server 1,0,2, key 'greeting' of job 6"; without the key when name is NULL.
 * Gives out.
 */
const char *kv_who(const struct kvcache *k, const struct item_name *name, char out[static KV_WHO]);

#endif
