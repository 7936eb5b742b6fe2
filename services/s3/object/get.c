/* SPDX-License-Identifier: Apache-2.0 */
#include "services/s3/object/get.h"

#include "base/check.h"
#include "base/container.h"

#include <stdlib.h>
#include <string.h>

/* A chunk that was asked for: `from`..`to` of its bytes are wanted. */
struct piece {
    struct s3_get *get;
    uint8_t *bytes; /* NULL: it has not come */
    uint32_t length, from, to;
};

struct s3_get {
    struct s3_desk *desk;
    cw_job job;
    struct s3_get_hooks hooks;
    void *arg;
    bool lent, closed;
    s3_fault fault;
    struct s3_place object, bucket;
    struct s3_buffer bytes; /* the manifest's */
    struct s3_manifest manifest;
    unsigned pending;
    struct s3_waiter waiter;
    size_t granted;
    uint64_t left;        /* of the range: not taken */
    uint64_t at, unasked; /* where in the object the next chunk begins that is wanted, and how many bytes from there */
    uint32_t lot;         /* which has that byte, */
    uint64_t lot_first;   /* and begins there */
    unsigned first, pieces; /* of the ring: the first one, and how many are in it */
    struct piece piece[S3_WINDOW_MOST];
};

static void fetch(struct s3_get *g);

/* ---- Ends -------------------------------------------------------------------------------------------------------- */

static void give(struct s3_get *g, struct piece *p)
{
    free(p->bytes);
    p->bytes = NULL;
    if (!g->lent) {
        s3_desk_give(g->desk, p->length);
    }
}

static void leave(struct s3_get *g)
{
    struct s3_desk *d = g->desk;
    g->pending++; /* others go on with the memory: it goes only once */
    s3_desk_forget(&g->waiter);
    s3_desk_give(d, g->granted);
    for (; g->pieces > 0; g->pieces--, g->first = (g->first + 1) % S3_WINDOW_MOST) {
        give(g, &g->piece[g->first]);
    }
    s3_buffer_drop(&g->bytes);
    free(g);
    s3_desk_leave(d);
}

/* Around whatever may call back: it is closed at the end of that, and not in it. */
static void enter(struct s3_get *g)
{
    g->pending++;
}

static void exit_and_leave(struct s3_get *g)
{
    g->pending--;
    if (g->closed && g->pending == 0) {
        leave(g);
    }
}

static void tell_ready(struct s3_get *g)
{
    if (!g->closed && !g->desk->closed) {
        g->hooks.ready(g->arg);
    }
}

static void tell_head(struct s3_get *g, s3_fault fault)
{
    g->fault = fault;
    if (!g->closed && !g->desk->closed) {
        g->hooks.head(g->arg, fault, fault == S3_OK ? &g->manifest : NULL);
    }
}

/* ---- The manifest ------------------------------------------------------------------------------------------------ */

static void bucket_came(void *arg, const cw_store_result *result)
{
    struct s3_get *g = arg;
    s3_fault fault = s3_desk_fault(result->status);
    if (fault == S3_OK) {
        fault = result->status == CW_STORE_OK ? S3_NO_KEY : S3_NO_BUCKET;
    }
    tell_head(g, fault);
    exit_and_leave(g);
}

static void manifest_came(void *arg, const cw_store_result *result)
{
    struct s3_get *g = arg;
    s3_fault fault = s3_desk_fault(result->status);
    if (fault == S3_OK && result->status != CW_STORE_OK && !g->closed) {
        enter(g);
        fault = s3_desk_head(g->desk, g->job, &g->bucket, bucket_came, g);
        if (fault == S3_OK) {
            exit_and_leave(g);
            return;
        }
        g->pending--;
    } else if (fault == S3_OK && result->status == CW_STORE_OK) {
        s3_buffer_add(&g->bytes, result->value, result->value_length);
        if (g->bytes.failed) {
            fault = S3_SLOW_DOWN;
        } else if (!s3_manifest_read((const uint8_t *)g->bytes.bytes, g->bytes.length, &g->manifest)) {
            fault = S3_INTERNAL;
        }
    }
    tell_head(g, fault);
    exit_and_leave(g);
}

static void granted(struct s3_waiter *w)
{
    struct s3_get *g = container_of(w, struct s3_get, waiter);
    g->granted = w->bytes;
    enter(g);
    fetch(g);
    if (g->fault != S3_OK) {
        tell_ready(g);
    }
    exit_and_leave(g);
}

struct s3_get *s3_get_open(struct s3_desk *d, const struct s3_get_order *order, struct s3_get_hooks hooks, void *arg)
{
    struct s3_get *g = calloc(1, sizeof *g);
    if (g == NULL) {
        return NULL;
    }
    g->desk = d;
    g->job = order->job;
    g->hooks = hooks;
    g->arg = arg;
    g->lent = order->lent;
    g->waiter.go = granted;
    s3_place_object(&g->object, order->bucket, order->bucket_length, order->key, order->key_length);
    s3_place_bucket(&g->bucket, order->bucket, order->bucket_length);
    if (s3_desk_get(d, g->job, &g->object, manifest_came, g) != S3_OK) {
        free(g);
        return NULL;
    }
    g->pending = 1;
    s3_desk_join(d);
    return g;
}

/* ---- Bytes ------------------------------------------------------------------------------------------------------- */

static void chunk_came(void *arg, const cw_store_result *result)
{
    struct piece *p = arg;
    struct s3_get *g = p->get;
    bool good = result->status == CW_STORE_OK && result->value_length == p->length;
    p->bytes = good && !g->closed ? malloc(p->length) : NULL;
    if (p->bytes != NULL) {
        memcpy(p->bytes, result->value, p->length);
    } else if (g->fault == S3_OK && !g->closed) {
        g->fault = good ? S3_SLOW_DOWN : s3_desk_fault(result->status);
        g->fault = g->fault == S3_OK ? S3_INTERNAL : g->fault; /* it is gone, or another */
    }
    if (p == &g->piece[g->first] || g->fault != S3_OK) {
        tell_ready(g);
    }
    exit_and_leave(g);
}

/* Asks for the chunk that has byte `at`. False: its memory has to be waited for, or the store refuses. */
static bool fetch_one(struct s3_get *g)
{
    struct s3_lot lot = s3_manifest_lot(&g->manifest, g->lot);
    while (g->at >= g->lot_first + lot.size) {
        g->lot_first += lot.size;
        lot = s3_manifest_lot(&g->manifest, ++g->lot);
    }
    uint64_t in_lot = g->at - g->lot_first, index = in_lot / lot.chunk;
    uint32_t length = s3_lot_chunk(&lot, index), from = (uint32_t)(in_lot % lot.chunk);
    uint32_t count = g->unasked < length - from ? (uint32_t)g->unasked : length - from;
    if (length > g->desk->config.memory) {
        g->fault = S3_INTERNAL; /* written by a server with longer chunks than this one has memory for */
        return false;
    }
    if (!g->lent && g->granted == 0 && !s3_desk_take(g->desk, &g->waiter, length)) {
        return false;
    }
    struct piece *p = &g->piece[(g->first + g->pieces) % S3_WINDOW_MOST];
    struct s3_place place;
    *p = (struct piece){.get = g, .length = length, .from = from, .to = from + count};
    g->granted = 0;
    s3_place_chunk(&place, lot.id, index);
    s3_fault fault = s3_desk_get(g->desk, g->job, &place, chunk_came, p);
    if (fault != S3_OK) {
        g->fault = fault;
        g->granted = g->lent ? 0 : length;
        return false;
    }
    g->pending++;
    g->pieces++;
    g->at += count;
    g->unasked -= count;
    return true;
}

static void fetch(struct s3_get *g)
{
    unsigned most = g->lent ? 1 : g->desk->config.window;
    while (!g->closed && g->fault == S3_OK && g->unasked > 0 && g->pieces < most && !g->waiter.waits && fetch_one(g)) {
    }
}

void s3_get_range(struct s3_get *g, uint64_t first, uint64_t count)
{
    CHECK(g->left == 0 && first <= g->manifest.size && count <= g->manifest.size - first);
    g->left = count;
    g->at = first;
    if (g->manifest.lots > 0) {
        g->unasked = count;
        fetch(g);
    }
}

const uint8_t *s3_get_peek(const struct s3_get *g, size_t *length)
{
    const struct piece *p = &g->piece[g->first];
    *length = 0;
    if (g->left == 0) {
        return NULL;
    }
    if (g->manifest.lots == 0) {
        *length = (size_t)g->left;
        return g->manifest.bytes + g->at;
    }
    if (g->pieces == 0 || p->bytes == NULL) {
        return NULL;
    }
    *length = p->to - p->from;
    return p->bytes + p->from;
}

void s3_get_take(struct s3_get *g, size_t length)
{
    struct piece *p = &g->piece[g->first];
    CHECK(length <= g->left);
    if (length == 0) {
        return;
    }
    g->left -= length;
    if (g->manifest.lots == 0) {
        g->at += length;
        return;
    }
    CHECK(g->pieces > 0 && p->bytes != NULL && length <= p->to - p->from);
    p->from += (uint32_t)length;
    enter(g);
    if (p->from == p->to) {
        g->first = (g->first + 1) % S3_WINDOW_MOST;
        g->pieces--;
        give(g, p);
        fetch(g);
    }
    exit_and_leave(g);
}

uint64_t s3_get_left(const struct s3_get *g)
{
    return g->left;
}

s3_fault s3_get_fault(const struct s3_get *g)
{
    return g->fault;
}

void s3_get_close(struct s3_get *g)
{
    g->closed = true;
    if (g->pending == 0) {
        leave(g);
    }
}
