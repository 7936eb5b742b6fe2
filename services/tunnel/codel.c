/* SPDX-License-Identifier: Apache-2.0 */
#include "services/tunnel/codel.h"

#include "base/check.h"

/* The greatest number whose square is at most n, by digits. */
static uint64_t square_root(uint64_t n)
{
    uint64_t root = 0;
    for (uint64_t bit = UINT64_C(1) << 62; bit != 0; bit >>= 2) {
        bool fits = n >= root + bit;
        n -= fits ? root + bit : 0;
        root = (root >> 1) + (fits ? bit : 0);
    }
    return root;
}

/* interval / sqrt(count), in microseconds inside the root: a minute squared fits 64 bits. */
static cw_time signal_after(cw_time from, cw_span interval, uint32_t count)
{
    uint64_t us = (uint64_t)cw_span_us(interval);
    return cw_time_add(from, CW_US(square_root(us * us / count)));
}

/* Has the wait been above the target for an interval? */
static bool stands(struct codel *c, const struct codel_limits *limits, cw_span waited, bool only, cw_time now)
{
    if (waited.ns < limits->target.ns || only) {
        c->above_at = (cw_time){0};
        return false;
    }
    if (c->above_at.ns == 0) {
        c->above_at = cw_time_add(now, limits->interval);
        return false;
    }
    return !cw_time_before(now, c->above_at);
}

bool codel_leaves(struct codel *c, const struct codel_limits *limits, cw_span waited, bool only, cw_time now)
{
    CHECK_SLOW(limits->target.ns > 0 && limits->interval.ns > 0 && limits->interval.ns <= CW_MINUTES(1).ns);
    if (!stands(c, limits, waited, only, now)) {
        c->signalling = false;
        return false;
    }
    if (c->signalling) {
        if (cw_time_before(now, c->next)) {
            return false;
        }
        c->count++;
        c->next = signal_after(c->next, limits->interval, c->count);
        return true;
    }
    /* It stood a short while ago: the pace that was right then is a better begin than 1. */
    uint32_t added = c->count - c->last_count;
    bool recent = cw_time_since(now, c->next).ns < 16 * limits->interval.ns;
    c->signalling = true;
    c->count = added > 1 && recent ? added : 1;
    c->last_count = c->count;
    c->next = signal_after(now, limits->interval, c->count);
    return true;
}
