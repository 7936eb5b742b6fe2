/* SPDX-License-Identifier: Apache-2.0 */
/* Server 1 on the way of a reduction to server 0: blocks of its child, which come in any pieces. */
#include "dense_town.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

enum { SELF = 1, ROOT = 0, ELEMENTS = 100, BYTES = 8 * ELEMENTS };
static struct fake_net *net;
static struct dense *d;
static struct vertex *v;
static struct message announce, block;
static uint64_t elements[ELEMENTS];
static cw_link tree;    /* in which it has a child */
static cw_server below; /* the child */

static void setup(void)
{
    net = town_open();
    d = town_dense(net, SELF);
    announce = (struct message){.kind = MESSAGE_ANNOUNCE, .run = {ROOT, 77, 1}, .attempt = 1, .servers = TOWN_SERVERS};
    announce.spec = (struct spec){CW_NUMBER_UINT64, CW_COMBINE_SUM, 0, 10 * ELEMENTS};
    announce.each = ELEMENTS;
    announce.window = 4;
    announce.ahead = 8;
    for (cw_server s = 2; s < TOWN_SERVERS; s++) {
        trees_set_add(announce.members, s);
    }
    ck_assert_int_eq(vertex_begin(d, &announce, NULL), 0);
    v = vertex_find(d, &announce.run);
    for (tree = 0; v->plan.tree[tree].children == 0; tree++) {
    }
    below = torus_neighbour(&d->torus, SELF, (cw_link)__builtin_ctz(v->plan.tree[tree].children));
    memset(announce.members, 0, sizeof announce.members);
    trees_set_add(announce.members, below); /* now it is the only child */
    announce.attempt = 2;
    ck_assert_int_eq(vertex_begin(d, &announce, NULL), 0);
    v = vertex_find(d, &announce.run);
    ck_assert_int_eq(__builtin_popcount(v->plan.tree[tree].children), 1);
    struct message deal = {.kind = MESSAGE_DEAL, .run = announce.run, .attempt = 2, .tree = (uint8_t)tree, .runs = 1};
    deal.deal[0] = (struct deal_run){3, 2};
    ck_assert_int_eq(vertex_deal(d, &deal, v->plan.tree[tree].parent), 0);
    block = (struct message){.kind = MESSAGE_BLOCK, .run = announce.run, .attempt = 2, .tree = (uint8_t)tree};
    block.block = 3;
    block.bytes = BYTES;
    for (uint64_t i = 0; i < ELEMENTS; i++) {
        elements[i] = i * UINT64_C(0x9e3779b97f4a7c15);
    }
}

static int piece(size_t offset, size_t length)
{
    return parts_piece(d, &block, below, offset, (const uint8_t *)elements + offset, length);
}

static struct column_slot *slot(void)
{
    return column_slot(&v->column[tree], 0);
}

/* Pieces that end anywhere, also within an element: the same bytes, and never half an element on its way up. */
START_TEST(any_pieces)
{
    for (size_t length = 1; length <= 33; length++) {
        setup();
        ck_assert_int_eq(parts_begin(d, &block, below), 0);
        for (size_t at = 0; at < BYTES; at += length) {
            ck_assert_int_eq(piece(at, at + length < BYTES ? length : BYTES - at), 0);
            size_t end = at + length < BYTES ? at + length : BYTES;
            SUITE_HOLDS(column_common(&v->column[tree], 0) == end - end % 8, "pieces of %zu", length);
        }
        SUITE_HOLDS(memcmp(column_memory(&v->column[tree], 0), elements, BYTES) == 0, "pieces of %zu", length);
        ck_assert_int_eq(parts_whole(d, &block, below), 0);
        ck_assert(!v->broken);
        town_close(net);
    }
}
END_TEST

/* It goes to the parent with its first element. */
START_TEST(goes_on_early)
{
    setup();
    ck_assert_int_eq(parts_begin(d, &block, below), 0);
    ck_assert_int_eq(piece(0, 7), 0);
    ck_assert_int_eq(slot()->state, COLUMN_WAITING);
    ck_assert_int_eq(piece(7, 9), 0);
    ck_assert_int_eq(slot()->state, COLUMN_LENT);
    ck_assert(v->lent[tree]);
    town_close(net);
}
END_TEST

/* What cannot be makes the attempt void. */
START_TEST(pieces_that_do_not_fit)
{
    setup();
    ck_assert_int_eq(piece(0, 8), -ESTALE); /* it has not begun */
    ck_assert(!v->broken);
    for (unsigned fault = 0; fault < 4; fault++) {
        town_close(net);
        setup();
        ck_assert_int_eq(parts_begin(d, &block, below), 0);
        ck_assert_int_eq(piece(0, 8), 0);
        struct message m = block;
        m.block += fault == 2;
        int rc = fault == 0   ? piece(16, 8)
                 : fault == 1 ? parts_piece(d, &block, below, 8, (const uint8_t *)elements, BYTES)
                 : fault == 2 ? parts_piece(d, &m, below, 8, (const uint8_t *)elements, 8)
                              : parts_begin(d, &block, below);
        SUITE_HOLDS(rc == -EPROTO && v->broken, "fault %u: %d", fault, rc);
        SUITE_HOLDS(piece(8, 8) == -ESTALE, "fault %u", fault);
    }
    town_close(net);
}
END_TEST

/* One of an earlier attempt changes nothing (aggregate rule 2), nor is one taken for whole that is not. */
START_TEST(old_or_short)
{
    setup();
    ck_assert_int_eq(parts_begin(d, &block, below), 0);
    ck_assert_int_eq(piece(0, 8), 0);
    block.attempt = 1;
    ck_assert_int_eq(piece(8, 8), -ESTALE);
    block.attempt = 2;
    ck_assert_int_eq(parts_whole(d, &block, below), -ESTALE);
    ck_assert_uint_ne(slot()->missing, 0);
    town_close(net);
}
END_TEST

/* Its sender had no room for it, and sends it again; when a part of it was here, the attempt is void. */
START_TEST(lost)
{
    setup();
    ck_assert_int_eq(parts_begin(d, &block, below), 0);
    parts_lost(d, &block, below, -ENOBUFS);
    ck_assert(!v->broken);
    ck_assert_int_eq(parts_begin(d, &block, below), 0);
    ck_assert_int_eq(piece(0, 3), 0);
    parts_lost(d, &block, below, -ECONNRESET);
    ck_assert(v->broken);
    town_close(net);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(any_pieces), SUITE_TEST(goes_on_early),
                                          SUITE_TEST(pieces_that_do_not_fit), SUITE_TEST(old_or_short),
                                          SUITE_TEST(lost)};
SUITE_MAIN("parts", tests)
