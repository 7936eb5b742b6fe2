/* SPDX-License-Identifier: Apache-2.0 */
#include "core/holdq.h"

#include "base/check.h"

static uint32_t weight_of(const struct cw_packet *p)
{
    return p->length + p->pad;
}

void holdq_init(struct holdq *q, uint32_t bytes_max, cw_span patience)
{
    *q = (struct holdq){.bytes_max = bytes_max, .patience = patience};
}

bool holdq_put(struct holdq *q, struct cw_packet *p)
{
    CHECK(p->place < FAIRQ_PLACES);
    uint64_t bytes = weight_of(p);
    uint64_t room = q->bytes_max - q->bytes;
    if (bytes > room || q->bytes_of[p->place] + bytes > 2 * room) {
        return false;
    }
    p->next = NULL;
    if (q->tail != NULL) {
        q->tail->next = p;
    } else {
        q->head = p;
    }
    q->tail = p;
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
        if (p->place >= FAIRQ_PLACES) {
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
