/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/cast_session.h"

#include "base/bytes.h"
#include "fake_host.h"
#include "services/multicast/multicast.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

enum { PIECE = 64 };
static struct torus torus;
static struct trees *trees;
static cw_svc *host;
static const uint8_t everybody[2] = {255, 1};

static void setup(cw_server self)
{
    const cw_dims dims = {3, 3, 1};
    ck_assert_int_eq(torus_init(&torus, dims), 0);
    ck_assert_int_eq(trees_open(&trees, &torus), 0);
    host = fake_open(&multicast_service, dims, torus_coord(&torus, self));
}

static void teardown(void)
{
    ck_assert_uint_eq(fake_close(host), 0);
    trees_close(trees);
}

static struct cast_head message(uint64_t bytes)
{
    return (struct cast_head){.kind = CAST_OPEN,
                              .origin = 0,
                              .number = 1,
                              .tag = 99,
                              .bytes = bytes,
                              .piece_bytes = PIECE,
                              .servers = 9,
                              .rest = everybody,
                              .rest_bytes = 2};
}

static struct cast_session *open_at(cw_server self, uint64_t bytes)
{
    struct cast_session *c;
    setup(self);
    struct cast_head h = message(bytes);
    ck_assert_int_eq(cast_session_open(&c, host, &torus, trees, &h), 0);
    return c;
}

START_TEST(what_cannot_be)
{
    struct cast_session *c;
    setup(4);
    struct cast_head h = message(100);
    h.servers = 8;
    ck_assert_int_eq(cast_session_open(&c, host, &torus, trees, &h), -EINVAL);
    h = message(100);
    h.origin = 9;
    ck_assert_int_eq(cast_session_open(&c, host, &torus, trees, &h), -EINVAL);
    h = message(100);
    h.number = 0;
    ck_assert_int_eq(cast_session_open(&c, host, &torus, trees, &h), -EINVAL);
    h = message(100);
    h.piece_bytes = 65;
    ck_assert_int_eq(cast_session_open(&c, host, &torus, trees, &h), -EINVAL);
    h = message(UINT64_C(1) << 50);
    ck_assert_int_eq(cast_session_open(&c, host, &torus, trees, &h), -E2BIG);
    teardown();
}
END_TEST

/* What the source makes, the member takes; a bit that is not the source's is seen. */
static int through(bool spoil, uint64_t bytes)
{
    struct cast_session *source = open_at(0, bytes), *member;
    cw_svc *there = fake_open(&multicast_service, (cw_dims){3, 3, 1}, (cw_coord){1, 1, 0});
    struct cast_head open = message(bytes);
    ck_assert_int_eq(cast_session_open(&member, there, &torus, trees, &open), 0);
    ck_assert(source->source && !member->source && member->wanted);
    uint8_t piece[PIECE];
    for (uint64_t g = 0; g < source->stripe.pieces; g++) {
        struct cast_head d = {.kind = CAST_DATA, .tree = source->stripe.tree[g % source->stripe.trees], .rest = piece};
        d.index = (uint32_t)(g / source->stripe.trees);
        ck_assert_int_eq(cast_session_tree(member, d.tree, 0), 0);
        struct cast_mine mine = cast_session_mine(source, d.tree);
        ck_assert(d.index < mine.end); /* also the trailer, now that all others were made */
        d.rest_bytes = cast_session_make(source, d.tree, d.index, piece, &d.sum);
        if (spoil && g == 1) {
            piece[3] ^= 4;
        }
        ck_assert_int_eq(cast_session_put(member, &d), 0);
        ck_assert_int_eq(cast_session_put(member, &d), -EEXIST);
        d.rest_bytes++;
        ck_assert_int_eq(cast_session_put(member, &d), -EINVAL);
    }
    ck_assert(member->ended && member->sum == source->sum && !cast_session_quiet(member));
    ck_assert_uint_eq(member->doubled, source->stripe.pieces);
    int status = member->status;
    cast_session_close(member);
    cast_session_close(source);
    ck_assert_uint_eq(fake_close(there), 0);
    teardown();
    return status;
}

START_TEST(every_byte)
{
    for (uint64_t bytes = 1; bytes < 5000; bytes += 61) {
        ck_assert_int_eq(through(false, bytes), 0);
    }
    ck_assert_int_eq(through(true, 1000), -EBADMSG);
}
END_TEST

START_TEST(the_trailer_waits)
{
    struct cast_session *c = open_at(0, 4 * PIECE); /* pieces 0 to 3, the trailer is the second of the first tree */
    uint8_t piece[PIECE];
    uint64_t sum;
    ck_assert_uint_eq(cast_session_mine(c, c->stripe.tree[0]).end, 1);
    for (unsigned t = 0; t < 4; t++) {
        cast_session_make(c, c->stripe.tree[t], 0, piece, &sum);
    }
    ck_assert_uint_eq(cast_session_mine(c, c->stripe.tree[0]).end, 2);
    ck_assert_uint_eq(cast_session_make(c, c->stripe.tree[0], 1, piece, &sum), CAST_TRAILER_BYTES);
    ck_assert(get_be64(piece) == c->sum);
    cast_session_close(c);
    teardown();
}
END_TEST

START_TEST(who_comes_late)
{
    struct cast_session *c = open_at(4, 100000);
    ck_assert_int_eq(cast_session_tree(c, c->stripe.tree[0], 7), 0);
    ck_assert(c->late && c->ended && c->status == -ESTALE);
    ck_assert_int_eq(cast_session_tree(c, c->stripe.tree[1], 9), 0);
    ck_assert_uint_eq(c->tree[c->stripe.tree[1]].ring.base, 9);
    cast_session_close(c);
    teardown();
    c = open_at(4, 100000); /* there from the first piece on: a sender that has let go of some is asked for them */
    ck_assert_int_eq(cast_session_tree(c, c->stripe.tree[0], 0), 0);
    ck_assert_int_eq(cast_session_tree(c, c->stripe.tree[1], 9), 0);
    ck_assert(!c->late && !c->ended && c->tree[c->stripe.tree[1]].ring.base == 0);
    ck_assert_uint_gt(cast_session_memory(c), (size_t)2 * CAST_WINDOW * PIECE);
    cast_session_close(c);
    teardown();
}
END_TEST

/* A ring lets go of what all below have, and goes back when one of them begins anew. */
START_TEST(settles_and_goes_back)
{
    struct cast_session *c = open_at(4, 100000);
    uint8_t piece[PIECE] = {0};
    unsigned at = 0;
    ck_assert_uint_gt(c->edges, 0);
    uint8_t tree = c->edge[at].tree;
    ck_assert_int_eq(cast_session_tree(c, tree, 0), 0);
    for (uint32_t i = 0; i < 10; i++) {
        struct cast_head d = {.kind = CAST_DATA, .tree = tree, .index = i, .rest = piece, .rest_bytes = PIECE};
        ck_assert_int_eq(cast_session_put(c, &d), 0);
    }
    ck_assert_uint_eq(cast_session_settle(c, tree), 0);
    for (unsigned i = 0; i < c->edges; i++) {
        c->edge[i].base = c->edge[i].tree == tree ? 6 + i : 0;
    }
    ck_assert_uint_eq(cast_session_settle(c, tree), 6);
    ck_assert(!cast_ring_has(&c->tree[tree].ring, 5) && cast_ring_has(&c->tree[tree].ring, 6));
    c->edge[at].base = 2;
    ck_assert_uint_eq(cast_session_settle(c, tree), 2);
    ck_assert(!cast_ring_has(&c->tree[tree].ring, 2) && cast_ring_has(&c->tree[tree].ring, 6));
    uint32_t id = c->edge[at].id;
    ck_assert_int_eq(cast_session_replan(c), 0);
    ck_assert(c->edge[at].id == id && c->edge[at].base == 2); /* nothing has changed: the same edges */
    cast_session_close(c);
    teardown();
}
END_TEST

START_TEST(the_book)
{
    setup(0);
    host->down[3] = true;
    struct cast_session *c;
    struct cast_head h = message(100);
    ck_assert_int_eq(cast_session_open(&c, host, &torus, trees, &h), 0);
    ck_assert(c->book_count == 8 && c->book_open == 7);
    for (cw_server i = 1; i < 9; i++) {
        ck_assert(cast_session_mark(c, i, i == 2 ? -EBADMSG : 0) == (i == 8));
        ck_assert(!cast_session_mark(c, i, 0)); /* once */
    }
    ck_assert(c->book[1].state == CAST_LOST && c->book[1].status == -EBADMSG && c->book[0].state == CAST_HAS);
    ck_assert(c->book[2].state == CAST_LOST && c->book[2].status == -ENETUNREACH);
    cast_session_close(c);
    teardown();
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(what_cannot_be),        SUITE_TEST(every_byte),
                                          SUITE_TEST(the_trailer_waits),     SUITE_TEST(who_comes_late),
                                          SUITE_TEST(settles_and_goes_back), SUITE_TEST(the_book)};
SUITE_MAIN("cast_session", tests)
