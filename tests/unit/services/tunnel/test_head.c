/* SPDX-License-Identifier: Apache-2.0 */
#include "services/tunnel/head.h"

#include "base/bytes.h"
#include "bits.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

enum { LENGTH = TUNNEL_HEAD_BYTES + 60 };

static uint8_t piece[LENGTH];

static struct piece_head make(void)
{
    struct piece_head h = {.kind = PIECE_PARTIAL, .strand = 31, .gso_size = 1448, .life = 0xbeef, .number = 0x12345678};
    memset(piece, 0x5c, sizeof piece);
    piece_encode(&h, 3, 26, piece, LENGTH);
    return h;
}

START_TEST(there_and_back)
{
    struct piece_head h = make(), out;
    ck_assert_int_eq(piece_decode(piece, LENGTH, 3, 26, &out), 0);
    ck_assert_int_eq(out.kind, h.kind);
    ck_assert_uint_eq(out.strand, h.strand);
    ck_assert_uint_eq(out.gso_size, h.gso_size);
    ck_assert_uint_eq(out.life, h.life);
    ck_assert_uint_eq(out.number, h.number);
}
END_TEST

START_TEST(as_the_picture_says)
{
    (void)make();
    uint8_t drawn[TUNNEL_HEAD_BYTES] = {0};
    struct bits b = {.bytes = drawn};
    bits_put(&b, 48, (uint64_t)get_be16(piece) << 32 | get_be32(piece + 2));
    bits_put(&b, 8, 2);
    bits_put(&b, 8, 31);
    bits_put(&b, 16, 1448);
    bits_put(&b, 16, 0xbeef);
    bits_put(&b, 32, 0x12345678);
    ck_assert_uint_eq(b.count, 8 * TUNNEL_HEAD_BYTES);
    ck_assert_mem_eq(piece, drawn, sizeof drawn);
}
END_TEST

START_TEST(any_damaged_bit_is_found)
{
    struct piece_head out;
    (void)make();
    for (unsigned i = 0; i < 8 * LENGTH; i++) {
        piece[i / 8] ^= (uint8_t)(1 << i % 8);
        int rc = piece_decode(piece, LENGTH, 3, 26, &out);
        SUITE_HOLDS(rc == -EBADMSG || (rc == -EPROTO && i / 8 >= 6 && i / 8 < 10), "bit %u: %d", i, rc);
        piece[i / 8] ^= (uint8_t)(1 << i % 8);
    }
    ck_assert_int_eq(piece_decode(piece, LENGTH, 3, 26, &out), 0);
    ck_assert_int_eq(piece_decode(piece, LENGTH, 26, 3, &out), -EBADMSG);
    ck_assert_int_eq(piece_decode(piece, LENGTH, 3, 25, &out), -EBADMSG);
    ck_assert_int_eq(piece_decode(piece, LENGTH - 1, 3, 26, &out), -EBADMSG);
}
END_TEST

START_TEST(impossible_ones)
{
    struct piece_head out;
    for (size_t length = 0; length <= TUNNEL_HEAD_BYTES; length++) {
        SUITE_HOLDS(piece_decode(piece, length, 3, 26, &out) == -EPROTO);
    }
    (void)make();
    piece[6] = 3;
    ck_assert_int_eq(piece_decode(piece, LENGTH, 3, 26, &out), -EPROTO);
    piece[6] = PIECE_PLAIN; /* with a gso size */
    ck_assert_int_eq(piece_decode(piece, LENGTH, 3, 26, &out), -EPROTO);
    piece[6] = PIECE_PARTIAL;
    piece[7] = TUNNEL_STRANDS;
    ck_assert_int_eq(piece_decode(piece, LENGTH, 3, 26, &out), -EPROTO);
}
END_TEST

START_TEST(not_to_be_written)
{
    struct piece_head h = {.kind = PIECE_PLAIN, .gso_size = 1};
    piece_encode(&h, 1, 2, piece, LENGTH);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(there_and_back),  SUITE_TEST(as_the_picture_says), SUITE_TEST(any_damaged_bit_is_found),
    SUITE_TEST(impossible_ones), SUITE_ABORTS(not_to_be_written),
};
SUITE_MAIN("head", tests)
