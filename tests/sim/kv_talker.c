/* SPDX-License-Identifier: Apache-2.0 */
#include "kv_talker.h"

#include "services/kvcache/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct kv_talker_plan kv_talker_plan;
struct kv_ledger *kv_ledger;

enum { LARGE = 12000 };

struct talker {
    cw_svc *svc, *cache;
    const struct kvcache_api *api;
    cw_timer *timer;
};

static int64_t now(void)
{
    return kv_talker_plan.now(kv_talker_plan.context).ns;
}

static void answered(void *arg, const struct kv_result *r)
{
    struct kv_event *e = arg;
    bool write = e->kind != KV_EVENT_HIT;
    if (e->ended != KV_NO_END) {
        snprintf(kv_ledger->wrong, sizeof kv_ledger->wrong, "a question was answered twice");
    }
    switch (r->status) {
    case KV_OK:
        e->ended = now();
        e->source = r->source;
        break;
    case KV_MISS:
        e->ended = now();
        if (!write) {
            e->kind = 0;
        } /* a DELETE that found nothing saw nothing, too: it may have been done before; leave it out */
        if (e->kind == KV_EVENT_DELETE) {
            e->kind = 0;
        }
        kv_ledger->misses++;
        return;
    case KV_UNKNOWN:
    case KV_TIMED_OUT:
        kv_ledger->indeterminate++;
        e->kind = write ? e->kind : 0;
        return;
    default:
        e->kind = 0;
        kv_ledger->refused++;
        return;
    }
    if (write) {
        kv_ledger->acked++;
        return;
    }
    if (r->value_length < sizeof e->value) {
        snprintf(kv_ledger->wrong, sizeof kv_ledger->wrong, "a hit of %zu bytes", r->value_length);
        return;
    }
    memcpy(&e->value, r->value, sizeof e->value);
    for (size_t i = sizeof e->value; i < r->value_length; i++) {
        if (r->value[i] != (uint8_t)(e->value + i)) {
            snprintf(kv_ledger->wrong, sizeof kv_ledger->wrong, "a hit with a wrong byte %zu", i);
            return;
        }
    }
    kv_ledger->hits[r->source]++;
}

static void ask(struct talker *t)
{
    static uint8_t value[LARGE];
    const struct kv_talker_plan *plan = &kv_talker_plan;
    char key[32];
    if (kv_ledger->count >= KV_HISTORY_MAX) {
        return;
    }
    struct kv_event *e = &kv_ledger->event[kv_ledger->count++];
    uint32_t number = (uint32_t)cw_random_below(t->svc, plan->keys);
    uint64_t dice = cw_random_below(t->svc, 100);
    struct kv_request r = {KV_REQUEST_INIT, .op = KV_GET, .job = KV_TALKER_JOB, .key = (const uint8_t *)key};
    r.key_length = (size_t)snprintf(key, sizeof key, "key %u", number);
    *e = (struct kv_event){.kind = KV_EVENT_HIT,
                           .key = number,
                           .begun = now(),
                           .ended = KV_NO_END,
                           .server = cw_server_id(t->svc, cw_self(t->svc))};
    if (dice < plan->writes / 4) {
        r.op = KV_DELETE;
        e->kind = KV_EVENT_DELETE;
    } else if (dice < plan->writes) {
        r.op = KV_SET;
        e->kind = KV_EVENT_SET;
        e->value = ++kv_ledger->values;
        r.value = value;
        r.value_length = cw_random_below(t->svc, 1000) < plan->large ? LARGE : sizeof e->value + e->value % 40;
        memcpy(value, &e->value, sizeof e->value);
        for (size_t i = sizeof e->value; i < r.value_length; i++) {
            value[i] = (uint8_t)(e->value + i);
        }
    }
    kv_ledger->asked++;
    if (t->api->run(t->cache, &r, answered, e) < 0) {
        e->kind = 0;
        kv_ledger->refused++;
    }
}

static void due(cw_svc *s, void *state, void *arg)
{
    (void)arg;
    struct talker *t = state;
    if (now() < kv_talker_plan.quiet.ns) {
        ask(t);
        t->timer =
            cw_timer_start(s, CW_NS((int64_t)cw_random_below(s, (uint64_t)kv_talker_plan.pause_most.ns)), due, NULL);
    }
}

static int talker_open(cw_svc *s, void *state)
{
    struct talker *t = state;
    t->svc = s;
    t->api = cw_find(s, "kvcache", KVCACHE_API_VERSION, &t->cache);
    if (t->api == NULL) {
        return -1;
    }
    struct kvcache *k = cw_state(t->cache);
    k->limits.extras = kv_talker_plan.extras;
    k->limits.attempt = kv_talker_plan.attempt;
    t->timer = cw_timer_start(s, CW_MS(1), due, NULL);
    return 0;
}

static cw_verdict on_packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    (void)s;
    (void)state;
    (void)p;
    (void)rx;
    return CW_DROP;
}

const cw_service kv_talker_service = {
    CW_SERVICE_INIT,
    .name = "kvtalker",
    .version = "1",
    .job = KV_TALKER_JOB,
    .state_size = sizeof(struct talker),
    .open = talker_open,
    .on_packet = on_packet,
};
