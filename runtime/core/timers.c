/* SPDX-License-Identifier: Apache-2.0 */
#include "core/timers.h"

#include "base/check.h"

#include <string.h>

struct timer {
    struct expiry_item item;
    cw_timer_fn fn;
    void *arg;
    unsigned service;
};

int timers_open(struct timers *t, uint32_t limit, uint64_t salt)
{
    *t = (struct timers){.round = 0};
    return expiry_open(&t->table, sizeof(struct timer), limit, salt);
}

void timers_close(struct timers *t)
{
    expiry_close(&t->table);
}

static struct timer *find(const struct timers *t, const cw_timer *timer)
{
    uintptr_t number = (uintptr_t)timer;
    return number > UINT32_MAX ? NULL : expiry_find(&t->table, (uint32_t)number);
}

static void give(struct timers *t, struct timer *timer)
{
    t->of[timer->service]--;
    expiry_give(&t->table, timer);
}

cw_timer *timers_start(struct timers *t, unsigned service, cw_time at, cw_timer_fn fn, void *arg)
{
    CHECK(service < FAIRQ_PLACES);
    if (t->of[service] >= 2 * (t->table.limit - expiry_count(&t->table))) {
        return NULL;
    }
    struct timer *timer = expiry_take(&t->table, at);
    if (timer == NULL) {
        return NULL;
    }
    timer->fn = fn;
    timer->arg = arg;
    timer->service = service;
    t->of[service]++;
    return (cw_timer *)(uintptr_t)timer->item.handle;
}

bool timers_stop(struct timers *t, unsigned service, const cw_timer *number)
{
    struct timer *timer = find(t, number);
    if (timer == NULL || timer->service != service) {
        return false;
    }
    give(t, timer);
    return true;
}

void timers_stop_all(struct timers *t, unsigned service)
{
    uint32_t place = 0;
    for (struct timer *timer; (timer = expiry_each(&t->table, &place)) != NULL;) {
        if (timer->service == service) {
            give(t, timer);
        }
    }
}

void timers_begin(struct timers *t)
{
    t->round = t->table.sequence;
}

bool timers_next(struct timers *t, cw_time now, struct timers_fired *out)
{
    struct timer *timer = expiry_due(&t->table, now);
    /* Ties go by sequence: behind one that is too new there are only newer ones. */
    if (timer == NULL || timer->item.sequence > t->round) {
        return false;
    }
    *out = (struct timers_fired){.service = timer->service, .fn = timer->fn, .arg = timer->arg};
    give(t, timer);
    return true;
}

bool timers_valid(const struct timers *t)
{
    uint32_t of[FAIRQ_PLACES] = {0}, place = 0, all = 0;
    for (const struct timer *timer; (timer = expiry_each(&t->table, &place)) != NULL; all++) {
        if (timer->service >= FAIRQ_PLACES) {
            return false;
        }
        of[timer->service]++;
    }
    return all == expiry_count(&t->table) && memcmp(of, t->of, sizeof of) == 0 && heap_valid(&t->table.heap);
}
