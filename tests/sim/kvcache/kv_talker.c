/* SPDX-License-Identifier: Apache-2.0 */
#include "kv_talker.h"

#include "services/kvcache/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct kv_talker_plan kv_talker_plan;
struct kv_ledger *kv_ledger;

enum { LARGE = 12000, FILL = 40, COUNTER_EACH = 4 };

struct talker {
    cw_svc *svc, *cache;
    const struct kvcache_api *api;
    cw_timer *timer;
    uint64_t cas[KV_TALKER_KEYS]; /* the last that was seen */
};

/* A question on its way: who asked, and where it stands. */
struct asked {
    struct talker *t;
    struct kv_entry *entry;
};

static int64_t now(void)
{
    return kv_talker_plan.now(kv_talker_plan.context).ns;
}

static void answered(void *arg, const struct kv_result *r)
{
    struct asked *a = arg;
    if (r->cas != 0 && (r->status == KV_OK || r->status == KV_EXISTS || r->status == KV_NOT_STORED)) {
        a->t->cas[a->entry->key] = r->cas;
    }
    kv_ledger_answer(kv_ledger, a->entry, r, now());
    free(a);
}

/* ---- What to ask for --------------------------------------------------------------------------------------------- */

struct share {
    enum kv_op op;
    unsigned parts;
};

static enum kv_op draw_op(struct talker *t, bool counter)
{
    static const struct share plain[] = {{KV_SET, 3}, {KV_DELETE, 1}, {0, 0}};
    static const struct share words[] = {{KV_SET, 20}, {KV_DELETE, 12}, {KV_ADD, 10}, {KV_REPLACE, 8}, {KV_APPEND, 16},
                                         {KV_CAS, 20}, {KV_TOUCH, 6},   {KV_GAT, 6},  {0, 0}};
    static const struct share counters[] = {{KV_SET, 8},  {KV_DELETE, 8}, {KV_ADD, 4}, {KV_INCR, 40}, {KV_DECR, 20},
                                            {KV_CAS, 10}, {KV_TOUCH, 3},  {KV_GAT, 3}, {0, 0}};
    const struct share *table = kv_talker_plan.plain ? plain : counter ? counters : words, *s;
    unsigned all = 0;
    for (s = table; s->parts > 0; s++) {
        all += s->parts;
    }
    uint64_t dice = cw_random_below(t->svc, all);
    for (s = table; dice >= s->parts; s++) {
        dice -= s->parts;
    }
    return s->op;
}

static void fill_word(struct talker *t, struct kv_entry *e, struct kv_request *r)
{
    static uint8_t value[KV_RECORD_HEAD + KV_RECORD_FILL_MAX];
    bool large = cw_random_below(t->svc, 1000) < kv_talker_plan.large;
    uint16_t fill = large ? LARGE : (uint16_t)cw_random_below(t->svc, FILL);
    r->value = value;
    r->value_length = kv_record_write(kv_ledger, e, fill, value);
}

static void fill_counter(struct talker *t, struct kv_entry *e, struct kv_request *r)
{
    static char text[24];
    uint64_t large = (UINT64_C(1) << KV_NUMBER_BITS) + cw_random_below(t->svc, UINT64_C(1) << KV_NUMBER_BITS);
    if (op_carries(e->op)) {
        e->number = large;
        r->value = (const uint8_t *)text;
        r->value_length = kv_number_write(large, text);
    } else if (e->op == KV_INCR || e->op == KV_DECR) {
        e->number = r->delta = 1 + cw_random_below(t->svc, UINT64_C(1) << KV_DELTA_BITS);
        r->create = cw_random_below(t->svc, 4) == 0;
        e->initial = r->initial = r->create ? large : 0;
    }
}

static void fill(struct talker *t, struct kv_entry *e, struct kv_request *r)
{
    const struct kv_talker_plan *plan = &kv_talker_plan;
    if (e->counter) {
        fill_counter(t, e, r);
    } else if (op_carries(e->op)) {
        fill_word(t, e, r);
    }
    if (e->op == KV_CAS) {
        e->want = r->cas = t->cas[e->key];
    }
    if (cw_random_below(t->svc, 100) < plan->expiring) {
        e->expiry = r->expiry = CW_NS(1 + (int64_t)cw_random_below(t->svc, (uint64_t)plan->expiry_most.ns));
    }
}

struct flushing {
    size_t keys;
    struct kv_entry *entry[KV_TALKER_KEYS];
};

static void flushed(void *arg, const struct kv_result *r)
{
    struct flushing *f = arg;
    for (size_t i = 0; i < f->keys; i++) {
        kv_ledger_answer(kv_ledger, f->entry[i], r, now());
    }
    free(f);
}

static void flush(struct talker *t)
{
    struct flushing *f = calloc(1, sizeof *f);
    while (f != NULL && f->keys < kv_talker_plan.keys) {
        struct kv_entry *e = kv_ledger_new(kv_ledger);
        if (e == NULL) {
            break;
        }
        e->key = (uint32_t)f->keys;
        e->op = KV_DELETE;
        e->server = cw_server_id(t->svc, cw_self(t->svc));
        e->begun = now();
        kv_ledger->asked[e->op]++;
        f->entry[f->keys++] = e;
    }
    if (f != NULL && t->api->flush(t->cache, KV_TALKER_JOB, flushed, f) < 0) {
        for (size_t i = 0; i < f->keys; i++) {
            f->entry[i]->op = 0;
        }
        free(f);
    }
}

static void ask(struct talker *t)
{
    const struct kv_talker_plan *plan = &kv_talker_plan;
    char key[32];
    if (plan->flushes > 0 && cw_random_below(t->svc, 10000) < plan->flushes) {
        flush(t);
        return;
    }
    struct kv_entry *e = kv_ledger_new(kv_ledger);
    struct asked *a = malloc(sizeof *a);
    if (e == NULL || a == NULL) {
        free(a);
        return;
    }
    *a = (struct asked){t, e};
    e->key = (uint32_t)cw_random_below(t->svc, plan->keys);
    e->counter = !plan->plain && e->key % COUNTER_EACH == COUNTER_EACH - 1;
    e->op = cw_random_below(t->svc, 100) < plan->writes ? draw_op(t, e->counter) : KV_GET;
    if (e->op == KV_CAS && t->cas[e->key] == 0) {
        e->op = KV_GET;
    }
    e->server = cw_server_id(t->svc, cw_self(t->svc));
    e->begun = now();
    struct kv_request r = {KV_REQUEST_INIT, .op = e->op, .job = KV_TALKER_JOB, .key = (const uint8_t *)key};
    r.key_length = (size_t)snprintf(key, sizeof key, "key %u", e->key);
    fill(t, e, &r);
    kv_ledger->asked[e->op]++;
    if (t->api->run(t->cache, &r, answered, a) < 0) {
        e->op = 0;
        kv_ledger->refused++;
        free(a);
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

/* ---- The service ------------------------------------------------------------------------------------------------- */

/* What no option says as finely. */
static int tune(struct kvcache *k)
{
    const struct kv_talker_plan *plan = &kv_talker_plan;
    k->limits.extras = plan->extras;
    k->limits.attempt = plan->attempt;
    k->limits.age = plan->age.ns > 0 ? plan->age : k->limits.age;
    if (plan->value_bytes == 0) {
        return 0;
    }
    items_close(&k->values);
    return items_open(&k->values, plan->value_bytes);
}

static int talker_open(cw_svc *s, void *state)
{
    struct talker *t = state;
    t->svc = s;
    t->api = cw_find(s, "kvcache", KVCACHE_API_VERSION, &t->cache);
    if (t->api == NULL || tune(cw_state(t->cache)) < 0) {
        return -1;
    }
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
