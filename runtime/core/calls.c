/* SPDX-License-Identifier: Apache-2.0 */
#include "core/calls.h"

#include "base/check.h"

#include <string.h>

int calls_open(struct calls *c, uint32_t limit, uint64_t salt)
{
    *c = (struct calls){.of = {0}};
    return expiry_open(&c->table, sizeof(struct call), limit, salt);
}

void calls_close(struct calls *c)
{
    CHECK(expiry_count(&c->table) == 0);
    expiry_close(&c->table);
}

enum { GUEST_PART = 16 };

/* Where the calls of that speaker are counted: those of all guests together. */
static unsigned count_of(unsigned speaker)
{
    return speaker < FAIRQ_PLACES ? speaker : 0;
}

/* How many calls a speaker of that count may still begin, before others have less than half of what it has. */
static uint32_t left(const struct calls *c, unsigned count)
{
    uint32_t most = 2 * (c->table.limit - expiry_count(&c->table));
    return c->of[count] < most ? most - c->of[count] : 0;
}

static struct call *start(struct calls *c, unsigned speaker, cw_span timeout, unsigned retries, cw_time now)
{
    CHECK(retries <= UINT16_MAX);
    struct call *call = expiry_take(&c->table, cw_time_add(now, timeout));
    if (call == NULL) {
        return NULL;
    }
    call->timeout = timeout;
    call->retries = (uint16_t)retries;
    call->speaker = (uint16_t)speaker;
    call->again = NULL;
    c->of[count_of(speaker)]++;
    return call;
}

struct call *calls_start(struct calls *c, unsigned service, cw_span timeout, unsigned retries, cw_time now)
{
    CHECK(service < FAIRQ_PLACES);
    return left(c, service) > 0 ? start(c, service, timeout, retries, now) : NULL;
}

struct call *calls_start_guest(struct calls *c, unsigned guest, uint32_t open, cw_span timeout, unsigned retries,
                               cw_time now)
{
    CHECK(guest >= FAIRQ_PLACES && guest <= UINT16_MAX);
    return left(c, count_of(guest)) / GUEST_PART > open ? start(c, guest, timeout, retries, now) : NULL;
}

struct call *calls_find(const struct calls *c, uint32_t number)
{
    return expiry_find(&c->table, number);
}

void calls_end(struct calls *c, struct call *call)
{
    c->of[count_of(call->speaker)]--;
    expiry_give(&c->table, call);
}

struct call *calls_due(const struct calls *c, cw_time now)
{
    return expiry_due(&c->table, now);
}

void calls_try_again(struct calls *c, struct call *call, cw_time now)
{
    CHECK(call->retries > 0);
    call->retries--;
    expiry_move(&c->table, call, cw_time_add(now, call->timeout));
}

struct call *calls_of(const struct calls *c, unsigned speaker)
{
    uint32_t place = 0;
    for (struct call *call; c->of[count_of(speaker)] > 0 && (call = expiry_each(&c->table, &place)) != NULL;) {
        if (call->speaker == speaker) {
            return call;
        }
    }
    return NULL;
}

bool calls_valid(const struct calls *c)
{
    uint32_t of[FAIRQ_PLACES] = {0}, place = 0, all = 0;
    for (const struct call *call; (call = expiry_each(&c->table, &place)) != NULL; all++) {
        of[count_of(call->speaker)]++;
    }
    return all == expiry_count(&c->table) && memcmp(of, c->of, sizeof of) == 0 && heap_valid(&c->table.heap);
}
