/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dice.h - chance for tests: a seed gives the same values on every machine.
 */
#ifndef KIT_DICE_H
#define KIT_DICE_H

#include "cubeway/types.h"

/* splitmix64: one word of state, any seed. One draw a statement: the same values from every compiler. */
struct dice {
    uint64_t state;
};

static inline uint64_t dice_word(struct dice *d)
{
    uint64_t z = d->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static inline unsigned dice_below(struct dice *d, unsigned n)
{
    return (unsigned)((dice_word(d) >> 32) * n >> 32);
}

static inline cw_coord dice_coord(struct dice *d)
{
    uint64_t w = dice_word(d);
    return (cw_coord){(uint8_t)w, (uint8_t)(w >> 8), (uint8_t)(w >> 16)};
}

#endif
