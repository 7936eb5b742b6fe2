/* SPDX-License-Identifier: Apache-2.0 */
#include "services/s3/object/drop.h"

#include "base/bytes.h"
#include "base/container.h"

#include <stdlib.h>
#include <string.h>

struct drop {
    struct list_node node;
    cw_job job;
    struct s3_lot lot;
    int64_t due_s;
};

/* One at a time, so that what goes is in nobody's way; its deletes are under way together. */
struct s3_dropping {
    struct s3_desk *desk;
    struct drop *drop;
    uint64_t left; /* chunks that were not asked for yet */
    unsigned pending;
    bool failed, last;
};

/* ---- What waits -------------------------------------------------------------------------------------------------- */

void s3_drop(struct s3_desk *d, cw_job job, const struct s3_lot *lot, int64_t after_s)
{
    struct drop *drop = !d->closed && d->drops_waiting < S3_DROPS_MOST ? malloc(sizeof *drop) : NULL;
    if (drop == NULL) {
        d->lots_left++;
        return;
    }
    *drop = (struct drop){.job = job, .lot = *lot, .due_s = d->config.now_s(d->config.context) + after_s};
    d->drops_waiting++;
    if (after_s > 0) {
        list_push_back(&d->drops, &drop->node);
    } else {
        list_push_front(&d->drops, &drop->node);
    }
    s3_drop_due(d);
}

bool s3_drop_names(const struct s3_manifest *m, const uint8_t lot[static S3_LOT_ID])
{
    for (uint32_t i = 0; i < m->lots; i++) {
        struct s3_lot one = s3_manifest_lot(m, i);
        if (memcmp(one.id, lot, S3_LOT_ID) == 0) {
            return true;
        }
    }
    return false;
}

void s3_drop_replaced(struct s3_desk *d, cw_job job, const struct s3_manifest *old, const struct s3_manifest *kept)
{
    for (uint32_t i = 0; i < old->lots; i++) {
        struct s3_lot lot = s3_manifest_lot(old, i);
        if (kept == NULL || !s3_drop_names(kept, lot.id)) {
            s3_drop(d, job, &lot, S3_GRACE_S);
        }
    }
}

void s3_drop_forget(struct s3_desk *d)
{
    for (struct list_node *n; (n = list_first(&d->drops)) != NULL;) {
        list_remove(n);
        free(container_of(n, struct drop, node));
        d->lots_left++;
        d->drops_waiting--;
    }
}

/* ---- Going ------------------------------------------------------------------------------------------------------- */

static void go_on(struct s3_dropping *g);

static void end(struct s3_dropping *g)
{
    struct s3_desk *d = g->desk;
    bool failed = g->failed;
    d->lots_left += failed;
    d->dropping = NULL;
    free(g->drop);
    free(g);
    if (!failed) {
        s3_drop_due(d); /* else at the next tick: the store may refuse them all */
    }
    s3_desk_leave(d);
}

static void gone(void *arg, const cw_store_result *result)
{
    struct s3_dropping *g = arg;
    g->pending--;
    g->failed |= result->status != CW_STORE_OK && result->status != CW_STORE_NOT_FOUND;
    go_on(g);
}

static void go_on(struct s3_dropping *g)
{
    struct s3_place p;
    if (g->pending > 0) {
        return; /* none runs ahead of those before it: a drop that is broken off leaves few holes, at its end */
    }
    while (!g->failed && g->left > 0 && g->pending < g->desk->config.window) {
        s3_place_chunk(&p, g->drop->lot.id, --g->left);
        g->failed = s3_desk_delete(g->desk, g->drop->job, &p, NULL, gone, g) != S3_OK;
        g->pending += !g->failed;
    }
    if (!g->failed && g->left == 0 && g->pending == 0 && !g->last) {
        s3_place_lot(&p, g->drop->lot.id);
        g->last = true;
        g->failed = s3_desk_delete(g->desk, g->drop->job, &p, NULL, gone, g) != S3_OK;
        g->pending += !g->failed;
    }
    if (g->pending == 0) {
        end(g);
    }
}

void s3_drop_due(struct s3_desk *d)
{
    struct list_node *n = list_first(&d->drops);
    struct drop *drop = n != NULL ? container_of(n, struct drop, node) : NULL;
    if (drop == NULL || d->dropping != NULL || d->closed || drop->due_s > d->config.now_s(d->config.context)) {
        return;
    }
    struct s3_dropping *g = malloc(sizeof *g);
    if (g == NULL) {
        return; /* at another tick */
    }
    list_remove(n);
    d->drops_waiting--;
    *g = (struct s3_dropping){.desk = d, .drop = drop, .left = s3_lot_chunks(&drop->lot)};
    d->dropping = g;
    s3_desk_join(d);
    go_on(g);
}

/* ---- Notes ------------------------------------------------------------------------------------------------------- */

void s3_lot_note_write(const struct s3_lot_note *n, struct s3_buffer *out)
{
    uint8_t head[14];
    put_be64(head, (uint64_t)n->made_s);
    put_be32(head + 8, n->chunk);
    put_be16(head + 12, (uint16_t)n->owner.length);
    s3_buffer_add(out, head, sizeof head);
    s3_buffer_add(out, n->owner.text, n->owner.length);
    s3_buffer_add(out, n->object.text, n->object.length);
}

static bool read_place(struct reader *r, size_t length, struct s3_place *out)
{
    const uint8_t *bytes = reader_take(r, length);
    if (bytes == NULL || length == 0 || length > S3_PLACE_MOST) {
        return false;
    }
    memcpy(out->text, bytes, length);
    out->text[length] = '\0';
    out->length = length;
    return true;
}

bool s3_lot_note_read(const uint8_t *bytes, size_t length, struct s3_lot_note *out)
{
    struct reader r = reader_of(bytes, length);
    out->made_s = (int64_t)reader_be64(&r);
    out->chunk = reader_be32(&r);
    size_t owner = reader_be16(&r);
    return reader_ok(&r) && out->chunk > 0 && out->made_s >= 0 && read_place(&r, owner, &out->owner) &&
           read_place(&r, reader_left(&r), &out->object);
}
