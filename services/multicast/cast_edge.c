/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/cast_edge.h"

static const cw_span alarm_least = {10 * 1000 * 1000};
static const cw_span alarm_most = {1000 * 1000 * 1000};
static const unsigned tries_before_anew =
    5; /* then a child that has begun anew, and counts its answers anew, is listened to */

static cw_span alarm_after(const struct cast_edge *e)
{
    int64_t ns = alarm_least.ns + 4 * e->rtt.ns;
    for (unsigned i = 0; i < e->tries && ns < alarm_most.ns; i++) {
        ns *= 2;
    }
    return (cw_span){ns < alarm_most.ns ? ns : alarm_most.ns};
}

void cast_edge_init(struct cast_edge *e, uint32_t id, uint32_t base, uint32_t pieces, cw_time now)
{
    *e = (struct cast_edge){.id = id, .base = base, .pieces = pieces, .alarm = now};
}

static bool child_has(const struct cast_edge *e, uint32_t index)
{
    return index < e->base || (index - e->base < CAST_WINDOW && cast_bits_has(e->have, index - e->base));
}

static bool under_way(const struct cast_edge *e, uint32_t index)
{
    uint32_t slot = index % CAST_WINDOW;
    return e->sent_order[slot] != 0 && e->sent_index[slot] == index &&
           (int32_t)(e->echo - e->sent_order[slot]) < CAST_LATE;
}

bool cast_edge_next(const struct cast_edge *e, const struct cast_mine *mine, uint32_t *index)
{
    if (!e->heard) {
        return false;
    }
    uint32_t from = e->base > mine->from ? e->base : mine->from;
    uint32_t end = e->pieces - e->base < CAST_WINDOW ? e->pieces : e->base + CAST_WINDOW;
    end = end < mine->end ? end : mine->end;
    for (uint32_t i = from; i < end; i++) {
        if (!child_has(e, i) && !under_way(e, i) && (mine->ring == NULL || cast_ring_has(mine->ring, i))) {
            *index = i;
            return true;
        }
    }
    return false;
}

static void time_it(struct cast_edge *e, cw_time now)
{
    if (e->timed == 0) {
        e->timed = e->order;
        e->timed_at = now;
    }
}

uint32_t cast_edge_sent(struct cast_edge *e, uint32_t index, cw_time now)
{
    uint32_t slot = index % CAST_WINDOW;
    e->repeated += e->sent_order[slot] != 0 && e->sent_index[slot] == index;
    e->sent++;
    e->order++;
    e->sent_order[slot] = e->order;
    e->sent_index[slot] = index;
    time_it(e, now);
    return e->order;
}

bool cast_edge_due(const struct cast_edge *e, cw_time now)
{
    return !cast_edge_complete(e) && !cw_time_before(now, e->alarm);
}

uint32_t cast_edge_probed(struct cast_edge *e, cw_time now)
{
    e->order += CAST_LATE;
    e->probes++;
    e->alarm = cw_time_add(now, alarm_after(e));
    e->tries += e->tries < 16;
    if (e->tries > tries_before_anew) {
        e->serial = 0;
    }
    e->timed = 0; /* it may have been lost */
    time_it(e, now);
    return e->order;
}

bool cast_edge_told(struct cast_edge *e, const struct cast_head *ack, cw_time now)
{
    if (ack->edge != e->id || ack->serial < e->serial || ack->index > e->pieces ||
        (int32_t)(e->order - ack->order) < 0) {
        return false;
    }
    e->heard = true;
    e->serial = ack->serial;
    e->base = ack->index;
    e->have[0] = ack->have[0];
    e->have[1] = ack->have[1];
    e->echo = (int32_t)(ack->order - e->echo) > 0 ? ack->order : e->echo;
    if (e->timed != 0 && (int32_t)(e->echo - e->timed) >= 0) {
        int64_t took = cw_time_since(now, e->timed_at).ns;
        e->rtt.ns = e->rtt.ns == 0 ? took : (7 * e->rtt.ns + took) / 8;
        e->timed = 0;
    }
    e->tries = 0;
    e->alarm = cw_time_add(now, alarm_after(e));
    return true;
}
