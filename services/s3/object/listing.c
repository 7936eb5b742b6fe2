/* SPDX-License-Identifier: Apache-2.0 */
#include "services/s3/object/listing.h"

#include "base/check.h"
#include "base/container.h"

#include <stdlib.h>
#include <string.h>

enum { BEHIND_ALL = 0xff }; /* no UTF-8 has this byte, so no key that begins like the rest is behind it */

struct row {
    size_t at, length; /* of the name, in `names` */
    bool common, gone;
    uint64_t size;
    int64_t changed_s;
    struct s3_etag etag;
};

struct question {
    struct s3_listing *listing;
    size_t row;
    bool used;
};

struct s3_listing {
    struct s3_desk *desk;
    cw_job job;
    s3_listing_done done;
    void *arg;
    bool buckets, cancelled, more, listed, has_list;
    s3_fault fault;
    unsigned pending, most;
    struct s3_waiter waiter;
    struct s3_place begin; /* what all names begin with: "O/bucket/" */
    struct s3_place bucket, prefix, after;
    size_t delimiter_length;
    struct s3_buffer delimiter, marker; /* marker: rows that are common have to be behind it */
    struct row *row;
    size_t rows, asked;
    struct s3_buffer names;
    struct question question[S3_WINDOW_MOST];
};

static void go_on(struct s3_listing *l);

/* ---- Ends -------------------------------------------------------------------------------------------------------- */

static void tell(struct s3_listing *l)
{
    struct s3_row *out = calloc(l->rows + 1, sizeof *out);
    struct s3_listing_page page = {.fault = l->fault, .row = out};
    if (out == NULL && l->fault == S3_OK) {
        page.fault = S3_SLOW_DOWN;
    }
    for (size_t i = 0; page.fault == S3_OK && i < l->rows; i++) {
        const struct row *r = &l->row[i];
        const struct s3_words name = {l->names.bytes + r->at, r->length};
        if (!r->gone) {
            out[page.count++] = (struct s3_row){name, r->common, r->size, r->changed_s, r->etag};
        }
        page.next = name;
    }
    page.more = page.fault == S3_OK && l->more && l->rows > 0;
    l->done(l->arg, &page);
    free(out);
}

static void leave(struct s3_listing *l)
{
    struct s3_desk *d = l->desk;
    l->pending++; /* others go on with the list: it goes only once */
    s3_desk_forget(&l->waiter);
    if (l->has_list) {
        s3_desk_give_list(d);
    }
    if (!l->cancelled && !d->closed) {
        tell(l);
    }
    s3_buffer_drop(&l->delimiter);
    s3_buffer_drop(&l->marker);
    s3_buffer_drop(&l->names);
    free(l->row);
    free(l);
    s3_desk_leave(d);
}

static void answered(struct s3_listing *l, s3_fault fault)
{
    l->pending--;
    l->fault = l->fault == S3_OK ? fault : l->fault;
    go_on(l);
}

/* ---- Names ------------------------------------------------------------------------------------------------------- */

/* How much of the key comes before what it has in common with others, and that; 0: it is told as itself. */
static size_t common_of(const struct s3_listing *l, const char *key, size_t length)
{
    size_t prefix = l->prefix.length - l->begin.length;
    const char *delimiter = l->delimiter.bytes;
    for (size_t i = prefix; l->delimiter_length > 0 && i + l->delimiter_length <= length; i++) {
        if (memcmp(key + i, delimiter, l->delimiter_length) == 0) {
            return i + l->delimiter_length;
        }
    }
    return 0;
}

static bool is_last_row(const struct s3_listing *l, const char *name, size_t length)
{
    const struct row *r = l->rows > 0 ? &l->row[l->rows - 1] : NULL;
    return r != NULL && r->common && r->length == length && memcmp(l->names.bytes + r->at, name, length) == 0;
}

static bool behind_marker(const struct s3_listing *l, const char *name, size_t length)
{
    size_t least = length < l->marker.length ? length : l->marker.length;
    int order = least > 0 ? memcmp(name, l->marker.bytes, least) : 0;
    return order != 0 ? order > 0 : length > l->marker.length;
}

/* Takes a name of the store's list. False: there are as many rows as are wanted, and this would be one more. */
static bool take_name(struct s3_listing *l, const cw_store_entry *e)
{
    const char *key = (const char *)e->name + l->begin.length;
    size_t length = e->name_length - l->begin.length, common = common_of(l, key, length);
    if (common > 0 && (is_last_row(l, key, common) || !behind_marker(l, key, common))) {
        return true;
    }
    if (l->rows == l->most) {
        return false;
    }
    l->row[l->rows++] = (struct row){
        .at = l->names.length, .length = common > 0 ? common : length, .common = common > 0, .changed_s = e->flags};
    s3_buffer_add(&l->names, key, common > 0 ? common : length);
    return true;
}

/* Where the store is to go on: behind the last name, and behind all that the last row stands for. */
static void move_after(struct s3_listing *l, const cw_store_entry *last)
{
    const struct row *r = &l->row[l->rows > 0 ? l->rows - 1 : 0];
    l->after.length = last->name_length;
    memcpy(l->after.text, last->name, last->name_length);
    if (l->rows > 0 && r->common && l->begin.length + r->length < S3_PLACE_MOST) {
        l->after = l->begin;
        memcpy(l->after.text + l->after.length, l->names.bytes + r->at, r->length);
        l->after.length += r->length;
        l->after.text[l->after.length++] = (char)BEHIND_ALL;
    }
}

static void names_came(void *arg, const cw_store_page *page)
{
    struct s3_listing *l = arg;
    s3_fault fault = s3_desk_fault(page->status);
    size_t i = 0;
    while (fault == S3_OK && i < page->count && take_name(l, &page->entry[i])) {
        i++;
    }
    if (fault == S3_OK) {
        l->more = i < page->count || page->more;
        l->listed = i < page->count || !page->more || page->count == 0;
        if (page->count > 0) {
            move_after(l, &page->entry[page->count - 1]);
        }
        fault = l->names.failed ? S3_SLOW_DOWN : l->buckets && l->more ? S3_TOO_MANY_BUCKETS : S3_OK;
    }
    answered(l, fault);
}

static void list_names(struct s3_listing *l)
{
    const cw_store_list list = {CW_STORE_LIST_INIT,
                                .job = l->job,
                                .prefix = l->prefix.text,
                                .prefix_length = l->prefix.length,
                                .after = l->after.text,
                                .after_length = l->after.length,
                                .limit = l->most + 1 < CW_STORE_LIST_MAX ? l->most + 1 : CW_STORE_LIST_MAX};
    l->fault = s3_desk_list(l->desk, &list, names_came, l);
    l->pending += l->fault == S3_OK;
}

/* ---- What they hold ---------------------------------------------------------------------------------------------- */

static void manifest_came(void *arg, const cw_store_result *result)
{
    struct question *q = arg;
    struct s3_listing *l = q->listing;
    struct row *r = &l->row[q->row];
    struct s3_manifest m;
    s3_fault fault = s3_desk_fault(result->status);
    q->used = false;
    if (result->status == CW_STORE_OK && s3_manifest_read(result->value, result->value_length, &m)) {
        r->size = m.size;
        r->changed_s = m.changed_s;
        r->etag = m.etag;
    } else {
        r->gone = true;
    }
    answered(l, fault);
}

static void ask_manifests(struct s3_listing *l)
{
    for (unsigned i = 0; i < S3_WINDOW_MOST && l->fault == S3_OK; i++) {
        struct question *q = &l->question[i];
        while (l->asked < l->rows && l->row[l->asked].common) {
            l->asked++;
        }
        if (q->used || l->asked == l->rows) {
            continue;
        }
        struct s3_place place = l->begin;
        const struct row *r = &l->row[l->asked];
        memcpy(place.text + place.length, l->names.bytes + r->at, r->length);
        place.length += r->length;
        *q = (struct question){l, l->asked++, true};
        l->fault = s3_desk_get(l->desk, l->job, &place, manifest_came, q);
        q->used = l->fault == S3_OK;
        l->pending += q->used;
    }
}

/* ---- On and on --------------------------------------------------------------------------------------------------- */

static void has_list(struct s3_waiter *w)
{
    struct s3_listing *l = container_of(w, struct s3_listing, waiter);
    l->has_list = true;
    go_on(l);
}

static void go_on(struct s3_listing *l)
{
    if (l->fault == S3_OK && !l->cancelled && !l->listed && l->pending == 0) {
        if (l->has_list) {
            list_names(l);
        } else if (!l->waiter.waits && s3_desk_take_list(l->desk, &l->waiter)) {
            l->has_list = true;
            list_names(l);
        }
    }
    if (l->listed && l->has_list) {
        l->pending++;
        l->has_list = false;
        s3_desk_give_list(l->desk);
        l->pending--;
    }
    if (l->fault == S3_OK && !l->cancelled && l->listed && !l->buckets) {
        ask_manifests(l);
    }
    if (l->pending == 0 && !l->waiter.waits) {
        leave(l);
    }
}

static void bucket_came(void *arg, const cw_store_result *result)
{
    answered(arg, result->status == CW_STORE_NOT_FOUND ? S3_NO_BUCKET : s3_desk_fault(result->status));
}

static void add(struct s3_place *p, const char *bytes, size_t length)
{
    if (length > 0) {
        memcpy(p->text + p->length, bytes, length);
        p->length += length;
    }
}

/* The first name that is wanted is behind this one, which begins with the prefix. False: there is none. */
static bool place_after(struct s3_listing *l, const struct s3_listing_order *o)
{
    size_t prefix = o->prefix.length, least = prefix < o->after.length ? prefix : o->after.length;
    int order = least > 0 ? memcmp(o->after.text, o->prefix.text, least) : 0;
    if (order > 0) {
        return false; /* behind all that begin with the prefix */
    }
    if (order < 0 || o->after.length < prefix) {
        return true; /* before all of them */
    }
    l->after = l->begin;
    size_t room = S3_PLACE_MOST - l->begin.length;
    add(&l->after, o->after.text, o->after.length < room ? o->after.length : room);
    return true;
}

struct s3_listing *s3_listing_open(struct s3_desk *d, const struct s3_listing_order *order, s3_listing_done done,
                                   void *arg)
{
    struct s3_listing *l = calloc(1, sizeof *l);
    if (l == NULL) {
        return NULL;
    }
    *l = (struct s3_listing){.desk = d,
                             .job = order->job,
                             .done = done,
                             .arg = arg,
                             .buckets = order->bucket.length == 0,
                             .most = order->most,
                             .delimiter_length = order->delimiter.length,
                             .waiter = {.go = has_list}};
    if (l->buckets) {
        l->most = CW_STORE_LIST_MAX;
        s3_place_bucket(&l->begin, "", 0);
        l->delimiter_length = 0;
    } else {
        s3_place_object(&l->begin, order->bucket.text, order->bucket.length, "", 0);
    }
    l->prefix = l->begin;
    bool none = l->most == 0;
    if (!l->buckets) {
        none = none || order->prefix.length > S3_PLACE_MOST - l->begin.length;
        add(&l->prefix, order->prefix.text, none ? 0 : order->prefix.length);
        none = none || !place_after(l, order);
        s3_buffer_add(&l->delimiter, order->delimiter.text, order->delimiter.length);
        s3_buffer_add(&l->marker, order->after.text, order->after.length);
    }
    l->listed = none;
    l->row = calloc((size_t)l->most + 1, sizeof *l->row);
    bool good = l->row != NULL && !l->delimiter.failed && !l->marker.failed;
    struct s3_place bucket;
    s3_place_bucket(&bucket, order->bucket.text != NULL ? order->bucket.text : "", order->bucket.length);
    s3_desk_join(d);
    if (good && !l->buckets) {
        good = s3_desk_head(d, l->job, &bucket, bucket_came, l) == S3_OK;
        l->pending = good ? 1 : 0;
    } else if (good) {
        /* the list itself is the first question */
        good = s3_desk_take_list(d, &l->waiter);
        l->has_list = good;
        if (good) {
            list_names(l);
            good = l->fault == S3_OK;
        } else {
            good = true; /* it waits */
        }
    }
    if (!good) {
        l->cancelled = true;
        leave(l);
        return NULL;
    }
    return l;
}

void s3_listing_cancel(struct s3_listing *l)
{
    l->cancelled = true;
    if (l->pending == 0) {
        leave(l);
    }
}
