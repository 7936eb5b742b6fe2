/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/cast/head.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static uint8_t bytes[256];

static struct cast_head full(enum cast_kind kind)
{
    return (struct cast_head){
        .kind = kind, .tree = kind < CAST_DONE ? 5 : 0, .round = 0x1234, .origin = 26, .number = 0x8877665544332211};
}

static int through(const struct cast_head *h, size_t rest, struct cast_head *out)
{
    memset(bytes, 0x5c, sizeof bytes);
    cast_head_encode(h, bytes);
    return cast_head_decode(bytes, cast_head_bytes(h->kind) + rest, out);
}

static void same_name(const struct cast_head *a, const struct cast_head *b)
{
    ck_assert(a->kind == b->kind && a->tree == b->tree && a->origin == b->origin && a->number == b->number);
    ck_assert(a->round == b->round && a->piece == b->piece && a->count == b->count && a->missing == b->missing);
    ck_assert(a->edge == b->edge && a->order == b->order && a->index == b->index && a->sum == b->sum);
}

START_TEST(every_kind_comes_back)
{
    struct cast_head out, h = full(CAST_OPEN);
    h.edge = 1;
    h.order = 2;
    h.index = 3;
    h.piece_bytes = 8920;
    h.bytes = UINT64_C(1) << 40;
    h.servers = 27;
    h.length = CAST_OPEN_ENDED;
    h.content = CAST_FILE;
    h.label_bytes = 11;
    memset(h.id, 0x77, sizeof h.id);
    ck_assert_int_eq(through(&h, 15, &out), 0);
    same_name(&h, &out);
    ck_assert(out.piece_bytes == 8920 && out.bytes == h.bytes && out.length == CAST_OPEN_ENDED && out.servers == 27);
    ck_assert(out.content == CAST_FILE && out.label_bytes == 11 && memcmp(out.id, h.id, CAST_ID_BYTES) == 0);
    ck_assert(out.rest == bytes + CAST_OPEN_HEAD && out.rest_bytes == 15);
    h = full(CAST_DATA);
    h.edge = 1;
    h.order = 2;
    h.index = 3;
    h.sum = 4;
    h.piece = 99;
    ck_assert_int_eq(through(&h, 9, &out), 0);
    same_name(&h, &out);
    ck_assert(out.rest == bytes + CAST_DATA_HEAD && out.rest_bytes == 9);
    h = full(CAST_ACK);
    h.edge = 1;
    h.order = 2;
    h.index = 3;
    h.serial = 5;
    h.length = 77;
    h.have[0] = 6;
    h.have[1] = UINT64_C(1) << 63;
    ck_assert_int_eq(through(&h, 0, &out), 0);
    same_name(&h, &out);
    ck_assert(out.serial == 5 && out.length == 77 && out.have[0] == 6 && out.have[1] == UINT64_C(1) << 63);
    h = full(CAST_DONE);
    h.status = -EBADMSG;
    h.sum = 9;
    ck_assert_int_eq(through(&h, 0, &out), 0);
    same_name(&h, &out);
    ck_assert_int_eq(out.status, -EBADMSG);
    h = full(CAST_LACK);
    h.piece = 7;
    h.count = 9;
    h.missing = 8;
    ck_assert_int_eq(through(&h, 2, &out), 0);
    same_name(&h, &out);
    ck_assert_uint_eq(out.rest_bytes, 2);
    ck_assert_int_eq(through(&h, 0, &out), 0); /* all nine */
    h = full(CAST_HEARD);
    h.piece = 6;
    ck_assert_int_eq(through(&h, 0, &out), 0);
    same_name(&h, &out);
    h = full(CAST_STOP);
    h.status = -ETIMEDOUT;
    ck_assert_int_eq(through(&h, 0, &out), 0);
    same_name(&h, &out);
    ck_assert_int_eq(out.status, -ETIMEDOUT);
}
END_TEST

START_TEST(no_other_length)
{
    struct cast_head out;
    for (int kind = CAST_OPEN; kind <= CAST_STOP; kind++) {
        struct cast_head h = full((enum cast_kind)kind);
        h.servers = 27;
        h.piece_bytes = 64;
        size_t rest = kind == CAST_OPEN ? 4 : kind == CAST_DATA ? 1 : 0;
        ck_assert_int_eq(through(&h, rest, &out), 0);
        for (size_t n = 0; n < cast_head_bytes(h.kind) + rest; n++) {
            ck_assert_int_eq(cast_head_decode(bytes, n, &out), -EBADMSG);
        }
        ck_assert(kind == CAST_DATA || through(&h, rest + 1, &out) == -EBADMSG);
    }
}
END_TEST

START_TEST(nonsense_is_refused)
{
    struct cast_head out, h = full(CAST_DATA);
    static const size_t at[] = {0, 1};
    for (size_t i = 0; i < 2; i++) {
        ck_assert_int_eq(through(&h, 8, &out), 0);
        bytes[at[i]] = 77;
        ck_assert_int_eq(cast_head_decode(bytes, CAST_DATA_HEAD + 8, &out), -EBADMSG);
    }
    h = full(CAST_OPEN);
    h.servers = 27;
    h.piece_bytes = CAST_PIECE_LEAST - 1;
    ck_assert_int_eq(through(&h, 4, &out), -EBADMSG);
    h.piece_bytes = CAST_PIECE_MOST + 1;
    ck_assert_int_eq(through(&h, 4, &out), -EBADMSG);
    h.piece_bytes = 64;
    h.label_bytes = CAST_LABEL_MOST + 1;
    ck_assert_int_eq(through(&h, 4, &out), -EBADMSG);
    h = full(CAST_DONE);
    h.status = -5000;
    ck_assert_int_eq(through(&h, 0, &out), -EBADMSG);
    h = full(CAST_LACK);
    h.count = 9;
    ck_assert_int_eq(through(&h, 1, &out), -EBADMSG);
    h.piece = UINT32_MAX - 8;
    ck_assert_int_eq(through(&h, 2, &out), -EBADMSG);
}
END_TEST

START_TEST(sums_know_their_place)
{
    const uint8_t piece[3] = {1, 2, 3};
    uint64_t sum = cast_sum(2, piece, 3);
    ck_assert(sum == cast_sum(2, piece, 3) && sum != cast_sum(1, piece, 3) && sum != cast_sum(2, piece, 2));
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(every_kind_comes_back), SUITE_TEST(no_other_length),
                                          SUITE_TEST(nonsense_is_refused), SUITE_TEST(sums_know_their_place)};
SUITE_MAIN("cast_head", tests)
