/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.h - the clock that shims and the pump read: nanoseconds of CLOCK_MONOTONIC, less those for which time was held.
 *
 * A process that is a whole world of its own (every server of a torus, joined by memory) holds time while it had no processor:
 * nobody in it should be called silent for a stall that all of them shared. With cables to others time is never held, because theirs
 * goes on.
 */
#ifndef SHIM_CLOCK_H
#define SHIM_CLOCK_H

#include "cubeway/time.h"

#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

/* Of clock.c. Read by any thread, written by clock_hold only. */
extern _Atomic int64_t clock_behind_ns, clock_limit_ns;

static inline int64_t clock_system_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline cw_time clock_now(void)
{
    int64_t ns = clock_system_ns() - atomic_load_explicit(&clock_behind_ns, memory_order_relaxed);
    int64_t limit = atomic_load_explicit(&clock_limit_ns, memory_order_relaxed);
    return (cw_time){ns < limit ? ns : limit};
}

/* The instant of CLOCK_MONOTONIC at which clock_now() will be t, if time is not held until then. t is not CW_NEVER. */
static inline cw_time clock_system(cw_time t)
{
    return (cw_time){t.ns + atomic_load_explicit(&clock_behind_ns, memory_order_relaxed)};
}

/*
 * Time goes on from where it stands, and stops at limit until the next call; CW_NEVER: it does not stop. One thread only. clock_now()
 * never jumps, and never goes back.
 */
void clock_hold(cw_time limit);

#endif
