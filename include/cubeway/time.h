/* SPDX-License-Identifier: Apache-2.0 */
/*
 * time.h - instants and spans of time, in nanoseconds, as two types that the compiler does not let mix.
 *
 * An instant (cw_time) counts nanoseconds from an origin that the host chooses: the machine's boot on a server, 0 in
 * the simulator. Only the difference of two instants means anything. A span (cw_span) is such a difference; it may be
 * negative. No function here reads a clock: "now" is always an argument.
 *
 * Arithmetic saturates: "never + 10 ms" is still never, and no sum wraps round to the other end of time. The functions
 * are pure and may be called from any thread.
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

/* The instant that does not come: later than every other. */
#define CW_NEVER ((cw_time){INT64_MAX})

/*
 * Spans, from a whole number of the unit (a fraction is cut off). The product must fit 63 bits of nanoseconds: 292
 * years. They may stand wherever a cw_span may, in initialisers of static objects too (GNU C).
 */
#define CW_NS(n) ((cw_span){(int64_t)(n)})
#define CW_US(n) ((cw_span){(int64_t)(n)*CW_NS_PER_US})
#define CW_MS(n) ((cw_span){(int64_t)(n)*CW_NS_PER_MS})
#define CW_SEC(n) ((cw_span){(int64_t)(n)*CW_NS_PER_SEC})
#define CW_MINUTES(n) ((cw_span){(int64_t)(n)*60 * CW_NS_PER_SEC})
#define CW_HOURS(n) ((cw_span){(int64_t)(n)*3600 * CW_NS_PER_SEC})
#define CW_DAYS(n) ((cw_span){(int64_t)(n)*86400 * CW_NS_PER_SEC})

/* Nanoseconds in a unit, of type int64_t: for conversions, and where a constant expression must be a number. */
#define CW_NS_PER_US INT64_C(1000)
#define CW_NS_PER_MS INT64_C(1000000)
#define CW_NS_PER_SEC INT64_C(1000000000)

/* The span in whole microseconds or milliseconds, rounded towards zero: what control answers and reports show. */
static inline int64_t cw_span_us(cw_span d)
{
    return d.ns / CW_NS_PER_US;
}

static inline int64_t cw_span_ms(cw_span d)
{
    return d.ns / CW_NS_PER_MS;
}

/* True when a is earlier than b. */
static inline bool cw_time_before(cw_time a, cw_time b)
{
    return a.ns < b.ns;
}

/* True when t is due: t <= now. CW_NEVER is never due, not even when now is CW_NEVER. */
static inline bool cw_time_due(cw_time t, cw_time now)
{
    return t.ns <= now.ns && t.ns != INT64_MAX;
}

/* The earlier of two instants. */
static inline cw_time cw_time_min(cw_time a, cw_time b)
{
    return a.ns < b.ns ? a : b;
}

/* The later of two instants. */
static inline cw_time cw_time_max(cw_time a, cw_time b)
{
    return a.ns > b.ns ? a : b;
}

/* The instant d after t, or before it when d is negative. CW_NEVER stays CW_NEVER whatever d is. */
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

/* a + b. */
static inline cw_span cw_span_add(cw_span a, cw_span b)
{
    int64_t sum;
    if (__builtin_add_overflow(a.ns, b.ns, &sum)) {
        return (cw_span){a.ns > 0 ? INT64_MAX : INT64_MIN};
    }
    return (cw_span){sum};
}

/* a - b: negative when a is before b. Meaningless when one of the two is CW_NEVER, but defined. */
static inline cw_span cw_time_since(cw_time a, cw_time b)
{
    int64_t difference;
    if (__builtin_sub_overflow(a.ns, b.ns, &difference)) {
        return (cw_span){a.ns > b.ns ? INT64_MAX : INT64_MIN};
    }
    return (cw_span){difference};
}

#endif
