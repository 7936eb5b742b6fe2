/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rng.h - chance for tests: SplitMix64 (Steele, Lea, Flood 2014), one word of state, the same numbers for a seed
 * everywhere.
 */
#ifndef KIT_RNG_H
#define KIT_RNG_H

#include <stdint.h>

struct rng {
    uint64_t state; /* any value is a seed */
};

static inline uint64_t rng_next(struct rng *r)
{
    uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* A number of 0..bound-1; bound > 0. The bias, bound / 2^64, is too small for any test to see. */
static inline uint64_t rng_below(struct rng *r, uint64_t bound)
{
    return (uint64_t)(((unsigned __int128)rng_next(r) * bound) >> 64);
}

#endif
