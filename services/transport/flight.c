/* SPDX-License-Identifier: Apache-2.0 */
#include "services/transport/flight.h"

#include <errno.h>
#include <stdlib.h>

enum { REMEMBERED = 256 }; /* how many packets an acknowledgement reaches back */

static struct flight_packet *at(const struct flight *f, uint32_t packet)
{
    return &f->ring[packet & (f->capacity - 1)];
}

static bool before(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) < 0;
}

void flight_restart(struct flight *f, uint32_t first)
{
    f->first = first;
    f->next = first;
    f->out = 0;
    f->out_bytes = 0;
    f->came = false;
}

void flight_close(struct flight *f)
{
    free(f->ring);
    *f = (struct flight){.ring = NULL};
}

void flight_rest(struct flight *f)
{
    if (f->out == 0 && f->capacity > FLIGHT_LEAST) {
        uint32_t next = f->next;
        flight_close(f);
        flight_restart(f, next);
    }
}

/*
 * What is of no use at the old end goes: what has come, and what was lost so long ago that no acknowledgement names it.
 */
static void forget(struct flight *f)
{
    while (f->first != f->next) {
        const struct flight_packet *p = at(f, f->first);
        if (p->state == FLIGHT_OUT || (p->state == FLIGHT_LOST && f->next - f->first <= REMEMBERED)) {
            return;
        }
        f->first++;
    }
}

int flight_reserve(struct flight *f)
{
    if (f->next - f->first < f->capacity) {
        return 0;
    }
    forget(f);
    if (f->next - f->first < f->capacity) {
        return 0;
    }
    if (f->capacity >= FLIGHT_MOST) {
        return -EAGAIN;
    }
    struct flight larger = *f;
    larger.capacity = f->capacity == 0 ? FLIGHT_LEAST : f->capacity * 2;
    larger.ring = calloc(larger.capacity, sizeof *larger.ring);
    if (larger.ring == NULL) {
        return -ENOMEM;
    }
    for (uint32_t packet = f->first; packet != f->next; packet++) {
        *at(&larger, packet) = *at(f, packet);
    }
    free(f->ring);
    *f = larger;
    return 0;
}

uint32_t flight_add(struct flight *f, cw_time now, uint32_t number, uint32_t index, uint32_t bytes)
{
    *at(f, f->next) = (struct flight_packet){now, number, index, bytes, FLIGHT_OUT};
    f->out++;
    f->out_bytes += bytes;
    return f->next++;
}

static void leave(struct flight *f, struct flight_packet *p, enum flight_state state)
{
    if (p->state == FLIGHT_OUT) {
        f->out--;
        f->out_bytes -= p->bytes;
    }
    p->state = state;
}

static bool came(struct flight *f, uint32_t packet, flight_fn fn, void *context, struct flight_packet *sent)
{
    if (packet - f->first >= f->next - f->first || at(f, packet)->state == FLIGHT_GONE) {
        return false;
    }
    struct flight_packet *p = at(f, packet);
    bool lost = p->state == FLIGHT_LOST;
    leave(f, p, FLIGHT_GONE);
    if (sent != NULL) {
        *sent = *p;
    }
    fn(context, p, lost);
    return true;
}

bool flight_ack(struct flight *f, uint32_t newest, const uint64_t *word, unsigned words, flight_fn fn, void *context,
                struct flight_packet *sent)
{
    if (!before(newest, f->next)) {
        return false;
    }
    if (came(f, newest, fn, context, sent) && (!f->came || before(f->newest, newest))) {
        f->newest = newest;
        f->came = true;
    }
    /* Most of what is named came long ago, and is below first: only so many of the bits are news. */
    uint32_t reach = before(f->first, newest) ? newest - f->first : 0;
    for (unsigned w = 0; w < words && w * 64 < reach; w++) {
        uint64_t news = reach - w * 64 < 64 ? (UINT64_C(1) << (reach - w * 64)) - 1 : UINT64_MAX;
        for (uint64_t bits = word[w] & news; bits != 0; bits &= bits - 1) {
            came(f, newest - 1 - (w * 64 + (uint32_t)__builtin_ctzll(bits)), fn, context, NULL);
        }
    }
    forget(f);
    return true;
}

cw_time flight_detect(struct flight *f, cw_span wait, cw_time now, flight_fn fn, void *context)
{
    if (!f->came || f->out == 0) {
        return CW_NEVER;
    }
    for (uint32_t packet = f->first; packet != f->next && before(packet, f->newest); packet++) {
        struct flight_packet *p = at(f, packet);
        if (p->state != FLIGHT_OUT) {
            continue;
        }
        cw_time due = cw_time_add(p->sent, wait);
        if (!cw_time_due(due, now)) {
            return due; /* those behind it left later */
        }
        leave(f, p, FLIGHT_LOST);
        fn(context, p, true);
    }
    return CW_NEVER;
}

void flight_lose_all(struct flight *f, flight_fn fn, void *context)
{
    for (uint32_t packet = f->first; packet != f->next; packet++) {
        struct flight_packet *p = at(f, packet);
        if (p->state == FLIGHT_OUT) {
            leave(f, p, FLIGHT_LOST);
            fn(context, p, true);
        }
    }
}
