/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timers.h - the timers of a node's services.
 *
 * A cw_timer is a handle (expiry.h) cast to a pointer, and is never dereferenced. So stopping a timer twice, or after
 * it ran, or stopping another service's timer, does nothing and returns false.
 *
 * The room is shared by dynamic thresholds, as in holdq.h: a service may run up to twice as many timers as are still
 * free. So one service alone can have two thirds, and another always finds some.
 */
#ifndef CORE_TIMERS_H
#define CORE_TIMERS_H

#include "base/expiry.h"
#include "core/queue/fairq.h"
#include "cubeway/service.h"

struct timers {
    struct expiry table;
    uint64_t round;            /* timers that were set after this sequence number wait for the next round */
    uint32_t of[FAIRQ_PLACES]; /* timers that run, by service */
};

/* A timer that has run out, by value: its handle is stale already. */
struct timers_fired {
    unsigned service;
    cw_timer_fn fn;
    void *arg;
};

CW_MUST_CHECK int timers_open(struct timers *t, uint32_t limit, uint64_t salt);
void timers_close(struct timers *t);

/* Gives a timer that runs, or NULL: there are too many. service < FAIRQ_PLACES. */
cw_timer *timers_start(struct timers *t, unsigned service, cw_time at, cw_timer_fn fn, void *arg);
/* False: the service has no such timer running. */
bool timers_stop(struct timers *t, unsigned service, const cw_timer *timer);
void timers_stop_all(struct timers *t, unsigned service);

/*
 * One round is timers_begin(), then timers_next() until it is false. A timer that is set during a round runs in a later
 * one, even if it is due at once: so every round ends.
 */
void timers_begin(struct timers *t);
bool timers_next(struct timers *t, cw_time now, struct timers_fired *out);

/* For tests and CHECK_SLOW: walks all timers; true when each service's count is that of its timers. */
bool timers_valid(const struct timers *t);

static inline cw_time timers_wake(const struct timers *t)
{
    return expiry_wake(&t->table);
}

#endif
