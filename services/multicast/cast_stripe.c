/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/cast_stripe.h"

#include <errno.h>

int cast_stripe_init(struct cast_stripe *s, uint64_t bytes, uint32_t piece_bytes, cw_links trees)
{
    *s = (struct cast_stripe){.bytes = bytes, .piece_bytes = piece_bytes};
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        if (trees & cw_links_of(link)) {
            s->number[link] = (uint8_t)s->trees;
            s->tree[s->trees++] = (uint8_t)link;
        }
    }
    if (s->trees == 0 || piece_bytes == 0) {
        return -EINVAL;
    }
    s->pieces = bytes / piece_bytes + (bytes % piece_bytes != 0) + 1;
    return s->pieces / s->trees >= UINT32_MAX / 2 ? -E2BIG : 0;
}

uint32_t cast_stripe_count(const struct cast_stripe *s, uint8_t tree)
{
    unsigned n = tree < CW_LINK_COUNT ? s->number[tree] : s->trees;
    if (n >= s->trees || s->tree[n] != tree) {
        return 0;
    }
    return (uint32_t)((s->pieces + s->trees - 1 - n) / s->trees);
}

uint64_t cast_stripe_piece(const struct cast_stripe *s, uint8_t tree, uint32_t index)
{
    return (uint64_t)index * s->trees + s->number[tree];
}

size_t cast_stripe_length(const struct cast_stripe *s, uint64_t piece)
{
    if (cast_stripe_trailer(s, piece)) {
        return CAST_TRAILER_BYTES;
    }
    uint64_t left = s->bytes - piece * s->piece_bytes;
    return left < s->piece_bytes ? (size_t)left : s->piece_bytes;
}
