/* SPDX-License-Identifier: Apache-2.0 */
#include "kv_town.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct kv_town_answer kv_town_answer;

struct kvcache *kv_town_cache(struct fake_net *net, cw_server s)
{
    return net->server[s]->state;
}

struct fake_net *kv_town_open(unsigned servers, unsigned extras)
{
    struct fake_net *net = fake_net_open(&kvcache_service, (cw_dims){(uint8_t)servers, 1, 1});
    for (cw_server s = 0; s < servers; s++) {
        kv_town_cache(net, s)->limits.extras = extras;
    }
    fake_net_run(net, CW_SEC(12));
    return net;
}

cw_server kv_town_root(struct fake_net *net, const char *key)
{
    struct kvcache *k = kv_town_cache(net, 0);
    cw_key id = kv_mem_id(k, KVCACHE_JOB, (const uint8_t *)key, strlen(key));
    cw_coord root;
    return cw_servers_for_key(k->svc, &id, 1, &root) == 1 ? cw_server_id(k->svc, root) : CW_SERVER_NONE;
}

const char *kv_town_key(struct fake_net *net, cw_server root, unsigned which)
{
    static char key[4][32];
    static unsigned turn;
    char *out = key[turn++ % 4];
    for (unsigned i = 0;; i++) {
        snprintf(out, sizeof key[0], "key-%u", i);
        if (kv_town_root(net, out) == root && which-- == 0) {
            return out;
        }
    }
}

static void answered(void *arg, const struct kv_result *r)
{
    struct kv_town_answer *a = arg;
    a->times++;
    a->status = r->status;
    a->source = r->source;
    a->cas = r->cas;
    a->flags = r->flags;
    a->marks = r->marks;
    a->length = r->value_length < KV_TOWN_VALUE ? r->value_length : KV_TOWN_VALUE;
    if (a->length > 0) {
        memcpy(a->value, r->value, a->length);
    }
    a->value[a->length] = '\0';
}

struct kv_request kv_town_request(enum kv_op op, const char *key, const char *value)
{
    return (struct kv_request){KV_REQUEST_INIT,
                               .op = op,
                               .job = KVCACHE_JOB,
                               .key = (const uint8_t *)key,
                               .key_length = strlen(key),
                               .value = (const uint8_t *)value,
                               .value_length = value != NULL ? strlen(value) : 0};
}

int kv_town_ask(struct fake_net *net, cw_server s, const struct kv_request *r)
{
    kv_town_answer = (struct kv_town_answer){.times = 0};
    return kv_do(net->server[s], r, answered, &kv_town_answer);
}

enum kv_status kv_town_do(struct fake_net *net, cw_server s, enum kv_op op, const char *key, const char *value)
{
    struct kv_request r = kv_town_request(op, key, value);
    if (kv_town_ask(net, s, &r) != 0) {
        abort();
    }
    for (unsigned i = 0; i < 5000 && kv_town_answer.times == 0; i++) {
        fake_net_run(net, CW_MS(1));
    }
    if (kv_town_answer.times != 1) {
        abort();
    }
    return kv_town_answer.status;
}
