/* SPDX-License-Identifier: Apache-2.0 */
#include "base/prng.h"
#include "base/sip.h"

#include <string.h>

/*
 * The triple and a constant are the 256-bit state of a permutation (sip.h), which is applied eight times: twice as
 * often as at the end of SipHash-2-4. So no two triples start from the same state; and as the constant is not zero, no
 * stream starts from zero, the one state that xoshiro cannot leave.
 */
struct prng prng_stream(uint64_t seed, uint64_t node, uint64_t purpose)
{
    struct prng p = {{seed ^ SIP_V0, node ^ SIP_V1, purpose ^ SIP_V2, SIP_V3}};
    for (int round = 0; round < 8; round++) {
        sip_round(p.s);
    }
    return p;
}

uint64_t prng_below_again(struct prng *p, uint64_t n, unsigned __int128 product)
{
    uint64_t biased = -n % n; /* 2^64 mod n */
    while ((uint64_t)product < biased) {
        product = (unsigned __int128)prng_next(p) * n;
    }
    return (uint64_t)(product >> 64);
}

/*
 * sum[k - 1] = ln 2 / 1! + ... + (ln 2)^k / k!, in units of 2^-64: below it, the least of k uniform numbers is enough.
 * (With k = infinity the sum is e^ln 2 - 1 = 1.)
 */
static const uint64_t sum[] = {
    0xb17217f7d1cf79ab, 0xeef193f6d75a96fc, 0xfd27186259aaf6c2, 0xff9d6dd050f4c5a7, 0xfff4cfcfef1e626b,
    0xfffee81886e1c62f, 0xffffe7fe850e0bb5, 0xfffffe2a8731b17d, 0xffffffdfac6eeadc, 0xfffffffdf9640067,
    0xffffffffe22ec79c, 0xfffffffffe6a9ded, 0xffffffffffebff81, 0xffffffffffff1417, 0xfffffffffffff5ce,
    0xffffffffffffff95, 0xfffffffffffffffb,
};
enum { SUMS = sizeof sum / sizeof *sum };

/*
 * Exponential with mean 1, in units of 2^-64: Algorithm S of Knuth, The Art of Computer Programming, volume 2, 3.4.1
 * (after Marsaglia, Sibuya and Ahrens). An exponential number modulo ln 2 is independent of how many times ln 2 it
 * contains, and that is the length of a run of ones. Exact but for the last bit, without a logarithm; 69 % of all cases
 * need one draw only.
 */
static unsigned __int128 exponential(struct prng *p)
{
    const uint64_t ln2 = sum[0];
    uint64_t ones = 0;
    uint64_t u = prng_next(p);
    while (u == UINT64_MAX) {
        ones += 64;
        u = prng_next(p);
    }
    unsigned run = (unsigned)__builtin_clzll(~u);
    ones += run;
    u = u << run << 1; /* past the ones and the zero that ends them */
    if (u < ln2) {
        return (unsigned __int128)ones * ln2 + u;
    }
    uint64_t least = prng_next(p);
    for (unsigned k = 1; k < SUMS && u >= sum[k - 1]; k++) {
        uint64_t draw = prng_next(p);
        least = draw < least ? draw : least;
    }
    return (unsigned __int128)ones * ln2 + (uint64_t)((unsigned __int128)least * ln2 >> 64);
}

cw_span prng_span_exponential(struct prng *p, cw_span mean)
{
    CHECK(mean.ns >= 0);
    unsigned __int128 e = exponential(p);
    unsigned __int128 whole = (unsigned __int128)mean.ns * (uint64_t)(e >> 64);
    unsigned __int128 part = (unsigned __int128)mean.ns * (uint64_t)e;
    unsigned __int128 ns = whole + ((part + (UINT64_C(1) << 63)) >> 64);
    return (cw_span){ns < INT64_MAX ? (int64_t)ns : INT64_MAX};
}

static void swap(unsigned char *a, unsigned char *b, size_t size)
{
    unsigned char held[64];
    while (size != 0) {
        size_t part = size < sizeof held ? size : sizeof held;
        memcpy(held, a, part);
        memcpy(a, b, part);
        memcpy(b, held, part);
        a += part;
        b += part;
        size -= part;
    }
}

void prng_shuffle(struct prng *p, void *base, size_t count, size_t size)
{
    unsigned char *object = base;
    for (size_t left = count; left > 1; left--) {
        size_t chosen = prng_below(p, left);
        if (chosen != left - 1) {
            swap(object + chosen * size, object + (left - 1) * size, size);
        }
    }
}
