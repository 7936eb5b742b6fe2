/* SPDX-License-Identifier: Apache-2.0 */
/*
 * time.h - instants and durations, in nanoseconds, that cannot be mixed up.
 *
 * An instant counts from an origin the pump chooses (boot on a server, 0 in the simulator); only
 * differences mean anything. No function here reads a clock: now is always an argument.
 * Arithmetic saturates: "never + 10 ms" is still never, and nothing wraps round to the other end of time.
 */
#ifndef CUBEWAY_TIME_H
#define CUBEWAY_TIME_H

#include <stdbool.h>
#include <stdint.h>

typedef struct cw_time {
    int64_t ns;
} cw_time;

typedef struct cw_span {
    int64_t ns;
} cw_span;

#define CW_NEVER ((cw_time){INT64_MAX})
#define CW_NS(n) ((cw_span){(int64_t)(n)})
#define CW_US(n) ((cw_span){(int64_t)(n)*1000})
#define CW_MS(n) ((cw_span){(int64_t)(n)*1000000})
#define CW_SEC(n) ((cw_span){(int64_t)(n)*1000000000})

static inline bool cw_time_before(cw_time a, cw_time b)
{
    return a.ns < b.ns;
}

/* True when t is due: t <= now. CW_NEVER is never due. */
static inline bool cw_time_due(cw_time t, cw_time now)
{
    return t.ns <= now.ns && t.ns != INT64_MAX;
}

static inline cw_time cw_time_min(cw_time a, cw_time b)
{
    return a.ns < b.ns ? a : b;
}

static inline cw_time cw_time_max(cw_time a, cw_time b)
{
    return a.ns > b.ns ? a : b;
}

static inline cw_time cw_time_add(cw_time t, cw_span d)
{
    int64_t sum;
    if (t.ns == INT64_MAX) {
        return CW_NEVER;
    }
    if (__builtin_add_overflow(t.ns, d.ns, &sum)) {
        return (cw_time){d.ns > 0 ? INT64_MAX : INT64_MIN};
    }
    return (cw_time){sum};
}

static inline cw_span cw_span_add(cw_span a, cw_span b)
{
    return (cw_span){a.ns + b.ns};
}

/* a - b, negative when a is before b. Nothing is said about a span to or from CW_NEVER. */
static inline cw_span cw_time_since(cw_time a, cw_time b)
{
    int64_t difference;
    if (__builtin_sub_overflow(a.ns, b.ns, &difference)) {
        return (cw_span){a.ns > b.ns ? INT64_MAX : INT64_MIN};
    }
    return (cw_span){difference};
}

#endif
