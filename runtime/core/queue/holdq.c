/* SPDX-License-Identifier: Apache-2.0 */
#include "core/queue/holdq.h"

#include "base/check.h"

static uint32_t weight_of(const struct cw_packet *p)
{
    return p->length + p->pad;
}

void holdq_init(struct holdq *q, uint32_t bytes_max, cw_span patience)
{
    *q = (struct holdq){.bytes_max = bytes_max, .patience = patience};
}

/*
 * What is put back after a drain may be older than what an upcall has sent meanwhile. Packets are put back oldest
 * first, so the place of each is at or behind that of the one before: `put` makes this a step, not a walk.
 */
static void link_in_order(struct holdq *q, struct cw_packet *p)
{
    if (q->tail == NULL || !cw_time_before(p->queued, q->tail->queued)) {
        *(q->tail != NULL ? &q->tail->next : &q->head) = p;
        p->next = NULL;
        q->tail = p;
        return;
    }
    struct cw_packet **at = &q->head;
    if (q->put != NULL && !cw_time_before(p->queued, q->put->queued)) {
        at = &q->put->next;
    }
    while (!cw_time_before(p->queued, (*at)->queued)) {
        at = &(*at)->next;
    }
    p->next = *at;
    *at = p;
    q->put = p;
}

bool holdq_put(struct holdq *q, struct cw_packet *p)
{
    CHECK(p->place < FAIRQ_PLACES);
    uint64_t bytes = weight_of(p);
    uint64_t room = q->bytes_max - q->bytes;
    if (bytes > room || q->bytes_of[p->place] + bytes > 2 * room) {
        return false;
    }
    link_in_order(q, p);
    q->packets++;
    q->bytes += (uint32_t)bytes;
    q->bytes_of[p->place] += (uint32_t)bytes;
    return true;
}

struct cw_packet *holdq_drain(struct holdq *q)
{
    struct cw_packet *all = q->head;
    holdq_init(q, q->bytes_max, q->patience);
    return all;
}

struct cw_packet *holdq_take_expired(struct holdq *q, cw_time now)
{
    struct cw_packet *p = q->head;
    if (p == NULL || !holdq_expired(q, p, now)) {
        return NULL;
    }
    q->head = p->next;
    q->tail = q->head != NULL ? q->tail : NULL;
    q->put = p != q->put ? q->put : NULL;
    q->packets--;
    q->bytes -= weight_of(p);
    q->bytes_of[p->place] -= weight_of(p);
    return p;
}

bool holdq_expired(const struct holdq *q, const struct cw_packet *p, cw_time now)
{
    return cw_time_due(cw_time_add(p->queued, q->patience), now);
}

cw_time holdq_wake(const struct holdq *q)
{
    return q->head == NULL ? CW_NEVER : cw_time_add(q->head->queued, q->patience);
}

bool holdq_valid(const struct holdq *q)
{
    uint64_t of[FAIRQ_PLACES] = {0}, bytes = 0;
    uint32_t packets = 0;
    const struct cw_packet *last = NULL;
    for (const struct cw_packet *p = q->head; p != NULL; last = p, p = p->next) {
        if (p->place >= FAIRQ_PLACES || (last != NULL && cw_time_before(p->queued, last->queued))) {
            return false;
        }
        of[p->place] += weight_of(p);
        bytes += weight_of(p);
        packets++;
    }
    for (unsigned i = 0; i < FAIRQ_PLACES; i++) {
        if (of[i] != q->bytes_of[i]) {
            return false;
        }
    }
    return q->tail == last && q->packets == packets && q->bytes == bytes && q->bytes <= q->bytes_max;
}
