/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.h - the clock that shims and the pump read: nanoseconds of CLOCK_BOOTTIME, less those for which time was held.
 *
 * It must be CLOCK_BOOTTIME, which goes on while the machine is suspended. CLOCK_MONOTONIC stands still then, and a
 * server that wakes up would take the lease that it had for valid, and deliver what the others have inherited long
 * since (semantics 4.2). Everything that is compared with an instant of this clock is read from CLOCK_BOOTTIME too:
 * timers of descriptors, and the testbed's record of what happened when. Only spans that never meet such an instant may
 * be taken by another clock (house.clock).
 *
 * A process that runs every server of a torus holds time while it has no processor: no server in it should be called
 * silent because of a stall that all of them shared. A daemon with cables to others never holds time, because the
 * others' time goes on.
 */
#ifndef SHIM_CLOCK_H
#define SHIM_CLOCK_H

#include "cubeway/time.h"

#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

/* Of clock.c. Any thread reads them; only clock_hold() writes them. */
extern _Atomic int64_t clock_behind_ns, clock_limit_ns;

static inline int64_t clock_system_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline cw_time clock_now(void)
{
    int64_t ns = clock_system_ns() - atomic_load_explicit(&clock_behind_ns, memory_order_relaxed);
    int64_t limit = atomic_load_explicit(&clock_limit_ns, memory_order_relaxed);
    return (cw_time){ns < limit ? ns : limit};
}

/* The instant of CLOCK_BOOTTIME at which clock_now() will be t, if time is not held until then. t is not CW_NEVER. */
static inline cw_time clock_system(cw_time t)
{
    return (cw_time){t.ns + atomic_load_explicit(&clock_behind_ns, memory_order_relaxed)};
}

/*
 * Time goes on from where it stands, and stops at `limit` until the next call; CW_NEVER: it does not stop. One thread
 * only. clock_now() never jumps, and never goes back.
 */
void clock_hold(cw_time limit);

#endif
