/* SPDX-License-Identifier: Apache-2.0 */
/* clock.h - the clock that shims read: nanoseconds of CLOCK_MONOTONIC, as the pump's. */
#ifndef SHIM_CLOCK_H
#define SHIM_CLOCK_H

#include "cubeway/time.h"

#include <time.h>

static inline cw_time clock_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (cw_time){(int64_t)now.tv_sec * 1000000000 + now.tv_nsec};
}

#endif
