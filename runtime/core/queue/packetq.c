/* SPDX-License-Identifier: Apache-2.0 */
#include "core/queue/packetq.h"

#include "base/check.h"

/* Bit s is set when link set s contains the link. */
static const uint64_t sets_with[CW_LINK_COUNT] = {
    UINT64_C(0xaaaaaaaaaaaaaaaa), UINT64_C(0xcccccccccccccccc), UINT64_C(0xf0f0f0f0f0f0f0f0),
    UINT64_C(0xff00ff00ff00ff00), UINT64_C(0xffff0000ffff0000), UINT64_C(0xffffffff00000000),
};

static uint32_t weight_of(const struct cw_packet *p)
{
    return p->length + p->pad;
}

void packetq_init(struct packetq *q, uint32_t packets_max, uint32_t bytes_max, enum packetq_drop drop)
{
    *q = (struct packetq){.packets_max = packets_max, .bytes_max = bytes_max, .drop = drop};
}

bool packetq_has_room(const struct packetq *q, const struct cw_packet *p)
{
    uint32_t bytes = weight_of(p);
    return q->packets < q->packets_max && bytes <= q->bytes_max && q->bytes <= q->bytes_max - bytes;
}

/* The set whose head is the oldest among these; sets is not 0. */
static unsigned oldest_of(const struct packetq *q, uint64_t sets)
{
    unsigned best = (unsigned)__builtin_ctzll(sets);
    for (uint64_t rest = sets & (sets - 1); rest != 0; rest &= rest - 1) {
        unsigned set = (unsigned)__builtin_ctzll(rest);
        /* What waits together came within 2^31 packets. */
        if ((int32_t)(q->oldest[set] - q->oldest[best]) < 0) {
            best = set;
        }
    }
    return best;
}

static struct cw_packet *take_from(struct packetq *q, unsigned set)
{
    struct packetq_fifo *fifo = &q->fifo[set];
    struct cw_packet *p = fifo->head;
    fifo->head = p->next;
    if (fifo->head == NULL) {
        fifo->tail = NULL;
        q->used &= ~(UINT64_C(1) << set);
    } else {
        q->oldest[set] = (uint32_t)fifo->head->order;
    }
    p->next = NULL;
    q->count[set]--;
    q->packets--;
    q->bytes -= weight_of(p);
    return p;
}

/* True when all that is less important than p, gone, would leave room for it: nobody goes in vain. */
static bool outranks_enough(const struct packetq *q, const struct cw_packet *p)
{
    uint32_t packets = 0, bytes = 0;
    for (uint64_t sets = q->used; sets != 0; sets &= sets - 1) {
        for (const struct cw_packet *i = q->fifo[__builtin_ctzll(sets)].head; i != NULL; i = i->next) {
            if (i->priority < p->priority) {
                packets++;
                bytes += weight_of(i);
            }
        }
    }
    return q->packets - packets < q->packets_max && (uint64_t)q->bytes - bytes + weight_of(p) <= q->bytes_max;
}

bool packetq_takes(const struct packetq *q, const struct cw_packet *p)
{
    if (packetq_has_room(q, p)) {
        return true;
    }
    switch (q->drop) {
    case PACKETQ_DROP_OLDEST:
        return weight_of(p) <= q->bytes_max;
    case PACKETQ_DROP_PRIORITY:
        return p->priority > q->floor && outranks_enough(q, p);
    default:
        return false;
    }
}

/* The youngest of the lowest priority; the queue is not empty. */
static struct cw_packet *take_least(struct packetq *q)
{
    struct cw_packet *least = NULL, *least_before = NULL;
    for (uint64_t sets = q->used; sets != 0; sets &= sets - 1) {
        struct cw_packet *before = NULL;
        for (struct cw_packet *i = q->fifo[__builtin_ctzll(sets)].head; i != NULL; before = i, i = i->next) {
            if (least == NULL || i->priority < least->priority ||
                (i->priority == least->priority && i->order > least->order)) {
                least = i;
                least_before = before;
            }
        }
    }
    q->floor = least->priority;
    if (least_before == NULL) {
        return take_from(q, least->links);
    }
    least_before->next = least->next;
    if (least->next == NULL) {
        q->fifo[least->links].tail = least_before;
    }
    least->next = NULL;
    q->count[least->links]--;
    q->packets--;
    q->bytes -= weight_of(least);
    return least;
}

void packetq_put_back(struct packetq *q, struct cw_packet *p)
{
    CHECK(p->links != CW_LINKS_NONE && p->links < PACKETQ_SETS);
    if (p->priority < q->floor || q->packets == 0) {
        q->floor = p->priority;
    }
    struct packetq_fifo *fifo = &q->fifo[p->links];
    p->next = NULL;
    if (fifo->tail != NULL) {
        CHECK_SLOW(fifo->tail->order < p->order);
        fifo->tail->next = p;
    } else {
        fifo->head = p;
        q->oldest[p->links] = (uint32_t)p->order;
        q->used |= UINT64_C(1) << p->links;
    }
    fifo->tail = p;
    q->count[p->links]++;
    q->packets++;
    q->bytes += weight_of(p);
}

struct cw_packet *packetq_put(struct packetq *q, struct cw_packet *p)
{
    CHECK(q->packets_max > 0);
    struct cw_packet *out = NULL, **last = &out;
    if (!packetq_takes(q, p)) {
        p->next = NULL;
        return p;
    }
    while (!packetq_has_room(q, p)) {
        *last = q->drop == PACKETQ_DROP_PRIORITY ? take_least(q) : take_from(q, oldest_of(q, q->used));
        last = &(*last)->next;
    }
    packetq_put_back(q, p);
    return out;
}

cw_links packetq_links(const struct packetq *q)
{
    cw_links links = CW_LINKS_NONE;
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        if (q->used & sets_with[link]) {
            links |= cw_links_of(link);
        }
    }
    return links;
}

uint32_t packetq_count(const struct packetq *q, cw_link link)
{
    uint32_t packets = 0;
    for (uint64_t sets = q->used & sets_with[link]; sets != 0; sets &= sets - 1) {
        packets += q->count[__builtin_ctzll(sets)];
    }
    return packets;
}

struct cw_packet *packetq_peek(const struct packetq *q, cw_link link)
{
    uint64_t sets = q->used & sets_with[link];
    return sets == 0 ? NULL : q->fifo[oldest_of(q, sets)].head;
}

struct cw_packet *packetq_take(struct packetq *q, cw_link link)
{
    uint64_t sets = q->used & sets_with[link];
    return sets == 0 ? NULL : take_from(q, oldest_of(q, sets));
}

struct cw_packet *packetq_drain(struct packetq *q)
{
    struct cw_packet *out = NULL, **last = &out;
    while (q->used != 0) {
        *last = take_from(q, oldest_of(q, q->used));
        last = &(*last)->next;
    }
    return out;
}

static bool fifo_valid(const struct packetq *q, unsigned set, uint64_t *bytes)
{
    const struct packetq_fifo *fifo = &q->fifo[set];
    const struct cw_packet *last = NULL;
    uint32_t count = 0;
    for (const struct cw_packet *p = fifo->head; p != NULL; last = p, p = p->next) {
        if (p->links != set || p->priority < q->floor || (last != NULL && last->order >= p->order)) {
            return false;
        }
        *bytes += weight_of(p);
        count++;
    }
    bool head = fifo->head == NULL || q->oldest[set] == (uint32_t)fifo->head->order;
    return head && fifo->tail == last && q->count[set] == count && packetq_has(q, (cw_links)set) == (count > 0);
}

bool packetq_valid(const struct packetq *q)
{
    uint64_t bytes = 0;
    uint32_t packets = 0;
    for (unsigned set = 0; set < PACKETQ_SETS; set++) {
        if (!fifo_valid(q, set, &bytes)) {
            return false;
        }
        packets += q->count[set];
    }
    return q->packets == packets && q->bytes == bytes;
}
