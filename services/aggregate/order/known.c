/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/order/known.h"

#include "base/prng.h"

static uint64_t word(uint64_t i)
{
    return prng_mix(i, UINT64_C(0x6b6e6f776e)) | 1;
}

static uint64_t factor(cw_server server)
{
    return 2 * (uint64_t)server + 1;
}

void known_fill(cw_server server, uint64_t first, size_t count, uint64_t *out)
{
    for (size_t i = 0; i < count; i++) {
        out[i] = word(first + i) * factor(server);
    }
}

uint64_t known_wrong(const uint64_t *set, cw_server servers, const uint64_t *elements, uint64_t count)
{
    uint64_t factors = 0, wrong = 0;
    for (cw_server s = 0; s < servers; s++) {
        factors += (set[s / 64] >> s % 64 & 1) != 0 ? factor(s) : 0;
    }
    for (uint64_t i = 0; i < count; i++) {
        wrong += elements[i] != word(i) * factors;
    }
    return wrong;
}
