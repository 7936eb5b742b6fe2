/* SPDX-License-Identifier: Apache-2.0 */
#include "core/turns.h"

#include "base/check.h"
#include "core/mutant.h"

#include <stdlib.h>

enum { NOBODY = TURNS_JOBS, WEIGHT = 1 };

void turns_init(struct turns *t, uint32_t packets_max, uint32_t bytes_max)
{
    *t = (struct turns){.packets_max = packets_max, .bytes_max = bytes_max};
}

void turns_close(struct turns *t)
{
    CHECK(t->packets == 0);
    for (unsigned i = 0; i < TURNS_JOBS; i++) {
        free(t->queue[i]);
    }
}

size_t turns_bytes(const struct turns *t)
{
    size_t bytes = 0;
    for (unsigned i = 0; i < TURNS_JOBS; i++) {
        bytes += t->queue[i] != NULL ? sizeof *t->queue[i] : 0;
    }
    return bytes;
}

static bool is_empty(const struct turns *t, unsigned i)
{
    return t->queue[i] == NULL || t->queue[i]->packets == 0;
}

/* Where the job is looked for first: neighbouring numbers lie apart. */
static unsigned home_of(cw_job job)
{
    return job * UINT32_C(0x9e3779b1) >> 26;
}
_Static_assert(TURNS_JOBS == 1 << (32 - 26), "home_of() gives 6 bits");

/* The turn of the job: its own, else one that nobody has, else one whose packets have gone, else one that it shares. */
static unsigned turn_of(const struct turns *t, cw_job job)
{
    unsigned home = home_of(job), fresh = NOBODY, idle = NOBODY;
    for (unsigned k = 0; k < TURNS_JOBS; k++) {
        unsigned i = (home + k) % TURNS_JOBS;
        if (t->job[i] == job) {
            return i;
        }
        fresh = fresh == NOBODY && t->job[i] == 0 ? i : fresh;
        idle = idle == NOBODY && is_empty(t, i) ? i : idle;
    }
    return fresh != NOBODY ? fresh : idle != NOBODY ? idle : home;
}

/* Whose turn it is when p leaves. */
static cw_job payer_of(const struct cw_packet *p)
{
    if (NODE_MUTANT(ONE_TURN)) {
        return 1;
    }
    return NODE_MUTANT(BY_DESTINATION) ? p->head.job : p->head.source_job;
}

/* The queue of the job's turn, which becomes its own if it is free; NULL: there is no memory. */
static struct packetq *queue_of(struct turns *t, cw_job job, unsigned *turn)
{
    unsigned i = turn_of(t, job);
    if (t->queue[i] == NULL) {
        t->queue[i] = malloc(sizeof *t->queue[i]);
        if (t->queue[i] == NULL) {
            return NULL;
        }
        packetq_init(t->queue[i], t->packets_max, t->bytes_max, PACKETQ_DROP_TAIL);
    }
    if (is_empty(t, i)) {
        t->job[i] = job;
    }
    *turn = i;
    return t->queue[i];
}

static void refresh(struct turns *t, unsigned i)
{
    cw_links links = packetq_links(t->queue[i]);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        uint64_t bit = UINT64_C(1) << i;
        t->ready[link] = links & cw_links_of(link) ? t->ready[link] | bit : t->ready[link] & ~bit;
    }
}

static void put(struct turns *t, unsigned i, struct cw_packet *p)
{
    t->packets++;
    t->bytes += p->length + p->pad;
    packetq_put_back(t->queue[i], p);
    refresh(t, i);
}

bool turns_takes(const struct turns *t, const struct cw_packet *p)
{
    const struct packetq *q = t->queue[turn_of(t, payer_of(p))];
    uint64_t packets = t->packets_max - t->packets, bytes = t->bytes_max - t->bytes, size = p->length + p->pad;
    uint64_t has_packets = q != NULL ? q->packets : 0, has_bytes = q != NULL ? q->bytes : 0;
    /* The queue may have twice what is free of the whole, which put_back() may have filled beyond its limits. */
    return t->packets < t->packets_max && t->bytes < t->bytes_max && size <= bytes && has_packets < 2 * packets &&
           has_bytes + size <= 2 * bytes;
}

bool turns_put(struct turns *t, struct cw_packet *p)
{
    unsigned turn;
    if (!turns_takes(t, p) || queue_of(t, payer_of(p), &turn) == NULL) {
        return false;
    }
    put(t, turn, p);
    return true;
}

void turns_put_back(struct turns *t, struct cw_packet *p)
{
    unsigned turn;
    if (queue_of(t, payer_of(p), &turn) == NULL) {
        for (turn = 0; t->queue[turn] == NULL; turn++) { /* it came out of one of them */
        }
    }
    put(t, turn, p);
}

cw_links turns_links(const struct turns *t)
{
    cw_links links = CW_LINKS_NONE;
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        links |= t->ready[link] != 0 ? cw_links_of(link) : CW_LINKS_NONE;
    }
    return links;
}

unsigned turns_wanted(const struct turns *t, cw_link link)
{
    return (unsigned)__builtin_popcountll(t->ready[link]);
}

struct cw_packet *turns_peek(struct turns *t, cw_link link)
{
    unsigned i = fairq_pick(&t->fair[link], 0, t->ready[link]);
    return i == FAIRQ_NONE ? NULL : packetq_peek(t->queue[i], link);
}

struct cw_packet *turns_take(struct turns *t, cw_link link)
{
    struct fairq *fair = &t->fair[link];
    unsigned i = fairq_pick(fair, 0, t->ready[link]);
    if (i == FAIRQ_NONE) {
        return NULL;
    }
    struct cw_packet *p = packetq_take(t->queue[i], link);
    t->packets--;
    t->bytes -= p->length + p->pad;
    fairq_charge(fair, 0, i, p->length + p->pad, WEIGHT);
    refresh(t, i);
    if (t->ready[link] == 0) {
        fairq_pick(fair, 0, 0); /* nobody wants it now: whoever comes next starts level */
    }
    return p;
}

/* The turn with the oldest packet of all; NOBODY: there are none. */
static unsigned oldest(struct cw_packet *const head[TURNS_JOBS])
{
    unsigned best = NOBODY;
    for (unsigned i = 0; i < TURNS_JOBS; i++) {
        if (head[i] != NULL && (best == NOBODY || head[i]->order < head[best]->order)) {
            best = i;
        }
    }
    return best;
}

struct cw_packet *turns_drain(struct turns *t)
{
    struct cw_packet *head[TURNS_JOBS], *out = NULL, **last = &out;
    for (unsigned i = 0; i < TURNS_JOBS; i++) {
        head[i] = t->queue[i] != NULL ? packetq_drain(t->queue[i]) : NULL;
    }
    for (unsigned i; (i = oldest(head)) != NOBODY; last = &(*last)->next) {
        *last = head[i];
        head[i] = head[i]->next;
    }
    *last = NULL;
    t->packets = t->bytes = 0;
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        t->ready[link] = 0;
    }
    return out;
}

bool turns_valid(const struct turns *t)
{
    uint64_t packets = 0, bytes = 0, ready[CW_LINK_COUNT] = {0};
    for (unsigned i = 0; i < TURNS_JOBS; i++) {
        const struct packetq *q = t->queue[i];
        if (q == NULL) {
            continue;
        }
        if (!packetq_valid(q)) {
            return false;
        }
        packets += q->packets;
        bytes += q->bytes;
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            ready[link] |= packetq_links(q) & cw_links_of(link) ? UINT64_C(1) << i : 0;
        }
    }
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        if (ready[link] != t->ready[link]) {
            return false;
        }
    }
    return packets == t->packets && bytes == t->bytes;
}
