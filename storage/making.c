/* SPDX-License-Identifier: Apache-2.0 */
/*
 * making.c - new segments, made before they are needed: room is reserved, every byte is zeroed once, and all of it is
 * synced. Zeros go out in pieces, so that reads that share the lane do not wait for a whole segment.
 */
#include "storage/internal.h"

#include <errno.h>

/* Of blob segments one is for appends, and one is kept for what compaction moves. */
enum { PIECE = 64 << 10, META_AHEAD = 2, BLOB_AHEAD = 2 };
static const cw_span again = CW_SEC(5); /* a full disk may get room */
enum { MAKING_OPEN, MAKING_ALLOCATE, MAKING_ZERO, MAKING_SYNC };

static const uint8_t zeros[PIECE];

bool making_may(const struct storage *s, const struct segments *all)
{
    uint64_t bytes = (uint64_t)s->meta.count * s->meta.size + (uint64_t)s->blob.count * s->blob.size;
    if (all->meta && s->blob.count < s->config.blob_least) {
        bytes += (uint64_t)(s->config.blob_least - s->blob.count) * s->blob.size;
    }
    bool under_way = s->making.of == all;
    return !s->dead && !s->making.full &&
           (under_way || s->config.bytes_max == 0 || bytes + all->size <= s->config.bytes_max);
}

static struct segments *wanted(struct storage *s)
{
    if (segments_free(&s->meta) < META_AHEAD && making_may(s, &s->meta)) {
        return &s->meta;
    }
    return s->blobs_wanted && segments_free(&s->blob) < BLOB_AHEAD && making_may(s, &s->blob) ? &s->blob : NULL;
}

static void submit(struct storage *s)
{
    struct making *m = &s->making;
    struct disk_order order = {.lane = DISK_LANE_SIDE, .waiter = &m->waiter};
    if (m->step != MAKING_OPEN) {
        order.file = segments_at(m->of, m->number)->file;
    }
    switch (m->step) {
    case MAKING_OPEN:
        order.what = DISK_OPEN;
        order.name = m->name;
        order.create = true;
        break;
    case MAKING_ALLOCATE:
        order.what = DISK_ALLOCATE;
        order.offset = m->of->size;
        break;
    case MAKING_ZERO:
        order.what = DISK_WRITE;
        order.offset = m->zeroed;
        order.from = zeros;
        order.size = m->of->size - m->zeroed < PIECE ? m->of->size - m->zeroed : PIECE;
        m->zeroed += order.size;
        break;
    default:
        order.what = DISK_SYNC;
        break;
    }
    disk_submit(s->disk, &order);
}

static void told(struct disk_waiter *waiter, uint64_t ticket, int64_t result)
{
    struct storage *s = container_of(waiter, struct storage, making.waiter);
    struct making *m = &s->making;
    (void)ticket;
    if (result < 0 || s->dead) {
        m->full = result == -ENOSPC;
        m->again = CW_NEVER;
        s->wants_room = true; /* whoever hoped for it looks again, and has the time told */
        if (result < 0 && !m->full) {
            storage_die(s);
        }
        m->of = NULL; /* the number stays, unfinished: the next opening goes on with it */
        storage_settle(s);
        return;
    }
    if (m->step == MAKING_OPEN) {
        segments_at(m->of, m->number)->file = (uint32_t)result;
    }
    if (m->step == MAKING_SYNC) {
        segments_at(m->of, m->number)->state = SEGMENT_FREE;
        m->of = NULL;
        storage_settle(s);
        return;
    }
    m->step += m->step != MAKING_ZERO || m->zeroed == m->of->size;
    submit(s);
}

void making_tick(struct storage *s, cw_time now)
{
    struct making *m = &s->making;
    if (m->full && m->again.ns == CW_NEVER.ns) {
        m->again = cw_time_add(now, again);
    } else if (m->full && cw_time_due(m->again, now)) {
        m->full = false;
        making_go_on(s);
    }
}

/* A segment that an earlier life left unfinished, or one more. */
static uint32_t number_to_make(struct segments *all)
{
    for (uint32_t i = 0; i < all->count; i++) {
        if (all->list[i].state == SEGMENT_MAKING) {
            return i + 1;
        }
    }
    return segments_add(all) == NULL ? 0 : all->count;
}

void making_go_on(struct storage *s)
{
    struct making *m = &s->making;
    struct segments *all = m->of == NULL && !s->dead && s->state <= STORAGE_OPEN ? wanted(s) : NULL;
    uint32_t number = all == NULL ? 0 : number_to_make(all);
    if (number == 0) {
        return;
    }
    *m = (struct making){.waiter = {told}, .of = all, .number = number, .step = MAKING_OPEN};
    segments_name(all->meta, number, m->name);
    submit(s);
}
