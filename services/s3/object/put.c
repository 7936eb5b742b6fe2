/* SPDX-License-Identifier: Apache-2.0 */
/*
 * put.c - a put asks in this order, each step when the one before has been answered:
 *
 *   is the bucket there, or the upload         while the first bytes come
 *   the lot's register                         so that no chunk is without one
 *   chunks, a window of them at once           as the bytes come
 *   the manifest that is there                 its version, and which lots it names
 *   the manifest, if the version is that one   else once more
 *
 * A short object has only the first and the last two. Of what ends unknown nothing is dropped: a chunk may yet come to
 * be, and a manifest may name the lot. The sweeper looks again in a day.
 */
#include "services/s3/object/put.h"

#include "base/check.h"
#include "base/container.h"
#include "services/s3/object/drop.h"

#include <stdlib.h>
#include <string.h>

enum { TRIES = 16 };

enum step { STEP_OWNER, STEP_LOT, STEP_BYTES, STEP_LOOK, STEP_COMMIT, STEP_OVER };

struct chunk {
    struct s3_put *put;
    uint8_t *bytes; /* NULL: not in use */
    uint32_t length, came;
};

struct s3_put {
    struct s3_desk *desk;
    struct s3_put_order order;
    struct s3_put_hooks hooks;
    void *arg;
    struct s3_place target, object; /* what names the lot, and the object that this is of */
    struct s3_lot lot;
    struct s3_waiter waiter;
    enum step step;
    unsigned pending; /* questions */
    bool short_one, ended, cancelled, has_lot, unknown;
    s3_fault fault;
    unsigned tries;
    uint64_t came;         /* bytes that were fed */
    uint64_t begun, asked; /* chunks, and those that went to the store */
    struct chunk chunk[S3_WINDOW_MOST];
    struct chunk *filling;
    size_t granted; /* bytes of memory for the next one */
    struct hash_md5 md5;
    struct hash_sha256 sha256;
    int64_t began_s;
    struct s3_put_outcome outcome;
    struct s3_buffer metas, value; /* texts of order.meta; what was put under a name */
    struct s3_buffer old;          /* the manifest that is there, */
    uint64_t version;              /* and its version; 0: none is */
};

static void go_on(struct s3_put *p);

/* ---- Ends -------------------------------------------------------------------------------------------------------- */

static void give_chunk(struct s3_put *p, struct chunk *c)
{
    free(c->bytes);
    c->bytes = NULL;
    if (!p->order.lent) {
        s3_desk_give(p->desk, c->length);
    }
}

/* Once nothing is under way: says how it went, and goes. */
static void leave(struct s3_put *p)
{
    struct s3_desk *d = p->desk;
    p->pending++; /* while others go on with the memory it may be given up, but goes only once */
    s3_desk_forget(&p->waiter);
    s3_desk_give(d, p->granted);
    for (unsigned i = 0; i < S3_WINDOW_MOST; i++) {
        if (p->chunk[i].bytes != NULL) {
            give_chunk(p, &p->chunk[i]);
        }
    }
    if (p->has_lot && (p->fault != S3_OK || p->step != STEP_OVER)) {
        if (p->unknown) {
            d->lots_left++;
        } else {
            s3_drop(d, p->order.job, &p->lot, 0);
        }
    }
    s3_buffer_drop(&p->metas);
    s3_buffer_drop(&p->value);
    s3_buffer_drop(&p->old);
    if (!p->cancelled && !d->closed) {
        p->outcome.fault = p->fault;
        p->hooks.done(p->arg, &p->outcome);
    }
    free(p);
    s3_desk_leave(d);
}

/* S3_OK: it goes on. The first fault stays. */
static void fail(struct s3_put *p, s3_fault fault)
{
    if (p->fault == S3_OK) {
        p->fault = fault;
    }
}

/* Counts an answer; gives what went wrong with the question. */
static s3_fault answered(struct s3_put *p, const cw_store_result *result)
{
    p->pending--;
    p->unknown |= result->status == CW_STORE_UNKNOWN;
    return s3_desk_fault(result->status);
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

static void asked(struct s3_put *p, s3_fault fault)
{
    if (fault == S3_OK) {
        p->pending++;
    } else {
        fail(p, fault);
    }
}

static void owner_came(void *arg, const cw_store_result *result)
{
    struct s3_put *p = arg;
    s3_fault fault = answered(p, result);
    if (fault == S3_OK && result->status == CW_STORE_NOT_FOUND) {
        fault = p->order.upload != NULL ? S3_NO_UPLOAD : S3_NO_BUCKET;
    }
    fail(p, fault);
    p->step = p->short_one ? STEP_BYTES : STEP_LOT;
    go_on(p);
}

static void ask_owner(struct s3_put *p)
{
    struct s3_place place;
    if (p->order.upload != NULL) {
        s3_place_upload(&place, p->order.upload);
    } else {
        s3_place_bucket(&place, p->order.bucket.text, p->order.bucket.length);
    }
    asked(p, s3_desk_head(p->desk, p->order.job, &place, owner_came, p));
}

static void lot_came(void *arg, const cw_store_result *result)
{
    struct s3_put *p = arg;
    s3_fault fault = answered(p, result);
    if (fault == S3_OK && result->status != CW_STORE_OK) {
        fault = S3_INTERNAL; /* another lot of the same number */
    }
    p->has_lot = fault == S3_OK;
    fail(p, fault);
    p->step = STEP_BYTES;
    go_on(p);
}

static void ask_lot(struct s3_put *p)
{
    struct s3_place place;
    const struct s3_lot_note note = {
        .made_s = p->began_s, .chunk = p->lot.chunk, .owner = p->target, .object = p->object};
    s3_place_lot(&place, p->lot.id);
    s3_buffer_clear(&p->value);
    s3_lot_note_write(&note, &p->value);
    asked(p, p->value.failed
                 ? S3_SLOW_DOWN
                 : s3_desk_put(p->desk, p->order.job, &place, 0, p->value.bytes, p->value.length, lot_came, p));
}

static void chunk_came(void *arg, const cw_store_result *result)
{
    struct chunk *c = arg;
    struct s3_put *p = c->put;
    s3_fault fault = answered(p, result);
    if (fault == S3_OK && result->status != CW_STORE_OK) {
        fault = S3_INTERNAL;
    }
    fail(p, fault);
    p->pending++; /* while others go on with the memory, it stays */
    give_chunk(p, c);
    p->pending--;
    go_on(p);
}

static void send_chunk(struct s3_put *p, struct chunk *c)
{
    struct s3_place place;
    s3_place_chunk(&place, p->lot.id, p->asked++);
    s3_fault fault = s3_desk_put(p->desk, p->order.job, &place, 0, c->bytes, c->length, chunk_came, c);
    asked(p, fault);
}

/* ---- The manifest ------------------------------------------------------------------------------------------------ */

static s3_fault judge_bytes(struct s3_put *p)
{
    uint8_t sha256[HASH_SHA256_BYTES];
    hash_md5_end(&p->md5, p->outcome.etag.md5);
    hash_sha256_end(&p->sha256, sha256);
    if (p->order.sha256 != NULL && !hash_equal(p->order.sha256, sha256, sizeof sha256)) {
        return S3_WRONG_SHA256;
    }
    return p->order.md5 != NULL && !hash_equal(p->order.md5, p->outcome.etag.md5, HASH_MD5_BYTES) ? S3_BAD_DIGEST
                                                                                                  : S3_OK;
}

static s3_fault judge_old(struct s3_put *p, const struct s3_manifest *old)
{
    if (p->order.put_if == S3_PUT_IF_NONE && old != NULL) {
        return S3_PRECONDITION_FAILED;
    }
    if (p->order.put_if == S3_PUT_IF_MATCH && old == NULL) {
        return S3_NO_KEY;
    }
    return p->order.put_if == S3_PUT_IF_MATCH && !s3_etag_listed(&old->etag, p->order.match) ? S3_PRECONDITION_FAILED
                                                                                             : S3_OK;
}

static void commit_came(void *arg, const cw_store_result *result)
{
    struct s3_put *p = arg;
    struct s3_manifest old, kept;
    s3_fault fault = answered(p, result);
    if (fault == S3_OK && result->status != CW_STORE_OK) { /* another one was there first */
        p->step = STEP_LOOK;
        if (++p->tries == TRIES) {
            fail(p, S3_CONFLICT);
        }
        go_on(p);
        return;
    }
    if (fault != S3_OK) {
        fail(p, fault);
    } else if (p->version != 0 && s3_manifest_read((const uint8_t *)p->old.bytes, p->old.length, &old) &&
               s3_manifest_read((const uint8_t *)p->value.bytes, p->value.length, &kept)) {
        s3_drop_replaced(p->desk, p->order.job, &old, &kept);
    }
    p->step = STEP_OVER;
    go_on(p);
}

static void ask_commit(struct s3_put *p)
{
    struct s3_manifest m = {.etag = p->outcome.etag, .size = p->order.size, .metas = p->order.metas};
    int64_t now_s = p->desk->config.now_s(p->desk->config.context);
    if (now_s - p->began_s > S3_PUT_MOST_S) {
        fail(p, S3_TIMED_OUT); /* the sweeper may be about to take the lot for garbage */
        return;
    }
    m.changed_s = p->outcome.changed_s = now_s;
    const char *at = p->metas.bytes;
    for (unsigned i = 0; i < m.metas; i++) {
        m.meta[i].name = at;
        m.meta[i].value = at + strlen(at) + 1;
        at = m.meta[i].value + strlen(m.meta[i].value) + 1;
    }
    m.bytes = p->short_one ? p->chunk[0].bytes : NULL;
    m.lots = p->has_lot ? 1 : 0;
    s3_buffer_clear(&p->value);
    s3_manifest_write(&m, &p->lot, &p->value);
    if (p->value.failed) {
        fail(p, S3_SLOW_DOWN);
        return;
    }
    asked(p,
          s3_desk_put(p->desk, p->order.job, &p->target, p->version, p->value.bytes, p->value.length, commit_came, p));
}

static void look_came(void *arg, const cw_store_result *result)
{
    struct s3_put *p = arg;
    struct s3_manifest old;
    bool there = result->status == CW_STORE_OK;
    s3_fault fault = answered(p, result);
    s3_buffer_clear(&p->old);
    p->version = there ? result->version : 0;
    if (there) {
        s3_buffer_add(&p->old, result->value, result->value_length);
        if (p->old.failed) {
            fault = S3_SLOW_DOWN;
        } else if (!s3_manifest_read((const uint8_t *)p->old.bytes, p->old.length, &old)) {
            fault = S3_INTERNAL; /* somebody else's register under a name of ours: it is left alone */
        }
    }
    if (fault == S3_OK) {
        fault = judge_old(p, there ? &old : NULL);
    }
    fail(p, fault);
    p->step = STEP_COMMIT;
    go_on(p);
}

/* ---- Bytes ------------------------------------------------------------------------------------------------------- */

static bool is_full(const struct chunk *c)
{
    return c != NULL && c->came == c->length;
}

/* A full chunk goes as soon as the lot has its register. */
static void flush(struct s3_put *p)
{
    if (p->step == STEP_BYTES && p->fault == S3_OK && !p->short_one && is_full(p->filling)) {
        struct chunk *c = p->filling;
        p->filling = NULL;
        send_chunk(p, c);
    }
}

static void granted(struct s3_waiter *w)
{
    struct s3_put *p = container_of(w, struct s3_put, waiter);
    p->granted = w->bytes;
    go_on(p);
}

/* Begins the next chunk. False: its place or its memory has to be waited for. */
static bool begin_chunk(struct s3_put *p)
{
    struct chunk *c = NULL;
    unsigned slots = p->order.lent ? 1 : p->desk->config.window;
    uint32_t length = p->short_one ? (uint32_t)p->order.size : s3_lot_chunk(&p->lot, p->begun);
    for (unsigned i = 0; c == NULL && i < slots; i++) {
        c = p->chunk[i].bytes == NULL ? &p->chunk[i] : NULL;
    }
    if (c == NULL || p->waiter.waits) {
        return false;
    }
    if (!p->order.lent && p->granted == 0 && !s3_desk_take(p->desk, &p->waiter, length)) {
        return false;
    }
    p->granted = 0;
    *c = (struct chunk){.put = p, .bytes = malloc(length), .length = length};
    if (c->bytes == NULL) {
        p->granted = p->order.lent ? 0 : length;
        fail(p, S3_SLOW_DOWN);
        return false;
    }
    p->begun++;
    p->filling = c;
    return true;
}

static size_t fill(struct s3_put *p, const uint8_t *bytes, size_t length)
{
    if (p->filling == NULL && !begin_chunk(p)) {
        return 0;
    }
    struct chunk *c = p->filling;
    size_t n = length < c->length - c->came ? length : c->length - c->came;
    memcpy(c->bytes + c->came, bytes, n);
    hash_md5_add(&p->md5, bytes, n);
    hash_sha256_add(&p->sha256, bytes, p->order.sha256 != NULL ? n : 0);
    c->came += (uint32_t)n;
    p->came += n;
    flush(p);
    return n;
}

/* ---- On and on --------------------------------------------------------------------------------------------------- */

static bool all_sent(const struct s3_put *p)
{
    return p->short_one || p->asked == s3_lot_chunks(&p->lot);
}

static void step(struct s3_put *p)
{
    if (p->step == STEP_BYTES && p->ended && all_sent(p)) {
        p->step = STEP_LOOK;
        fail(p, judge_bytes(p));
    }
    if (p->fault != S3_OK) {
        return;
    }
    if (p->step == STEP_OWNER) {
        ask_owner(p);
    } else if (p->step == STEP_LOT) {
        ask_lot(p);
    } else if (p->step == STEP_LOOK) {
        asked(p, s3_desk_get(p->desk, p->order.job, &p->target, look_came, p));
    } else if (p->step == STEP_COMMIT) {
        ask_commit(p);
    }
}

/* After every answer: goes on as far as it can, or ends. */
static void go_on(struct s3_put *p)
{
    bool idle = p->pending == 0;
    p->pending++; /* what is called below may give it up, or be refused at once: it ends here */
    flush(p);
    if (idle && p->pending == 1 && p->fault == S3_OK && !p->cancelled) {
        step(p);
    }
    if (p->fault == S3_OK && !p->cancelled && p->came < p->order.size && !p->desk->closed) {
        p->hooks.room(p->arg);
    }
    p->pending--;
    if (p->pending == 0 && (p->cancelled || p->fault != S3_OK || p->step == STEP_OVER)) {
        leave(p);
    }
}

struct s3_put *s3_put_open(struct s3_desk *d, const struct s3_put_order *order, struct s3_put_hooks hooks, void *arg)
{
    struct s3_put *p = calloc(1, sizeof *p);
    if (p == NULL) {
        return NULL;
    }
    *p = (struct s3_put){.desk = d, .order = *order, .hooks = hooks, .arg = arg, .waiter = {.go = granted}};
    for (unsigned i = 0; i < order->metas; i++) {
        s3_buffer_add(&p->metas, order->meta[i].name, strlen(order->meta[i].name) + 1);
        s3_buffer_add(&p->metas, order->meta[i].value, strlen(order->meta[i].value) + 1);
    }
    if (p->metas.failed) {
        s3_buffer_drop(&p->metas);
        free(p);
        return NULL;
    }
    s3_place_object(&p->object, order->bucket.text, order->bucket.length, order->key.text, order->key.length);
    p->target = p->object;
    if (order->upload != NULL) {
        s3_place_part(&p->target, order->upload, order->part);
    }
    p->short_one = order->size == 0 || (order->upload == NULL && order->size <= d->config.inline_most);
    p->began_s = d->config.now_s(d->config.context);
    s3_desk_lot_id(d, p->lot.id);
    p->lot.size = order->size;
    p->lot.chunk = d->config.chunk;
    hash_md5_begin(&p->md5);
    hash_sha256_begin(&p->sha256);
    s3_desk_join(d);
    /* Should the store refuse at once, that is told when the first bytes come, or their end. */
    p->pending++;
    step(p);
    p->pending--;
    return p;
}

static void settle(struct s3_put *p)
{
    if (p->pending == 0 && p->fault != S3_OK) {
        leave(p);
    }
}

size_t s3_put_feed(struct s3_put *p, const void *bytes, size_t length)
{
    const uint8_t *at = bytes;
    size_t taken = 0;
    CHECK(length <= p->order.size - p->came);
    while (taken < length && p->fault == S3_OK) {
        size_t n = is_full(p->filling) ? 0 : fill(p, at + taken, length - taken);
        if (n == 0) {
            break;
        }
        taken += n;
    }
    settle(p);
    return taken;
}

void s3_put_end(struct s3_put *p)
{
    p->ended = true;
    if (p->came < p->order.size) {
        fail(p, S3_INCOMPLETE_BODY);
    }
    if (p->pending == 0) {
        go_on(p);
    }
}

void s3_put_cancel(struct s3_put *p)
{
    p->cancelled = true;
    if (p->pending == 0) {
        leave(p);
    }
}
