/* SPDX-License-Identifier: Apache-2.0 */
#include "services/s3/object/sweep.h"

#include "base/container.h"
#include "services/s3/object/drop.h"
#include "services/s3/protocol/sign.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE = 100, LOT_NAME = 2 + 2 * S3_LOT_ID };

struct sweep {
    struct s3_desk *desk;
    cw_job job;
    void (*done)(void *arg);
    void *arg;
    struct s3_waiter waiter;
    struct s3_place after;
    uint8_t old[PAGE][S3_LOT_ID]; /* lots of a page that are old enough */
    unsigned count, next;
    bool more;
    struct s3_lot_note note;
    uint64_t index, chunks; /* looked for, and behind the last one that was found */
};

static void next_lot(struct sweep *s);

static void leave(struct sweep *s)
{
    struct s3_desk *d = s->desk;
    if (!d->closed) {
        s->done(s->arg);
    }
    free(s);
    s3_desk_leave(d);
}

static const uint8_t *lot_of(const struct sweep *s)
{
    return s->old[s->next - 1];
}

/* What follows a question that the store did not take: the lot stays. */
static void ask(struct sweep *s, s3_fault fault)
{
    if (fault != S3_OK) {
        next_lot(s);
    }
}

/* ---- One lot ----------------------------------------------------------------------------------------------------- */

static void look_for_chunk(struct sweep *s);

static void chunk_came(void *arg, const cw_store_result *result)
{
    struct sweep *s = arg;
    if (s3_desk_fault(result->status) != S3_OK) {
        next_lot(s);
        return;
    }
    s->index++;
    s->chunks = result->status == CW_STORE_OK ? s->index : s->chunks;
    look_for_chunk(s);
}

/* Chunks were put in order, so many at once as a window has: behind so many holes there are none. */
static void look_for_chunk(struct sweep *s)
{
    struct s3_place p;
    if (s->index - s->chunks <= S3_WINDOW_MOST) {
        s3_place_chunk(&p, lot_of(s), s->index);
        ask(s, s3_desk_head(s->desk, s->job, &p, chunk_came, s));
        return;
    }
    struct s3_lot lot = {.size = s->chunks * s->note.chunk, .chunk = s->note.chunk};
    memcpy(lot.id, lot_of(s), S3_LOT_ID);
    s3_drop(s->desk, s->job, &lot, 0);
    next_lot(s);
}

static void part_gone(void *arg, const cw_store_result *result)
{
    struct sweep *s = arg;
    (void)result;
    look_for_chunk(s);
}

static void object_came(void *arg, const cw_store_result *result)
{
    struct sweep *s = arg;
    struct s3_manifest m;
    if (s3_desk_fault(result->status) != S3_OK) {
        next_lot(s);
        return;
    }
    if (result->status == CW_STORE_OK) {
        if (!s3_manifest_read(result->value, result->value_length, &m) || s3_drop_names(&m, lot_of(s))) {
            next_lot(s);
            return;
        }
    }
    s->index = s->chunks = 0;
    if (s->note.owner.text[0] == 'P') { /* its upload is gone */
        ask(s, s3_desk_delete(s->desk, s->job, &s->note.owner, NULL, part_gone, s));
    } else {
        look_for_chunk(s);
    }
}

static void look_at_object(struct sweep *s)
{
    ask(s, s3_desk_get(s->desk, s->job, &s->note.object, object_came, s));
}

static void upload_came(void *arg, const cw_store_result *result)
{
    struct sweep *s = arg;
    if (result->status == CW_STORE_NOT_FOUND) {
        look_at_object(s);
    } else {
        next_lot(s);
    }
}

static void note_came(void *arg, const cw_store_result *result)
{
    struct sweep *s = arg;
    if (result->status != CW_STORE_OK || !s3_lot_note_read(result->value, result->value_length, &s->note)) {
        next_lot(s);
    } else if (s->note.owner.text[0] == 'P' && s->note.owner.length > 2 + S3_UPLOAD_ID) {
        struct s3_place p;
        s3_place_upload(&p, s->note.owner.text + 2);
        ask(s, s3_desk_head(s->desk, s->job, &p, upload_came, s));
    } else {
        look_at_object(s);
    }
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

static void lots_came(void *arg, const cw_store_page *page)
{
    struct sweep *s = arg;
    struct s3_desk *d = s->desk;
    int64_t now_s = d->config.now_s(d->config.context);
    s->count = s->next = 0;
    s->more = page->status == CW_STORE_OK && page->more && page->count > 0;
    for (size_t i = 0; page->status == CW_STORE_OK && i < page->count; i++) {
        const cw_store_entry *e = &page->entry[i];
        if (e->name_length == LOT_NAME && now_s - e->flags > 2 * (int64_t)S3_PUT_MOST_S && s->count < PAGE &&
            s3_sign_hex((const char *)e->name + 2, S3_LOT_ID, s->old[s->count])) {
            s->count++;
        }
        memcpy(s->after.text, e->name, e->name_length);
        s->after.length = e->name_length;
    }
    s3_desk_join(d);
    next_lot(s);
    s3_desk_give_list(d);
    s3_desk_leave(d);
}

static void list_lots(struct s3_waiter *w)
{
    struct sweep *s = container_of(w, struct sweep, waiter);
    const cw_store_list list = {CW_STORE_LIST_INIT, .job = s->job,          .prefix = "L/",
                                .prefix_length = 2, .after = s->after.text, .after_length = s->after.length,
                                .limit = PAGE};
    if (s3_desk_list(s->desk, &list, lots_came, s) != S3_OK) {
        s3_desk_give_list(s->desk);
        leave(s);
    }
}

static void next_lot(struct sweep *s)
{
    struct s3_place p;
    while (s->next < s->count) {
        s3_place_lot(&p, s->old[s->next++]);
        if (s3_desk_get(s->desk, s->job, &p, note_came, s) == S3_OK) {
            return;
        }
    }
    if (!s->more) {
        leave(s);
    } else if (s3_desk_take_list(s->desk, &s->waiter)) {
        list_lots(&s->waiter);
    }
}

s3_fault s3_sweep(struct s3_desk *d, cw_job job, void (*done)(void *arg), void *arg)
{
    struct sweep *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return S3_SLOW_DOWN;
    }
    s->desk = d;
    s->job = job;
    s->done = done;
    s->arg = arg;
    s->waiter.go = list_lots;
    if (d->lists == S3_LISTS_MOST || !s3_desk_take_list(d, &s->waiter)) {
        free(s);
        return S3_SLOW_DOWN;
    }
    const cw_store_list list = {CW_STORE_LIST_INIT, .job = job, .prefix = "L/", .prefix_length = 2, .limit = PAGE};
    s3_fault fault = s3_desk_list(d, &list, lots_came, s);
    if (fault != S3_OK) {
        s3_desk_give_list(d);
        free(s);
        return fault;
    }
    s3_desk_join(d);
    return S3_OK;
}
