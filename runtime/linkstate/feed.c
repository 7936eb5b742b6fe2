/* SPDX-License-Identifier: Apache-2.0 */
#include "linkstate/feed.h"

void feed_start(struct feed *d, uint64_t position)
{
    *d = (struct feed){
        .base = position,
        .next = position,
        .high = position,
        .behind = position,
        .ack_at = CW_NEVER,
        .running = true,
    };
}

void feed_stop(struct feed *d)
{
    *d = (struct feed){.ack_at = CW_NEVER};
}

void feed_owe(struct feed *d)
{
    CHECK(d->running);
    d->unsent++;
}

void feed_forgive(struct feed *d)
{
    CHECK(d->unsent > 0);
    d->unsent--;
}

const struct flood_entry *feed_peek(struct feed *d, const struct flood *f, cw_link link)
{
    if (!feed_has_more(d)) {
        return NULL;
    }
    cw_links bit = cw_links_of(link);
    const struct flood_entry *entry = flood_at(f, d->next);
    while (!(entry->owed & bit)) {
        d->next++;
        entry = flood_at(f, d->next);
    }
    d->high = d->next > d->high ? d->next : d->high;
    return entry;
}

void feed_sent(struct feed *d, cw_time now)
{
    if (d->acked == d->top) {
        d->moved = now;
    }
    d->behind = ++d->next;
    d->sent++;
    if (d->next > d->high) {
        d->high = d->next;
        d->top = d->sent;
        feed_forgive(d);
    }
}

/* The position behind the item of this number, which was sent and is not acknowledged yet. */
static uint64_t find_behind(const struct feed *d, const struct flood *f, cw_link link, uint32_t number)
{
    uint64_t position = d->base;
    for (uint32_t item = d->acked; item != number; position++) {
        item += (flood_at(f, position)->owed & cw_links_of(link)) != 0;
    }
    return position;
}

bool feed_acked(struct feed *d, const struct flood *f, cw_link link, uint32_t number, cw_time now)
{
    uint32_t ahead = number - d->acked;
    if (ahead > d->top - d->acked) {
        return position_before(number, d->acked); /* an older word of the same truth */
    }
    if (ahead == 0) {
        return true;
    }
    /* All that is under way, as nearly always: the log need not be read. */
    uint64_t base = number == d->sent ? d->behind : find_behind(d, f, link, number);
    CHECK_SLOW(base == find_behind(d, f, link, number));
    d->base = base;
    d->acked = number;
    if (d->next < d->base) {
        d->next = d->behind = d->base;
        d->sent = d->acked;
    }
    d->moved = now;
    d->stalled = false;
    return true;
}

uint64_t feed_floor(struct feed *d, const struct flood *f)
{
    if (d->acked == d->top) {
        d->high = d->unsent == 0 ? f->end : d->high;
        d->base = d->next = d->behind = d->high;
    }
    return d->base;
}

bool feed_tick(struct feed *d, cw_span retry, cw_time now)
{
    if (d->acked == d->top || !cw_time_due(cw_time_add(d->moved, retry), now)) {
        return false;
    }
    d->next = d->behind = d->base;
    d->sent = d->acked;
    d->moved = now;
    d->stalled = true;
    return true;
}

bool feed_receive(struct feed *d, uint32_t number, cw_time ack_by)
{
    d->ack_at = cw_time_min(d->ack_at, ack_by);
    if (number != d->received + 1) {
        return false;
    }
    d->received = number;
    return true;
}

void feed_ack_left(struct feed *d)
{
    d->ack_at = CW_NEVER;
}
