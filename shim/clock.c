/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/clock.h"

_Atomic int64_t clock_behind_ns;
_Atomic int64_t clock_limit_ns = INT64_MAX;

void clock_hold(cw_time limit)
{
    int64_t old = atomic_load_explicit(&clock_limit_ns, memory_order_relaxed);
    int64_t behind = atomic_load_explicit(&clock_behind_ns, memory_order_relaxed);
    int64_t over = clock_system_ns() - behind - old;
    if (over > 0) {
        atomic_store_explicit(&clock_behind_ns, behind + over, memory_order_relaxed);
    }
    atomic_store_explicit(&clock_limit_ns, limit.ns, memory_order_release);
}
