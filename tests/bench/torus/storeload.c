/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storeload.so - a service that asks the key-value store in a closed loop, as a program on its server would.
 *
 *   run op=put|get at_once=N bytes=BYTES ms=TIME   answers rate (a second), p50, p95, p99 in ns, and how many failed
 *
 * Names are "load:key:0000" to 0999 of its own job; a run of gets puts them all first. With N operations at once the
 * next one is asked for when one is answered, within the same upcall.
 */
#include "cubeway/service.h"
#include "cubeway/store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JOB = 4098, KEYS_MOST = 1000, SPANS = 1 << 20, AT_ONCE_MOST = 1024, BYTES_MOST = CW_STORE_VALUE_MAX };

struct load {
    cw_svc *svc, *store;
    const cw_store_api *api;
    cw_request *request; /* NULL: nothing runs */
    bool gets, filling;
    unsigned at_once, open, key, failed, keys;
    size_t bytes;
    cw_span span;
    cw_time begin, end;
    uint64_t done;
    uint8_t value[BYTES_MOST];
    uint32_t *took; /* us, of the first SPANS */
};

struct errand {
    struct load *load;
    cw_time asked;
};

static void ask(struct load *l, struct errand *e);

static int by_size(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static int64_t quantile(const struct load *l, uint64_t count, unsigned percent)
{
    return count > 0 ? (int64_t)l->took[(count - 1) * percent / 100] * 1000 : 0;
}

static void finish(struct load *l)
{
    uint64_t count = l->done < SPANS ? l->done : SPANS;
    cw_request *r = l->request;
    qsort(l->took, count, sizeof *l->took, by_size);
    cw_span all = cw_time_since(cw_now(l->svc), l->begin);
    cw_request_int(r, "rate", all.ns > 0 ? (int64_t)((double)l->done * 1e9 / (double)all.ns) : 0);
    cw_request_int(r, "p50", quantile(l, count, 50));
    cw_request_int(r, "p95", quantile(l, count, 95));
    cw_request_int(r, "p99", quantile(l, count, 99));
    cw_request_int(r, "failed", l->failed);
    l->request = NULL;
    cw_request_done(r, 0);
}

static void start(struct load *l)
{
    l->filling = false;
    l->key = 0;
    l->done = 0;
    l->begin = cw_now(l->svc);
    l->end = cw_time_add(l->begin, l->span);
}

static void answered(void *arg, const cw_store_result *result)
{
    struct errand *e = arg;
    struct load *l = e->load;
    cw_time now = cw_now(l->svc);
    bool good = result->status == CW_STORE_OK && (!l->gets || l->filling || result->value_length == l->bytes);
    l->open--;
    l->failed += !good;
    if (!l->filling && good) {
        int64_t us = cw_time_since(now, e->asked).ns / 1000;
        l->took[l->done < SPANS ? l->done : SPANS - 1] = us < UINT32_MAX ? (uint32_t)us : UINT32_MAX;
        l->done++;
    }
    if (l->filling && l->key >= l->keys && l->open == 0) {
        start(l);
        for (unsigned i = 1; i < l->at_once; i++) {
            struct errand *more = malloc(sizeof *more);
            if (more != NULL) {
                more->load = l;
                ask(l, more);
            }
        }
    } else if (l->filling ? l->key >= l->keys : !cw_time_before(now, l->end)) {
        free(e);
        if (l->open == 0 && !l->filling) {
            finish(l);
        }
        return;
    }
    ask(l, e);
}

/* Asks for the next name; the errand is done with when it cannot. */
static void ask(struct load *l, struct errand *e)
{
    char name[24];
    cw_store_request r = {CW_STORE_REQUEST_INIT, .op = l->gets && !l->filling ? CW_STORE_GET : CW_STORE_PUT};
    unsigned key = l->filling ? l->key : l->key * 7919u % l->keys;
    l->key++;
    r.job = JOB;
    r.name = name;
    r.name_length = (size_t)snprintf(name, sizeof name, "load:key:%04u", key);
    r.value = l->value;
    r.value_length = r.op == CW_STORE_PUT ? l->bytes : 0;
    e->asked = cw_now(l->svc);
    l->open++;
    if (l->api->run(l->store, &r, answered, e) < 0) {
        l->open--;
        l->failed++;
        free(e);
    }
}

static int run(struct load *l, cw_request *r, int argc, const char *const *argv)
{
    unsigned long at_once = 1, bytes = 100, ms = 300, keys = KEYS_MOST;
    char op[8] = "put";
    for (int i = 1; i < argc; i++) {
        (void)sscanf(argv[i], "op=%7s", op);
        (void)sscanf(argv[i], "at_once=%lu", &at_once);
        (void)sscanf(argv[i], "bytes=%lu", &bytes);
        (void)sscanf(argv[i], "ms=%lu", &ms);
        (void)sscanf(argv[i], "keys=%lu", &keys);
    }
    if (l->request != NULL || at_once < 1 || at_once > AT_ONCE_MOST || bytes > BYTES_MOST || keys < 1 ||
        keys > KEYS_MOST || l->api == NULL) {
        return l->request != NULL ? -EBUSY : -EINVAL;
    }
    l->request = r;
    l->gets = strcmp(op, "get") == 0;
    l->at_once = (unsigned)at_once;
    l->bytes = bytes;
    l->keys = (unsigned)keys;
    l->span = CW_MS((int64_t)ms);
    l->failed = 0;
    start(l);
    l->filling = l->gets;
    for (unsigned i = 0; i < l->at_once; i++) {
        struct errand *e = malloc(sizeof *e);
        if (e != NULL) {
            e->load = l;
            ask(l, e);
        }
    }
    return 1;
}

static int load_command(cw_svc *s, void *state, cw_request *r, int argc, const char *const *argv)
{
    (void)s;
    return argc > 0 && strcmp(argv[0], "run") == 0 ? run(state, r, argc, argv) : -EINVAL;
}

static cw_verdict load_packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    (void)s;
    (void)state;
    (void)p;
    (void)rx;
    return CW_DROP;
}

static int load_open(cw_svc *s, void *state)
{
    struct load *l = state;
    l->svc = s;
    l->took = calloc(SPANS, sizeof *l->took);
    l->api = cw_find(s, "store", CW_STORE_API, &l->store);
    memset(l->value, 'v', sizeof l->value);
    return l->took != NULL ? 0 : -ENOMEM;
}

static void load_close(cw_svc *s, void *state)
{
    struct load *l = state;
    (void)s;
    free(l->took);
}

static const cw_service load_service = {
    CW_SERVICE_INIT,
    .name = "storeload",
    .version = "1.0",
    .job = JOB,
    .state_size = sizeof(struct load),
    .open = load_open,
    .close = load_close,
    .on_packet = load_packet,
    .on_command = load_command,
};

const cw_service *cw_service_entry(void)
{
    return &load_service;
}
