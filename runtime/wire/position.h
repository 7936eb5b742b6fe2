/* SPDX-License-Identifier: Apache-2.0 */
/*
 * position.h - positions of a link's control stream: serial numbers that wrap (after RFC 1982).
 *
 * The items of a stream are numbered 1, 2, ... modulo 2^32; 0 stands for "none yet" when a stream begins, and is an
 * ordinary number after a wrap. Two positions have an order as long as they lie less than half the circle apart;
 * exactly half the circle apart, neither is before the other.
 *
 * Data frames carry only the low 16 bits (semantics 4.4), so a sender has at most POSITION_WINDOW items that are not
 * acknowledged: then position_widen() is exact.
 *
 * Functions are pure.
 */
#ifndef WIRE_POSITION_H
#define WIRE_POSITION_H

#include <stdbool.h>
#include <stdint.h>

enum { POSITION_WINDOW = 0x7fff };

/* a comes before b: b - a is in 1..2^31 - 1. */
static inline bool position_before(uint32_t a, uint32_t b)
{
    return (uint32_t)(b - a) - 1 < 0x7fffffffu;
}

/* How far b is beyond a, -2^31..2^31 - 1; negative when b comes before a. position_ahead(a, a) is 0. */
static inline int32_t position_ahead(uint32_t a, uint32_t b)
{
    return (int32_t)(b - a);
}

/* The same for the low 16 bits: b - a is in 1..2^15 - 1. */
static inline bool position16_before(uint16_t a, uint16_t b)
{
    return (uint16_t)((uint16_t)(b - a) - 1) < 0x7fffu;
}

/*
 * Of the positions whose low 16 bits are `low`, the one nearest to `near`: it lies in near - 2^15 .. near + 2^15 - 1.
 * Exact for a frame's control position when `near` is the last item applied, because the sender is at most
 * POSITION_WINDOW ahead of that.
 */
static inline uint32_t position_widen(uint32_t near, uint16_t low)
{
    return near + (uint32_t)(int32_t)(int16_t)(uint16_t)(low - (uint16_t)near);
}

#endif
