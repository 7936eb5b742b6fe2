/* SPDX-License-Identifier: Apache-2.0 */
#include "kv_standin.h"

#include "services/kvcache/data/apply.h"

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

/* Not a SHA-1: this name is not used for routing. */
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

static void apply_here(struct standin *k, const struct kv_request *r, kv_done_fn done, void *arg)
{
    struct item_name name = {id_of(r), r->job, r->key, (uint8_t)r->key_length};
    struct applied p = apply_op(&k->items, items_find(&k->items, &name, k->now), &name, r, k->now, &k->cas);
    if (p.win_due) {
        struct kv_request again = *r;
        again.op = KV_LOOK;
        apply_here(k, &again, done, arg);
        return;
    }
    struct kv_result result = {.size = sizeof result,
                               .status = p.status,
                               .source = KV_FROM_HERE,
                               .marks = p.marks,
                               .idle_s = p.idle_s,
                               .left = p.left};
    if (p.item != NULL && p.status == KV_OK) {
        result.cas = p.cas;
        result.flags = p.flags;
        if (p.answers) {
            result.value = item_value(p.item);
            result.value_length = p.item->length;
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
        apply_here(k, r, done, arg);
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
        apply_here(k, &w->request, w->done, w->arg);
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
