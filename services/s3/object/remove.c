/* SPDX-License-Identifier: Apache-2.0 */
#include "services/s3/object/remove.h"

#include "base/container.h"
#include "services/s3/object/drop.h"

#include <stdlib.h>

enum { TRIES = 16 };

struct removal {
    struct s3_desk *desk;
    cw_job job;
    struct s3_place place, prefix;
    s3_remove_done done;
    void *arg;
    unsigned tries;
    uint64_t version;
    struct s3_buffer old;
    struct s3_waiter waiter; /* for a list */
};

static struct removal *begin(struct s3_desk *d, cw_job job, s3_remove_done done, void *arg)
{
    struct removal *r = calloc(1, sizeof *r);
    if (r != NULL) {
        r->desk = d;
        r->job = job;
        r->done = done;
        r->arg = arg;
        s3_desk_join(d);
    }
    return r;
}

static void leave(struct removal *r)
{
    struct s3_desk *d = r->desk;
    s3_buffer_drop(&r->old);
    free(r);
    s3_desk_leave(d);
}

static void end(struct removal *r, s3_fault fault)
{
    if (!r->desk->closed) {
        r->done(r->arg, fault);
    }
    leave(r);
}

/* What the first question came to: gone again when the store did not take it. */
static s3_fault begun(struct removal *r, s3_fault fault)
{
    if (fault != S3_OK) {
        leave(r);
    }
    return fault;
}

/* ---- Objects ----------------------------------------------------------------------------------------------------- */

static void object_came(void *arg, const cw_store_result *result);

static void object_gone(void *arg, const cw_store_result *result)
{
    struct removal *r = arg;
    struct s3_manifest old;
    s3_fault fault = s3_desk_fault(result->status);
    if (result->status == CW_STORE_CONFLICT) { /* it has been put again: so that is what is deleted */
        fault = ++r->tries == TRIES ? S3_CONFLICT : s3_desk_get(r->desk, r->job, &r->place, object_came, r);
        if (fault != S3_OK) {
            end(r, fault);
        }
        return;
    }
    if (result->status == CW_STORE_OK && s3_manifest_read((const uint8_t *)r->old.bytes, r->old.length, &old)) {
        s3_drop_replaced(r->desk, r->job, &old, NULL);
    }
    end(r, fault);
}

static void object_came(void *arg, const cw_store_result *result)
{
    struct removal *r = arg;
    struct s3_manifest old;
    s3_fault fault = s3_desk_fault(result->status);
    if (fault == S3_OK && result->status == CW_STORE_OK) {
        r->version = result->version;
        s3_buffer_clear(&r->old);
        s3_buffer_add(&r->old, result->value, result->value_length);
        if (r->old.failed) {
            fault = S3_SLOW_DOWN;
        } else if (!s3_manifest_read((const uint8_t *)r->old.bytes, r->old.length, &old)) {
            fault = S3_INTERNAL; /* somebody else's register under a name of ours */
        } else {
            fault = s3_desk_delete(r->desk, r->job, &r->place, &r->version, object_gone, r);
            if (fault == S3_OK) {
                return;
            }
        }
    }
    end(r, fault);
}

s3_fault s3_remove_object(struct s3_desk *d, cw_job job, const char *bucket, size_t bucket_length, const char *key,
                          size_t key_length, s3_remove_done done, void *arg)
{
    struct removal *r = begin(d, job, done, arg);
    if (r == NULL) {
        return S3_SLOW_DOWN;
    }
    s3_place_object(&r->place, bucket, bucket_length, key, key_length);
    return begun(r, s3_desk_get(d, job, &r->place, object_came, r));
}

/* ---- Buckets ----------------------------------------------------------------------------------------------------- */

static struct removal *begin_bucket(struct s3_desk *d, cw_job job, const char *bucket, size_t length,
                                    s3_remove_done done, void *arg)
{
    struct removal *r = begin(d, job, done, arg);
    if (r != NULL) {
        s3_place_bucket(&r->place, bucket, length);
        s3_place_object(&r->prefix, bucket, length, "", 0);
    }
    return r;
}

static void bucket_made(void *arg, const cw_store_result *result)
{
    end(arg, result->status == CW_STORE_CONFLICT ? S3_BUCKET_EXISTS : s3_desk_fault(result->status));
}

s3_fault s3_bucket_create(struct s3_desk *d, cw_job job, const char *bucket, size_t length, s3_remove_done done,
                          void *arg)
{
    struct removal *r = begin_bucket(d, job, bucket, length, done, arg);
    return r == NULL ? S3_SLOW_DOWN : begun(r, s3_desk_put(d, job, &r->place, 0, NULL, 0, bucket_made, r));
}

static void bucket_answered(void *arg, const cw_store_result *result)
{
    end(arg, result->status == CW_STORE_NOT_FOUND ? S3_NO_BUCKET : s3_desk_fault(result->status));
}

s3_fault s3_bucket_look(struct s3_desk *d, cw_job job, const char *bucket, size_t length, s3_remove_done done,
                        void *arg)
{
    struct removal *r = begin_bucket(d, job, bucket, length, done, arg);
    return r == NULL ? S3_SLOW_DOWN : begun(r, s3_desk_head(d, job, &r->place, bucket_answered, r));
}

static void objects_came(void *arg, const cw_store_page *page)
{
    struct removal *r = arg;
    s3_fault fault = s3_desk_fault(page->status);
    if (fault == S3_OK) {
        fault = page->count > 0 ? S3_BUCKET_NOT_EMPTY
                                : s3_desk_delete(r->desk, r->job, &r->place, NULL, bucket_answered, r);
    }
    struct s3_desk *d = r->desk;
    s3_desk_join(d);
    if (fault != S3_OK) {
        end(r, fault);
    }
    s3_desk_give_list(d);
    s3_desk_leave(d);
}

static void list_objects(struct s3_waiter *w)
{
    struct removal *r = container_of(w, struct removal, waiter);
    const cw_store_list list = {CW_STORE_LIST_INIT, .job = r->job, .prefix = r->prefix.text,
                                .prefix_length = r->prefix.length, .limit = 1};
    s3_fault fault = s3_desk_list(r->desk, &list, objects_came, r);
    if (fault != S3_OK) {
        s3_desk_give_list(r->desk);
        end(r, fault);
    }
}

static void bucket_found(void *arg, const cw_store_result *result)
{
    struct removal *r = arg;
    s3_fault fault = result->status == CW_STORE_NOT_FOUND ? S3_NO_BUCKET : s3_desk_fault(result->status);
    if (fault != S3_OK) {
        end(r, fault);
        return;
    }
    r->waiter.go = list_objects;
    if (s3_desk_take_list(r->desk, &r->waiter)) {
        list_objects(&r->waiter);
    }
}

s3_fault s3_bucket_delete(struct s3_desk *d, cw_job job, const char *bucket, size_t length, s3_remove_done done,
                          void *arg)
{
    struct removal *r = begin_bucket(d, job, bucket, length, done, arg);
    return r == NULL ? S3_SLOW_DOWN : begun(r, s3_desk_head(d, job, &r->place, bucket_found, r));
}
