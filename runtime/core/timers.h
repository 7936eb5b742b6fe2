/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timers.h - the timers of a node's services.
 *
 * A cw_timer is a number in a pointer's clothes (expiry.h) and is never followed: stopping a timer twice, after it ran,
 * or a service stopping another's does nothing and says so.
 *
 * Shared by dynamic thresholds (Choudhury and Hahne 1998, as holdq.h): a service may run up to twice as many as are
 * still free, so one alone can have two thirds and a newcomer always finds some.
 */
#ifndef CORE_TIMERS_H
#define CORE_TIMERS_H

#include "base/expiry.h"
#include "core/fairq.h"
#include "cubeway/service.h"

struct timers {
    struct expiry table;
    uint64_t round; /* timers set later than this wait for the next round */
    uint32_t of[FAIRQ_SERVICES];
};

/* What is to be called, by value: the timer is gone. */
struct timers_fired {
    unsigned service;
    cw_timer_fn fn;
    void *arg;
};

CW_MUST_CHECK int timers_open(struct timers *t, uint32_t limit, uint64_t salt);
void timers_close(struct timers *t);

/* Gives a running timer, or NULL: too many. service < FAIRQ_SERVICES. */
cw_timer *timers_start(struct timers *t, unsigned service, cw_time at, cw_timer_fn fn, void *arg);
/* False: that service has no such timer running. */
bool timers_stop(struct timers *t, unsigned service, const cw_timer *timer);
void timers_stop_all(struct timers *t, unsigned service);

/*
 * One round: timers_begin(), then timers_next() until false. A timer set during a round runs in a later one, even when
 * it is due at once: no round is endless.
 */
void timers_begin(struct timers *t);
bool timers_next(struct timers *t, cw_time now, struct timers_fired *out);

static inline cw_time timers_wake(const struct timers *t)
{
    return expiry_wake(&t->table);
}

#endif
