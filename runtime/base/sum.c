/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sum.h"

#include "base/bytes.h"
#include "base/digest.h"

#include <string.h>

enum { LANES = 4, TURN = 27 };

/* Odd numbers with about as many ones as zeros and no pattern: the first of SplitMix64's sequence from 0, made odd. */
static const uint64_t factor[LANES] = {
    UINT64_C(0xe220a8397b1dcdaf),
    UINT64_C(0x6e789e6aa1b965f5),
    UINT64_C(0x06c45d188009454f),
    UINT64_C(0xf88bb8a8724c81ed),
};

struct lane {
    uint64_t state, states;
};

static inline void step(struct lane *lane, uint64_t word, uint64_t by)
{
    uint64_t v = lane->state ^ word;
    lane->state = (v << TURN | v >> (64 - TURN)) * by;
    lane->states += lane->state;
}

static inline void block(struct lane lane[LANES], const unsigned char *p)
{
    for (size_t i = 0; i < LANES; i++) {
        step(&lane[i], get_le64(p + 8 * i), factor[i]);
    }
}

uint64_t sum_of(uint64_t seed, const void *bytes, size_t size)
{
    const unsigned char *p = bytes;
    struct lane lane[LANES] = {{1, 0}, {2, 0}, {3, 0}, {4, 0}};
    size_t left = size;
    for (; left >= 8 * LANES; left -= 8 * LANES, p += 8 * LANES) {
        block(lane, p);
    }
    if (left > 0) {
        unsigned char rest[8 * LANES] = {0}; /* the size is digested too, so that these zeros are not taken for data */
        memcpy(rest, p, left);
        block(lane, rest);
    }
    uint64_t words[2 * LANES + 2] = {seed, size};
    for (size_t i = 0; i < LANES; i++) {
        words[2 + 2 * i] = lane[i].state;
        words[3 + 2 * i] = lane[i].states;
    }
    return digest_of_words(words, 2 * LANES + 2);
}
