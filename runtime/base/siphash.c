/* SPDX-License-Identifier: Apache-2.0 */
#include "base/siphash.h"

#include "base/sip.h"

enum { INPUT_ROUNDS = 2, FINAL_ROUNDS = 4, WORD = 8 };

/* The number whose count bytes these are, the least significant first; count is at most 8. */
static uint64_t load(const uint8_t *bytes, size_t count)
{
    uint64_t word = 0;
    for (size_t i = 0; i < count; i++) {
        word |= (uint64_t)bytes[i] << 8 * i;
    }
    return word;
}

static inline void take(uint64_t v[static 4], uint64_t word)
{
    v[3] ^= word;
    for (unsigned i = 0; i < INPUT_ROUNDS; i++) {
        sip_round(v);
    }
    v[0] ^= word;
}

static inline uint64_t end(uint64_t v[static 4])
{
    for (unsigned i = 0; i < FINAL_ROUNDS; i++) {
        sip_round(v);
    }
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

struct siphash_tag siphash(const struct siphash_key *key, const void *data, size_t size)
{
    const uint64_t k0 = key->word[0], k1 = key->word[1];
    uint64_t v[4] = {k0 ^ SIP_V0, k1 ^ SIP_V1 ^ 0xee, k0 ^ SIP_V2, k1 ^ SIP_V3};
    const uint8_t *bytes = data;
    for (size_t left = size; left >= WORD; left -= WORD, bytes += WORD) {
        take(v, load(bytes, WORD));
    }
    take(v, (uint64_t)size << 56 | load(bytes, size % WORD));
    struct siphash_tag tag;
    v[2] ^= 0xee;
    tag.word[0] = end(v);
    v[1] ^= 0xdd;
    tag.word[1] = end(v);
    return tag;
}
