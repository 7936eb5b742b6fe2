/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/cast_ring.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

void cast_bits_down(uint64_t have[2], uint32_t n)
{
    if (n >= 128) {
        have[0] = have[1] = 0;
    } else if (n >= 64) {
        have[0] = have[1] >> (n - 64);
        have[1] = 0;
    } else if (n > 0) {
        have[0] = have[0] >> n | have[1] << (64 - n);
        have[1] >>= n;
    }
}

void cast_bits_up(uint64_t have[2], uint32_t n)
{
    if (n >= 128) {
        have[0] = have[1] = 0;
    } else if (n >= 64) {
        have[1] = have[0] << (n - 64);
        have[0] = 0;
    } else if (n > 0) {
        have[1] = have[1] << n | have[0] >> (64 - n);
        have[0] <<= n;
    }
}

int cast_ring_open(struct cast_ring *r, uint32_t base, uint32_t pieces, uint32_t piece_bytes)
{
    *r = (struct cast_ring){.base = base, .pieces = pieces, .piece_bytes = piece_bytes};
    r->bytes = malloc((size_t)CAST_WINDOW * piece_bytes);
    return r->bytes != NULL ? 0 : -ENOMEM;
}

void cast_ring_close(struct cast_ring *r)
{
    free(r->bytes);
    r->bytes = NULL;
    r->have[0] = r->have[1] = 0;
}

size_t cast_ring_memory(const struct cast_ring *r)
{
    return r->bytes != NULL ? (size_t)CAST_WINDOW * r->piece_bytes : 0;
}

bool cast_ring_has(const struct cast_ring *r, uint32_t index)
{
    return index >= r->base && index - r->base < CAST_WINDOW && cast_bits_has(r->have, index - r->base);
}

int cast_ring_put(struct cast_ring *r, uint32_t index, const uint8_t *bytes, size_t length, uint64_t sum)
{
    if (index < r->base || cast_ring_has(r, index)) {
        return -EEXIST;
    }
    if (index >= r->pieces || index - r->base >= CAST_WINDOW || r->bytes == NULL) {
        return -ERANGE;
    }
    if (length > r->piece_bytes) {
        return -EMSGSIZE;
    }
    uint32_t at = index - r->base, slot = index % CAST_WINDOW;
    memcpy(r->bytes + (size_t)slot * r->piece_bytes, bytes, length);
    r->length[slot] = (uint32_t)length;
    r->sum[slot] = sum;
    r->have[at / 64] |= UINT64_C(1) << at % 64;
    return 0;
}

const uint8_t *cast_ring_get(const struct cast_ring *r, uint32_t index, size_t *length, uint64_t *sum)
{
    if (!cast_ring_has(r, index)) {
        return NULL;
    }
    uint32_t slot = index % CAST_WINDOW;
    *length = r->length[slot];
    *sum = r->sum[slot];
    return r->bytes + (size_t)slot * r->piece_bytes;
}

uint32_t cast_ring_whole(const struct cast_ring *r)
{
    if (~r->have[0] != 0) {
        return r->base + (uint32_t)__builtin_ctzll(~r->have[0]);
    }
    return r->base + 64 + (~r->have[1] != 0 ? (uint32_t)__builtin_ctzll(~r->have[1]) : 64);
}

void cast_ring_advance(struct cast_ring *r, uint32_t to)
{
    assert(to >= r->base && to <= cast_ring_whole(r));
    cast_bits_down(r->have, to - r->base);
    r->base = to;
}

void cast_ring_rewind(struct cast_ring *r, uint32_t to)
{
    if (to < r->base) {
        cast_bits_up(r->have, r->base - to);
        r->base = to;
    }
}
