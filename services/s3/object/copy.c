/* SPDX-License-Identifier: Apache-2.0 */
#include "services/s3/object/copy.h"

#include "base/container.h"

#include <stdlib.h>
#include <string.h>

struct s3_copy {
    struct s3_desk *desk;
    struct s3_get_order from;
    struct s3_put_order to;
    struct s3_copy_hooks hooks;
    void *arg;
    struct s3_waiter waiter;
    size_t held;
    char names[2 * (S3_PLACE_MOST + 1)]; /* of both orders: bucket and key, one behind the other */
    char upload[S3_UPLOAD_ID + 1];
    struct s3_get *get;
    struct s3_put *put;
    bool ended, busy, cancelled, over;
    struct s3_put_outcome outcome;
};

static void leave(struct s3_copy *c)
{
    struct s3_desk *d = c->desk;
    c->over = true;
    s3_desk_forget(&c->waiter);
    if (c->get != NULL) {
        s3_get_close(c->get);
    }
    if (c->put != NULL) {
        s3_put_cancel(c->put);
    }
    s3_desk_give(d, c->held);
    if (!c->cancelled && !d->closed) {
        c->hooks.done(c->arg, &c->outcome);
    }
    free(c);
    s3_desk_leave(d);
}

/* From within a call of the get's or the put's: the end comes when that is over. */
static void end(struct s3_copy *c, s3_fault fault)
{
    c->outcome.fault = fault;
    c->over = true;
    if (!c->busy) {
        leave(c);
    }
}

static void enter(struct s3_copy *c)
{
    c->busy = true;
}

static void exit_and_leave(struct s3_copy *c)
{
    c->busy = false;
    if (c->over || c->cancelled) {
        leave(c);
    }
}

/* Bytes from one to the other, as long as there are some and they are taken. */
static void move(struct s3_copy *c)
{
    if (c->busy || c->over || c->put == NULL) {
        return;
    }
    enter(c);
    size_t length = 1;
    while (!c->over && !c->cancelled && length > 0) {
        const uint8_t *bytes = s3_get_peek(c->get, &length);
        length = bytes != NULL && length > 0 ? s3_put_feed(c->put, bytes, length) : 0;
        if (length > 0 && !c->over) {
            s3_get_take(c->get, length);
        }
    }
    if (!c->over && s3_get_fault(c->get) != S3_OK) {
        end(c, s3_get_fault(c->get));
    } else if (!c->over && s3_get_left(c->get) == 0 && !c->ended) {
        c->ended = true;
        s3_put_end(c->put);
    }
    exit_and_leave(c);
}

static void on_room(void *arg)
{
    move(arg);
}

static void on_done(void *arg, const struct s3_put_outcome *outcome)
{
    struct s3_copy *c = arg;
    c->put = NULL;
    c->outcome = *outcome;
    end(c, outcome->fault);
}

static void on_ready(void *arg)
{
    move(arg);
}

static void on_head(void *arg, s3_fault fault, const struct s3_manifest *manifest)
{
    struct s3_copy *c = arg;
    uint64_t first = 0, count = 0;
    enter(c);
    if (fault == S3_OK) {
        fault = c->hooks.judge(c->arg, manifest, &c->to, &first, &count);
    }
    if (fault == S3_OK && !c->cancelled) {
        c->to.size = count;
        c->put = s3_put_open(c->desk, &c->to, (struct s3_put_hooks){on_room, on_done}, c);
        fault = c->put == NULL ? S3_SLOW_DOWN : S3_OK;
    }
    if (fault != S3_OK) {
        end(c, fault);
    } else if (!c->cancelled) {
        s3_get_range(c->get, first, count);
    }
    bool goes_on = !c->over && !c->cancelled;
    exit_and_leave(c);
    if (goes_on) {
        move(c);
    }
}

static void begin(struct s3_copy *c)
{
    c->get = s3_get_open(c->desk, &c->from, (struct s3_get_hooks){on_head, on_ready}, c);
    if (c->get == NULL) {
        end(c, S3_SLOW_DOWN);
    }
}

static void granted(struct s3_waiter *w)
{
    struct s3_copy *c = container_of(w, struct s3_copy, waiter);
    c->held = w->bytes;
    begin(c);
}

static const char *keep(char **at, const char *text, size_t length)
{
    char *kept = *at;
    memcpy(kept, text, length);
    *at += length;
    return kept;
}

struct s3_copy *s3_copy_open(struct s3_desk *d, const struct s3_get_order *from, const struct s3_put_order *to,
                             struct s3_copy_hooks hooks, void *arg)
{
    struct s3_copy *c = calloc(1, sizeof *c);
    if (c == NULL) {
        return NULL;
    }
    *c = (struct s3_copy){.desk = d, .from = *from, .to = *to, .hooks = hooks, .arg = arg, .waiter = {.go = granted}};
    char *at = c->names;
    c->from.bucket = keep(&at, from->bucket, from->bucket_length);
    c->from.key = keep(&at, from->key, from->key_length);
    c->to.bucket.text = keep(&at, to->bucket.text, to->bucket.length);
    c->to.key.text = keep(&at, to->key.text, to->key.length);
    if (to->upload != NULL) {
        memcpy(c->upload, to->upload, S3_UPLOAD_ID);
        c->to.upload = c->upload;
    }
    c->from.lent = c->to.lent = true;
    s3_desk_join(d);
    size_t bytes = 2 * (size_t)d->config.chunk;
    if (s3_desk_take(d, &c->waiter, bytes)) {
        c->held = bytes;
        c->get = s3_get_open(d, &c->from, (struct s3_get_hooks){on_head, on_ready}, c);
        if (c->get == NULL) {
            c->cancelled = true;
            leave(c);
            return NULL;
        }
    }
    return c;
}

void s3_copy_cancel(struct s3_copy *c)
{
    c->cancelled = true;
    if (!c->busy) {
        leave(c);
    }
}
