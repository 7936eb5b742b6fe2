/* SPDX-License-Identifier: Apache-2.0 */
#include "services/transport/arrivals.h"

#include <string.h>

enum { BITS = ARRIVALS_WORDS * 64 };

bool arrivals_has(const struct arrivals *a, uint32_t packet)
{
    uint32_t behind = a->newest - packet;
    if (!a->any || behind > BITS) {
        return false;
    }
    return behind == 0 || (a->word[(behind - 1) / 64] >> (behind - 1) % 64 & 1);
}

/* Every bit is of a packet `count` further back now. */
static void shift(struct arrivals *a, uint32_t count)
{
    if (count >= BITS) {
        memset(a->word, 0, sizeof a->word);
        return;
    }
    unsigned whole = count / 64, part = count % 64;
    for (unsigned w = ARRIVALS_WORDS; w-- > 0;) {
        uint64_t high = w >= whole ? a->word[w - whole] << part : 0;
        uint64_t low = part != 0 && w >= whole + 1 ? a->word[w - whole - 1] >> (64 - part) : 0;
        a->word[w] = high | low;
    }
}

void arrivals_note(struct arrivals *a, uint32_t packet, cw_time now)
{
    if (!a->any) {
        *a = (struct arrivals){.any = true, .newest = packet, .at = now};
        return;
    }
    uint32_t ahead = packet - a->newest;
    if (ahead == 0) {
        return;
    }
    if ((int32_t)ahead < 0) {
        uint32_t behind = 0 - ahead;
        if (behind <= BITS) {
            a->word[(behind - 1) / 64] |= UINT64_C(1) << (behind - 1) % 64;
        }
        return;
    }
    shift(a, ahead);
    if (ahead <= BITS) {
        a->word[(ahead - 1) / 64] |= UINT64_C(1) << (ahead - 1) % 64;
    }
    a->newest = packet;
    a->at = now;
}

unsigned arrivals_words(const struct arrivals *a)
{
    unsigned words = ARRIVALS_WORDS;
    while (words > 0 && a->word[words - 1] == 0) {
        words--;
    }
    return words;
}
