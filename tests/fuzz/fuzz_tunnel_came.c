/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pieces from the torus, one behind the other, each behind two bytes that are its length: as they are, and with their
 * sum put right, so that what stands behind the sum is reached too. What is taken is joined, and what was joined can be
 * read again.
 */
#include "services/tunnel/head.h"
#include "services/tunnel/join.h"

#include "base/bytes.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct join join = {.udp = true};

static void write_out(void)
{
    struct ip_packet p, again;
    struct offload offload;
    if (join_take(&join, &p, &offload) && (ip_read(p.bytes, p.length, &again) != TUNNEL_GOOD ||
                                           again.heads != p.heads || !offload_fits(&again, &offload))) {
        abort();
    }
}

static void take(uint8_t *piece, size_t length)
{
    struct piece_head h;
    struct ip_packet p;
    if (piece_decode(piece, length, 1, 2, &h) != 0) {
        if (length <= TUNNEL_HEAD_BYTES) {
            return;
        }
        h = (struct piece_head){.kind = piece[6] % 2 == 0 ? PIECE_PLAIN : PIECE_PARTIAL, .number = 7};
        h.gso_size = h.kind == PIECE_PARTIAL ? get_be16(piece + 8) : 0;
        piece_encode(&h, 1, 2, piece, length);
        if (piece_decode(piece, length, 1, 2, &h) != 0) {
            abort();
        }
    }
    struct offload offload = {h.kind == PIECE_PARTIAL, h.gso_size};
    if (ip_read(piece + TUNNEL_HEAD_BYTES, length - TUNNEL_HEAD_BYTES, &p) != TUNNEL_GOOD ||
        !offload_fits(&p, &offload)) {
        return;
    }
    if (!join_add(&join, &p, &offload)) {
        write_out();
        if (!join_add(&join, &p, &offload)) {
            abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    while (size > 2) {
        size_t length = get_be16(data);
        length = length < size - 2 ? length : size - 2;
        uint8_t *piece = malloc(length == 0 ? 1 : length); /* exact: a sanitizer sees one byte too many */
        if (piece == NULL) {
            break;
        }
        memcpy(piece, data + 2, length);
        take(piece, length);
        free(piece);
        data += 2 + length;
        size -= 2 + length;
    }
    write_out();
    return 0;
}
