/* SPDX-License-Identifier: Apache-2.0 */
#include "services/s3/object/desk.h"

#include "base/bytes.h"
#include "base/check.h"
#include "base/container.h"
#include "services/s3/object/drop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct s3_desk *s3_desk_open(const struct s3_desk_config *config)
{
    CHECK(config->chunk > 0 && config->chunk <= CW_STORE_VALUE_MAX && config->inline_most <= S3_INLINE_MOST);
    CHECK(config->window > 0 && config->window <= S3_WINDOW_MOST && config->memory >= 2 * (size_t)config->chunk &&
          config->memory >= config->inline_most);
    struct s3_desk *d = calloc(1, sizeof *d);
    if (d != NULL) {
        d->config = *config;
        list_init(&d->waiting);
        list_init(&d->listers);
        list_init(&d->drops);
    }
    return d;
}

static void free_if_over(struct s3_desk *d)
{
    if (d->closed && d->users == 0) {
        CHECK(d->held == 0 && d->lists == 0);
        free(d);
    }
}

void s3_desk_close(struct s3_desk *d)
{
    d->closed = true;
    s3_drop_forget(d);
    free_if_over(d);
}

void s3_desk_join(struct s3_desk *d)
{
    d->users++;
}

void s3_desk_leave(struct s3_desk *d)
{
    d->users--;
    free_if_over(d);
}

void s3_desk_tick(struct s3_desk *d)
{
    s3_drop_due(d);
}

/* ---- Waiting ----------------------------------------------------------------------------------------------------- */

static void wait_for(struct list *of, struct s3_waiter *w)
{
    w->waits = true;
    list_push_back(of, &w->node);
}

bool s3_desk_take(struct s3_desk *d, struct s3_waiter *w, size_t bytes)
{
    CHECK(!w->waits && bytes <= d->config.memory);
    w->bytes = bytes;
    if (list_first(&d->waiting) != NULL || bytes > d->config.memory - d->held) {
        wait_for(&d->waiting, w);
        return false;
    }
    d->held += bytes;
    return true;
}

static struct s3_waiter *first_of(struct list *of)
{
    struct list_node *n = list_first(of);
    return n != NULL ? container_of(n, struct s3_waiter, node) : NULL;
}

void s3_desk_give(struct s3_desk *d, size_t bytes)
{
    CHECK(bytes <= d->held);
    d->held -= bytes;
    s3_desk_join(d); /* those who go on may end what keeps the desk */
    for (struct s3_waiter *w; (w = first_of(&d->waiting)) != NULL && w->bytes <= d->config.memory - d->held;) {
        d->held += w->bytes;
        s3_desk_forget(w);
        w->go(w);
    }
    s3_desk_leave(d);
}

bool s3_desk_take_list(struct s3_desk *d, struct s3_waiter *w)
{
    if (d->lists == S3_LISTS_MOST) {
        wait_for(&d->listers, w);
        return false;
    }
    d->lists++;
    return true;
}

void s3_desk_give_list(struct s3_desk *d)
{
    struct s3_waiter *w = first_of(&d->listers);
    d->lists--;
    if (w != NULL) {
        d->lists++;
        s3_desk_forget(w);
        w->go(w);
    }
}

void s3_desk_forget(struct s3_waiter *w)
{
    if (w->waits) {
        list_remove(&w->node);
        w->waits = false;
    }
}

/* ---- The store --------------------------------------------------------------------------------------------------- */

void s3_desk_lot_id(struct s3_desk *d, uint8_t out[static S3_LOT_ID])
{
    put_be64(out, d->config.random(d->config.context));
    put_be64(out + 8, d->config.random(d->config.context));
}

s3_fault s3_desk_refused(int rc)
{
    if (rc == 0) {
        return S3_OK;
    }
    if (rc == -ENOBUFS || rc == -ENOMEM) {
        return S3_SLOW_DOWN;
    }
    return rc == -ESHUTDOWN ? S3_UNAVAILABLE : S3_INTERNAL;
}

s3_fault s3_desk_fault(cw_store_status status)
{
    switch (status) {
    case CW_STORE_OK:
    case CW_STORE_NOT_FOUND:
    case CW_STORE_CONFLICT:
        return S3_OK;
    case CW_STORE_NO_SPACE:
        return S3_FULL;
    case CW_STORE_QUOTA:
        return S3_QUOTA;
    case CW_STORE_DENIED:
        return S3_ACCESS_DENIED;
    case CW_STORE_BUSY:
        return S3_SLOW_DOWN;
    case CW_STORE_NO_QUORUM:
    case CW_STORE_NO_STORE:
    case CW_STORE_NO_ANSWER:
        return S3_UNAVAILABLE;
    default:
        return S3_INTERNAL;
    }
}

static cw_store_request request(cw_store_op op, cw_job job, const struct s3_place *p)
{
    return (cw_store_request){CW_STORE_REQUEST_INIT, .op = op, .job = job, .name = p->text, .name_length = p->length};
}

static s3_fault run(struct s3_desk *d, const cw_store_request *r, cw_store_done done, void *arg)
{
    return d->closed ? S3_UNAVAILABLE : s3_desk_refused(d->config.api->run(d->config.store, r, done, arg));
}

s3_fault s3_desk_get(struct s3_desk *d, cw_job job, const struct s3_place *p, cw_store_done done, void *arg)
{
    cw_store_request r = request(CW_STORE_GET, job, p);
    return run(d, &r, done, arg);
}

s3_fault s3_desk_head(struct s3_desk *d, cw_job job, const struct s3_place *p, cw_store_done done, void *arg)
{
    cw_store_request r = request(CW_STORE_HEAD, job, p);
    return run(d, &r, done, arg);
}

s3_fault s3_desk_put(struct s3_desk *d, cw_job job, const struct s3_place *p, uint64_t version, const void *value,
                     size_t length, cw_store_done done, void *arg)
{
    cw_store_request r = request(CW_STORE_PUT, job, p);
    r.value = value;
    r.value_length = length;
    r.conditional = true;
    r.version = version;
    r.flags = (uint32_t)d->config.now_s(d->config.context);
    return run(d, &r, done, arg);
}

s3_fault s3_desk_delete(struct s3_desk *d, cw_job job, const struct s3_place *p, const uint64_t *version,
                        cw_store_done done, void *arg)
{
    cw_store_request r = request(CW_STORE_DELETE, job, p);
    r.conditional = version != NULL;
    r.version = version != NULL ? *version : 0;
    return run(d, &r, done, arg);
}

s3_fault s3_desk_list(struct s3_desk *d, const cw_store_list *list, cw_store_list_done done, void *arg)
{
    return d->closed ? S3_UNAVAILABLE : s3_desk_refused(d->config.api->list(d->config.store, list, done, arg));
}
