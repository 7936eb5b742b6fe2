/* SPDX-License-Identifier: Apache-2.0 */
#include "kv_standin.h"

#include "services/kvcache/op.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct standin_wait {
    struct standin_wait *next;
    struct kv_request request;
    kv_done_fn done;
    void *arg;
    bool flush;
    uint8_t bytes[];
};

static void must(bool good, const char *what)
{
    if (!good) {
        fprintf(stderr, "kv_standin: %s\n", what);
        abort();
    }
}

void standin_open(struct standin *k, size_t bytes)
{
    *k = (struct standin){.now = {1}, .cas = 1000};
    must(items_open(&k->items, bytes) == 0, "no memory");
}

/* No SHA-1: it need not route. */
static cw_key id_of(const struct kv_request *r)
{
    uint64_t h = UINT64_C(14695981039346656037);
    cw_key key = {0};
    for (size_t i = 0; i < r->key_length; i++) {
        h = (h ^ r->key[i]) * UINT64_C(1099511628211);
    }
    h ^= h >> 29;
    memcpy((uint8_t *)&key + sizeof key - sizeof h, &h, sizeof h);
    return key;
}

static cw_time expires(const struct standin *k, cw_span expiry)
{
    return expiry.ns == 0 ? CW_NEVER : cw_time_add(k->now, expiry);
}

static struct item *store(struct standin *k, const struct kv_request *r, const struct item_name *name,
                          const struct op_value *now, const struct op_outcome *o, cw_time kept)
{
    uint8_t *value = malloc(o->length + 1);
    must(value != NULL, "no memory");
    op_write(r, now, o, value); /* the old value goes with items_put() */
    struct item *i = items_put(&k->items, name, o->length, k->now);
    if (i != NULL) {
        if (o->length > 0) {
            memcpy(item_value(i), value, o->length);
        }
        i->flags = o->flags;
        i->cas = ++k->cas;
        i->expires = o->expiry_stays ? kept : expires(k, r->expiry);
    }
    free(value);
    return i;
}

static void perform(struct standin *k, const struct kv_request *r, kv_done_fn done, void *arg)
{
    struct item_name name = {id_of(r), r->job, r->key, (uint8_t)r->key_length};
    struct item *i = items_find(&k->items, &name, k->now);
    struct op_value now = {.there = i != NULL};
    if (i != NULL) {
        now = (struct op_value){true, item_value(i), i->length, i->flags, i->cas};
    }
    struct op_outcome o = op_decide(r, &now);
    struct kv_result result = {.size = sizeof result, .status = o.status, .source = KV_FROM_HERE};
    cw_time kept = i != NULL ? i->expires : CW_NEVER;
    switch (o.change) {
    case OP_STORES:
        i = store(k, r, &name, &now, &o, kept);
        result.status = i != NULL ? KV_OK : KV_NO_MEMORY;
        break;
    case OP_RENEWS:
        i->expires = expires(k, r->expiry);
        break;
    case OP_REMOVES:
        items_remove(&k->items, i);
        i = NULL;
        break;
    case OP_KEEPS:
        break;
    }
    if (i != NULL && result.status == KV_OK) {
        result.cas = i->cas;
        result.flags = i->flags;
        if (o.answers) {
            result.value = item_value(i);
            result.value_length = i->length;
        }
    }
    if (k->fails != KV_OK) {
        result = (struct kv_result){.size = sizeof result, .status = k->fails};
    }
    done(arg, &result);
}

static bool every(void *context, const struct item *i)
{
    (void)context, (void)i;
    return true;
}

static void flush(struct standin *k, kv_done_fn done, void *arg)
{
    items_sweep(&k->items, every, NULL);
    done(arg, &(struct kv_result){.size = sizeof(struct kv_result), .status = k->fails});
}

static void defer(struct standin *k, const struct kv_request *r, bool flushes, kv_done_fn done, void *arg)
{
    struct standin_wait *w = malloc(sizeof *w + r->key_length + r->value_length);
    must(w != NULL, "no memory");
    *w = (struct standin_wait){.request = *r, .done = done, .arg = arg, .flush = flushes};
    if (r->key_length > 0) {
        memcpy(w->bytes, r->key, r->key_length);
    }
    if (r->value_length > 0) {
        memcpy(w->bytes + r->key_length, r->value, r->value_length);
    }
    w->request.key = w->bytes;
    w->request.value = w->bytes + r->key_length;
    struct standin_wait **at = &k->waiting;
    while (*at != NULL) {
        at = &(*at)->next;
    }
    *at = w;
    k->waits++;
}

int standin_run(void *context, const struct kv_request *r, kv_done_fn done, void *arg)
{
    struct standin *k = context;
    must(r->size == sizeof *r && r->key_length >= 1 && r->key_length <= KV_KEY_MAX && r->op > 0 && r->op < KV_OPS &&
             r->value_length <= KV_VALUE_MAX,
         "a request that kv_do() would not take");
    k->asked++;
    if (k->refuses < 0) {
        return k->refuses;
    }
    if (k->deferred) {
        defer(k, r, false, done, arg);
    } else {
        perform(k, r, done, arg);
    }
    return 0;
}

int standin_flush(void *context, cw_span delay, kv_done_fn done, void *arg)
{
    struct standin *k = context;
    if (k->refuses < 0) {
        return k->refuses;
    }
    k->flushed++;
    k->flush_delay = delay;
    if (delay.ns > 0) {
        done(arg, &(struct kv_result){.size = sizeof(struct kv_result), .status = KV_OK});
    } else if (k->deferred) {
        defer(k, &(struct kv_request){KV_REQUEST_INIT}, true, done, arg);
    } else {
        flush(k, done, arg);
    }
    return 0;
}

void standin_answer(struct standin *k, unsigned i)
{
    struct standin_wait **at = &k->waiting;
    for (; i > 0 && *at != NULL; i--) {
        at = &(*at)->next;
    }
    must(*at != NULL, "nothing waits there");
    struct standin_wait *w = *at;
    *at = w->next;
    k->waits--;
    if (w->flush) {
        flush(k, w->done, w->arg);
    } else {
        perform(k, &w->request, w->done, w->arg);
    }
    free(w);
}

void standin_answer_all(struct standin *k)
{
    while (k->waiting != NULL) {
        standin_answer(k, 0);
    }
}

void standin_close(struct standin *k)
{
    k->fails = KV_UNKNOWN;
    standin_answer_all(k);
    items_close(&k->items);
}
