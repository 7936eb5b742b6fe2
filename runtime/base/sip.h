/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sip.h - SipRound, from Aumasson and Bernstein, "SipHash: a fast short-input PRF" (2012), figure 2.1: a permutation of
 * 256 bits. As a permutation it does not map two states to one; made of additions, rotations and exclusive ors, it maps
 * zero to zero, and no other state.
 */
#ifndef BASE_SIP_H
#define BASE_SIP_H

#include <stdint.h>

/* v0 .. v3 of an initial state: the ASCII of "somepseudorandomlygeneratedbytes" (same paper). */
#define SIP_V0 UINT64_C(0x736f6d6570736575)
#define SIP_V1 UINT64_C(0x646f72616e646f6d)
#define SIP_V2 UINT64_C(0x6c7967656e657261)
#define SIP_V3 UINT64_C(0x7465646279746573)

static inline uint64_t sip_rotate(uint64_t x, unsigned by)
{
    return x << by | x >> (64 - by);
}

static inline void sip_round(uint64_t v[static 4])
{
    v[0] += v[1];
    v[1] = sip_rotate(v[1], 13) ^ v[0];
    v[0] = sip_rotate(v[0], 32);
    v[2] += v[3];
    v[3] = sip_rotate(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = sip_rotate(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = sip_rotate(v[1], 17) ^ v[2];
    v[2] = sip_rotate(v[2], 32);
}

#endif
