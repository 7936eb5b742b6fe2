/* SPDX-License-Identifier: Apache-2.0 */
#include "services/tunnel/head.h"

#include "base/bytes.h"
#include "base/sum.h"

#include <errno.h>

enum { SUM_BYTES = 6, KIND = 6, STRAND = 7, GSO_SIZE = 8, LIFE = 10, NUMBER = 12 };

static uint64_t sum48(cw_server from, cw_server to, const uint8_t *piece, size_t length)
{
    uint64_t sum = sum_of((uint64_t)from << 32 | to, piece + SUM_BYTES, length - SUM_BYTES);
    return sum & ((UINT64_C(1) << 48) - 1);
}

static uint64_t get_sum(const uint8_t *piece)
{
    return (uint64_t)get_be16(piece) << 32 | get_be32(piece + 2);
}

static bool possible(const struct piece_head *h)
{
    return (h->kind == PIECE_PLAIN || h->kind == PIECE_PARTIAL) && h->strand < TUNNEL_STRANDS &&
           (h->gso_size == 0 || h->kind == PIECE_PARTIAL);
}

void piece_encode(const struct piece_head *h, cw_server from, cw_server to, uint8_t *piece, size_t length)
{
    CHECK(possible(h) && length >= TUNNEL_HEAD_BYTES);
    piece[KIND] = (uint8_t)h->kind;
    piece[STRAND] = h->strand;
    put_be16(piece + GSO_SIZE, h->gso_size);
    put_be16(piece + LIFE, h->life);
    put_be32(piece + NUMBER, h->number);
    uint64_t sum = sum48(from, to, piece, length);
    put_be16(piece, (uint16_t)(sum >> 32));
    put_be32(piece + 2, (uint32_t)sum);
}

int piece_decode(const uint8_t *piece, size_t length, cw_server from, cw_server to, struct piece_head *out)
{
    if (length <= TUNNEL_HEAD_BYTES) {
        return -EPROTO;
    }
    *out = (struct piece_head){.kind = (enum piece_kind)piece[KIND],
                               .strand = piece[STRAND],
                               .gso_size = get_be16(piece + GSO_SIZE),
                               .life = get_be16(piece + LIFE),
                               .number = get_be32(piece + NUMBER)};
    if (!possible(out)) {
        return -EPROTO;
    }
    return get_sum(piece) == sum48(from, to, piece, length) ? 0 : -EBADMSG;
}
