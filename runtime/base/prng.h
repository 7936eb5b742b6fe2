/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prng.h - chance that can be replayed: a stream gives the same draws on every machine, with every compiler and in
 * every build. Integers only.
 *
 * Each user of chance has a stream of its own, which is made from (the run's seed, node, purpose), so that one more
 * draw in one place changes nothing anywhere else. Different triples always start from different states (prng.c). Not
 * for secrets: whoever sees a few draws can compute the rest.
 *
 * The generator is xoshiro256** 1.0 (Blackman and Vigna, "Scrambled linear pseudorandom number generators", ACM TOMS
 * 2021): 32 bytes, period 2^256 - 1, less than a nanosecond a draw.
 */
#ifndef BASE_PRNG_H
#define BASE_PRNG_H

#include "base/check.h"
#include "cubeway/time.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A plain value: a copy is a second stream with the same future. The four words are not all zero. */
struct prng {
    uint64_t s[4];
};

struct prng prng_stream(uint64_t seed, uint64_t node, uint64_t purpose);

static inline uint64_t prng_rotate(uint64_t x, unsigned by)
{
    return x << by | x >> (64 - by);
}

/*
 * 64 bits that follow from two numbers, for those who draw a few values of a seed and want no stream: the finalizer of
 * SplitMix64 (Steele, Lea, Flood 2014) over both.
 */
static inline uint64_t prng_mix(uint64_t seed, uint64_t salt)
{
    uint64_t z = seed * UINT64_C(0x9e3779b97f4a7c15) + salt * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* 64 random bits. */
static inline uint64_t prng_next(struct prng *p)
{
    uint64_t *s = p->s;
    uint64_t result = prng_rotate(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = prng_rotate(s[3], 45);
    return result;
}

/* For prng_below(): a draw that it may not be able to use without bias. */
uint64_t prng_below_again(struct prng *p, uint64_t n, unsigned __int128 product);

/*
 * Uniform in 0 .. n - 1, without bias; n is at least 1. This is the high word of draw * n, and it draws again when the
 * low word is one of the 2^64 mod n values that would favour some results; it divides only when that is possible at all
 * (Lemire, "Fast random integer generation in an interval", ACM TOMACS 2019, algorithm 5).
 */
static inline uint64_t prng_below(struct prng *p, uint64_t n)
{
    CHECK(n != 0);
    unsigned __int128 product = (unsigned __int128)prng_next(p) * n;
    if (__builtin_expect((uint64_t)product < n, 0)) {
        return prng_below_again(p, n, product);
    }
    return (uint64_t)(product >> 64);
}

/*
 * True in numerator of denominator cases on average, exactly: with a numerator of 0 it is always false, with one of
 * denominator or more always true. denominator is at least 1.
 */
static inline bool prng_chance(struct prng *p, uint64_t numerator, uint64_t denominator)
{
    return prng_below(p, denominator) < numerator;
}

/* Uniform from least to most, both included; 0 <= least <= most. */
static inline cw_span prng_span(struct prng *p, cw_span least, cw_span most)
{
    CHECK(0 <= least.ns && least.ns <= most.ns);
    return (cw_span){least.ns + (int64_t)prng_below(p, (uint64_t)(most.ns - least.ns) + 1)};
}

/*
 * Exponentially distributed with that mean, which is at least 0: the gap to the next arrival of a Poisson process.
 * Rounded to whole nanoseconds; saturates.
 */
cw_span prng_span_exponential(struct prng *p, cw_span mean);

/*
 * Puts the count objects of size bytes at base into a random order; all orders are equally likely (Fisher and Yates).
 */
void prng_shuffle(struct prng *p, void *base, size_t count, size_t size);

#endif
