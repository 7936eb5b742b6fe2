/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/cast/ring.h"

#include "base/check.h"

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

void cast_bits_first(uint64_t have[2], uint32_t n)
{
    have[0] = n >= 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
    have[1] = n >= 128 ? UINT64_MAX : n <= 64 ? 0 : (UINT64_C(1) << (n - 64)) - 1;
}

uint32_t cast_bits_lowest(const uint64_t have[2])
{
    if (have[0] != 0) {
        return (uint32_t)__builtin_ctzll(have[0]);
    }
    return have[1] != 0 ? 64 + (uint32_t)__builtin_ctzll(have[1]) : CAST_WINDOW;
}

void cast_ring_init(struct cast_ring *r, uint32_t base, uint32_t piece_bytes)
{
    *r = (struct cast_ring){.base = base, .piece_bytes = piece_bytes};
}

void cast_ring_close(struct cast_ring *r)
{
    free(r->bytes);
    r->bytes = NULL;
    memset(r->length, 0, sizeof r->length);
}

size_t cast_ring_memory(const struct cast_ring *r)
{
    return r->bytes != NULL ? (size_t)CAST_WINDOW * r->piece_bytes : 0;
}

bool cast_ring_has(const struct cast_ring *r, uint32_t index)
{
    uint32_t slot = index % CAST_WINDOW;
    return r->length[slot] != 0 && r->index[slot] == index;
}

int cast_ring_put(struct cast_ring *r, const struct cast_head *data)
{
    if (data->index < r->base) {
        return -EEXIST;
    }
    uint32_t at = data->index - r->base, slot = data->index % CAST_WINDOW;
    if (at >= CAST_WINDOW) {
        return -ERANGE;
    }
    if (cast_bits_has(r->have, at)) {
        return -EEXIST;
    }
    if (data->rest_bytes > r->piece_bytes || data->rest_bytes == 0) {
        return -EMSGSIZE;
    }
    if (r->bytes == NULL && (r->bytes = malloc((size_t)CAST_WINDOW * r->piece_bytes)) == NULL) {
        return -ENOMEM;
    }
    memcpy(r->bytes + (size_t)slot * r->piece_bytes, data->rest, data->rest_bytes);
    r->length[slot] = (uint32_t)data->rest_bytes;
    r->index[slot] = data->index;
    r->piece[slot] = data->piece;
    r->sum[slot] = data->sum;
    cast_bits_add(r->have, at);
    return 0;
}

const uint8_t *cast_ring_get(const struct cast_ring *r, uint32_t index, struct cast_head *data)
{
    if (!cast_ring_has(r, index)) {
        return NULL;
    }
    uint32_t slot = index % CAST_WINDOW;
    data->index = index;
    data->piece = r->piece[slot];
    data->sum = r->sum[slot];
    data->rest = r->bytes + (size_t)slot * r->piece_bytes;
    data->rest_bytes = r->length[slot];
    return data->rest;
}

uint32_t cast_ring_whole(const struct cast_ring *r)
{
    const uint64_t lacks[2] = {~r->have[0], ~r->have[1]};
    return r->base + cast_bits_lowest(lacks);
}

uint32_t cast_ring_oldest(const struct cast_ring *r)
{
    uint32_t at = r->base;
    while (at > 0 && cast_ring_has(r, at - 1)) {
        at--;
    }
    return at;
}

void cast_ring_advance(struct cast_ring *r, uint32_t to)
{
    CHECK_RULE(to >= r->base, "multicast: the base of a ring never goes back within a round", "a ring");
    CHECK_RULE(to <= cast_ring_whole(r), "multicast: a base passes only pieces that are here", "a ring");
    cast_bits_down(r->have, to - r->base);
    r->base = to;
}

uint32_t cast_ring_skip(struct cast_ring *r, uint32_t to)
{
    if (to <= r->base) {
        return 0;
    }
    uint64_t below[2];
    cast_bits_first(below, to - r->base < CAST_WINDOW ? to - r->base : CAST_WINDOW);
    uint32_t there =
        (uint32_t)(__builtin_popcountll(below[0] & r->have[0]) + __builtin_popcountll(below[1] & r->have[1]));
    uint32_t missing = to - r->base - there;
    cast_bits_down(r->have, to - r->base);
    r->base = to;
    return missing;
}
