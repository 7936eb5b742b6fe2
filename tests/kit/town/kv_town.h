/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kv_town.h - the cache on fake hosts that reach one another: one question at a time, by words.
 */
#ifndef KIT_KV_TOWN_H
#define KIT_KV_TOWN_H

#include "fake_net.h"
#include "services/kvcache/common.h"

enum { KV_TOWN_VALUE = 64 * 1024 };

/* The answer to the last question. */
struct kv_town_answer {
    unsigned times; /* how often it was answered */
    enum kv_status status;
    enum kv_source source;
    size_t length;
    uint64_t cas;
    uint32_t flags;
    unsigned marks;
    char value[KV_TOWN_VALUE + 1]; /* ended by 0 */
};
extern struct kv_town_answer kv_town_answer;

/* A row of servers that take writes: the time is over in which instances that were loaded late take none. */
struct fake_net *kv_town_open(unsigned servers, unsigned extras);
struct kvcache *kv_town_cache(struct fake_net *net, cw_server s);
cw_server kv_town_root(struct fake_net *net, const char *key);
/* A key whose root is that server; the same arguments give the same key. */
const char *kv_town_key(struct fake_net *net, cw_server root, unsigned which);
/* A request with that key and value (may be NULL), for the caller to change. */
struct kv_request kv_town_request(enum kv_op op, const char *key, const char *value);
/* Asks, without waiting. */
int kv_town_ask(struct fake_net *net, cw_server s, const struct kv_request *r);
/* Asks, and waits for the answer, 5 s at most. */
enum kv_status kv_town_do(struct fake_net *net, cw_server s, enum kv_op op, const char *key, const char *value);

#endif
