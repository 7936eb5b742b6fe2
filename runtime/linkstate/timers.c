/* SPDX-License-Identifier: Apache-2.0 */
#include "linkstate/linkstate.h"

#include <errno.h>

struct ls_timers ls_timers_default(void)
{
    return (struct ls_timers){
        .hello = CW_MS(10),
        .dead = CW_MS(50),
        .hold = CW_MS(60),
        .flood_bound = CW_MS(5),
        .retry = CW_MS(2),
        .pending_limit = CW_MS(500),
        .pace = CW_MS(1),
        .damp = CW_MS(100),
        .damp_max = CW_SEC(10),
        .refresh = CW_SEC(30 * 60),
    };
}

/* For servers whose network thread has a core of its own: detection in 10 to 15 ms. */
struct ls_timers ls_timers_fast(void)
{
    struct ls_timers timers = ls_timers_default();
    timers.hello = CW_MS(5);
    timers.dead = CW_MS(15);
    timers.hold = CW_MS(20);
    return timers;
}

int ls_timers_check(const struct ls_timers *t)
{
    if (t->hello.ns <= 0 || t->retry.ns <= 0 || t->pending_limit.ns <= 0 || t->refresh.ns <= 0) {
        return -EINVAL;
    }
    if (t->dead.ns < 0 || t->hold.ns < 0 || t->flood_bound.ns < 0 || t->pace.ns < 0 || t->damp.ns < 0) {
        return -EINVAL;
    }
    /* None is negative from here on: differences cannot overflow as sums could. One lost hello must not be a death. */
    if (t->dead.ns - t->hello.ns < t->hello.ns || t->damp_max.ns < t->damp.ns) {
        return -EINVAL;
    }
    /* Whoever removes a server from O does so after that server's lease has run out. */
    return t->hold.ns - t->dead.ns < t->flood_bound.ns ? -EINVAL : 0;
}
