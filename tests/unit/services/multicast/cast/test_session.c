/* SPDX-License-Identifier: Apache-2.0 */
/* One server's part of a message: what it keeps, what it gives its member, what it can give its children. */
#include "services/multicast/cast/session.h"

#include "fake_host.h"
#include "services/multicast/multicast.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

enum { PIECE = 64 };
static struct torus torus;
static struct trees *trees;
static cw_svc *host;
static struct cast_session *c;
static const struct cast_limits limits = {CW_SEC(2), CW_SEC(30)};
static const uint8_t rest[] = {255, 1, 'n', 'a', 'm', 'e'};
static int sink_says;
static unsigned written;

static void setup(cw_server self)
{
    const cw_dims dims = {3, 3, 1};
    ck_assert_int_eq(torus_init(&torus, dims), 0);
    ck_assert_int_eq(trees_open(&trees, &torus), 0);
    host = fake_open(&multicast_service, dims, torus_coord(&torus, self));
    sink_says = 0;
    written = 0;
}

static void teardown(void)
{
    ck_assert_uint_eq(fake_close(host), 0);
    trees_close(trees);
}

static struct cast_head message(uint64_t bytes)
{
    return (struct cast_head){.kind = CAST_OPEN,
                              .number = 1,
                              .bytes = bytes,
                              .piece_bytes = PIECE,
                              .servers = 9,
                              .label_bytes = 4,
                              .rest = rest,
                              .rest_bytes = sizeof rest};
}

static void open_at(cw_server self, uint64_t bytes)
{
    setup(self);
    struct cast_head h = message(bytes);
    ck_assert_int_eq(cast_session_open(&c, host, &torus, trees, &limits, &h), 0);
}

static int write_it(void *context, uint64_t offset, const uint8_t *bytes, size_t length)
{
    (void)context;
    (void)offset;
    (void)bytes;
    (void)length;
    written += sink_says == 0;
    return sink_says;
}

static int end(void *context, int status)
{
    (void)context;
    return status;
}

static void take_part(void)
{
    const struct cast_sink sink = {NULL, write_it, NULL, end};
    ck_assert_int_eq(cast_receiver_open(&c->in.receiver, &sink, &c->cut), 0);
    c->in.accepted = true;
}

static int put(uint8_t tree, uint32_t index, uint32_t piece)
{
    static const uint8_t bytes[PIECE];
    const struct cast_head d = {
        .kind = CAST_DATA, .tree = tree, .index = index, .piece = piece, .rest = bytes, .rest_bytes = PIECE};
    return cast_session_put(c, &d);
}

START_TEST(what_cannot_be)
{
    setup(4);
    struct cast_head h = message(100);
    h.servers = 8;
    ck_assert_int_eq(cast_session_open(&c, host, &torus, trees, &limits, &h), -EINVAL);
    h = message(100);
    h.origin = 9;
    ck_assert_int_eq(cast_session_open(&c, host, &torus, trees, &limits, &h), -EINVAL);
    h = message(100);
    h.number = 0;
    ck_assert_int_eq(cast_session_open(&c, host, &torus, trees, &limits, &h), -EINVAL);
    h = message(0);
    ck_assert_int_eq(cast_session_open(&c, host, &torus, trees, &limits, &h), -EINVAL);
    h = message(UINT64_C(1) << 50);
    ck_assert_int_eq(cast_session_open(&c, host, &torus, trees, &limits, &h), -E2BIG);
    teardown();
}
END_TEST

START_TEST(parts)
{
    open_at(4, 1000);
    ck_assert(c->wanted && !c->source && c->label_bytes == 4 && memcmp(c->label, "name", 4) == 0);
    ck_assert(c->edges == 0 || c->edge[0].id != 0);
    ck_assert(cast_session_quiet(c) == (c->edges == 0) && !cast_session_over(c));
    cast_session_close(c);
    teardown();
    open_at(0, 1000);
    ck_assert(c->source && !c->wanted && c->out.members.count == 8 && c->out.stripe.pieces == 16 && c->edges == 0);
    ck_assert_int_eq(put(0, 0, 0), -ERANGE); /* nobody gives the source its own */
    ck_assert(!cast_session_tree(c, 0, 5, 5));
    cast_session_close(c);
    teardown();
}
END_TEST

START_TEST(the_member_and_the_ring)
{
    open_at(4, 100 * PIECE);
    take_part();
    ck_assert_int_eq(put(1, 0, 0), -ERANGE); /* not open */
    ck_assert(!cast_session_tree(c, 1, 0, CAST_OPEN_ENDED));
    ck_assert(put(1, 0, 7) == 0 && put(1, 0, 7) == -EEXIST && put(1, 1, 100) == -ERANGE && written == 1);
    ck_assert_int_eq(put(1, 1000, 8), -ERANGE); /* the ring cannot keep it, the member has it all the same */
    ck_assert(!cast_receiver_lacks(&c->in.receiver, 8) && c->doubled == 1);
    const struct cast_head wrong = {
        .kind = CAST_DATA, .tree = 1, .index = 2, .piece = 9, .rest = rest, .rest_bytes = 3};
    ck_assert_int_eq(cast_session_put(c, &wrong), -EINVAL);
    ck_assert_uint_gt(cast_session_memory(c), CAST_WINDOW * PIECE);
    cast_receiver_stop(&c->in.receiver, -ECANCELED);
    cast_session_close(c);
    teardown();
}
END_TEST

/* A ring lets go of what all below have; a new child is given what is still there. */
START_TEST(the_base_advances)
{
    open_at(4, 100 * PIECE);
    ck_assert_uint_gt(c->edges, 0);
    uint8_t tree = c->edge[0].tree;
    cast_session_tree(c, tree, 0, CAST_OPEN_ENDED);
    for (uint32_t i = 0; i < 10; i++) {
        ck_assert_int_eq(put(tree, i, i), 0);
    }
    ck_assert(cast_session_advance(c, tree) == 0 && cast_session_whole(c, tree) == 10);
    for (unsigned i = 0; i < c->edges; i++) {
        c->edge[i].base = c->edge[i].tree == tree ? 6 + i : 0;
        c->edge[i].heard = true;
    }
    ck_assert_uint_eq(cast_session_advance(c, tree), 6);
    c->edge[0].base = 2; /* it says now that it has less */
    ck_assert_uint_eq(cast_session_advance(c, tree), 6);
    struct cast_holding mine = cast_session_holding(c, &c->edge[0]);
    ck_assert(mine.oldest == 0 && mine.base == 6 && mine.have[0] == 0xf);
    c->edge[0].out = true; /* nobody waits for it any more */
    for (unsigned i = 1; i < c->edges; i++) {
        c->edge[i].base = 10;
    }
    ck_assert_uint_eq(cast_session_advance(c, tree), 10);
    uint32_t id = c->edge[0].id;
    ck_assert_int_eq(cast_session_replan(c), 0);
    ck_assert(c->edge[0].id == id && c->edge[0].base == 2); /* nothing has changed: the same edges */
    cast_session_close(c);
    teardown();
}
END_TEST

START_TEST(the_sink_is_waited_for)
{
    open_at(4, 100 * PIECE);
    take_part();
    for (unsigned i = 0; i < c->edges; i++) {
        c->edge[i].out = true;
    }
    cast_session_tree(c, 1, 0, CAST_OPEN_ENDED);
    ck_assert_int_eq(put(1, 0, 0), 0);
    sink_says = -EAGAIN;
    ck_assert(put(1, 1, 1) == 0 && put(1, 2, 2) == 0 && cast_session_advance(c, 1) == 1);
    ck_assert_uint_eq(cast_session_whole(c, 1), 3); /* it can be passed on */
    cast_session_retry(c);
    ck_assert_uint_eq(cast_session_advance(c, 1), 1);
    sink_says = 0;
    cast_session_retry(c);
    ck_assert(cast_session_advance(c, 1) == 3 && written == 3);
    sink_says = -EAGAIN;
    ck_assert(put(1, 3, 3) == 0 && cast_session_advance(c, 1) == 3);
    fake_run(host, CW_SEC(3));
    cast_session_retry(c); /* no longer: it is left for a later round */
    ck_assert(cast_session_advance(c, 1) == 4 && cast_receiver_lacks(&c->in.receiver, 3));
    cast_receiver_stop(&c->in.receiver, -ECANCELED);
    cast_session_close(c);
    teardown();
}
END_TEST

/* A member that loses sight of the source keeps what it has of the trees, and reports anew. */
START_TEST(leaving)
{
    open_at(4, 8 * PIECE);
    take_part();
    ck_assert(!cast_session_tree(c, 1, 0, CAST_OPEN_ENDED));
    ck_assert(put(1, 0, 0) == 0 && put(1, 1, 1) == 0 && put(1, 3, 3) == 0);
    c->tree[1].up[0] = (struct cast_upstream){.edge = 7, .from = 1};
    c->in.over = c->in.reported = true;
    c->in.lack_at = 5;
    cast_session_leave(c);
    ck_assert(c->left && c->edges == 0 && c->tree[1].up[0].edge == 0);
    ck_assert(!c->in.over && !c->in.reported && c->in.lack_at == 0);
    ck_assert(c->tree[1].open && cast_session_whole(c, 1) == 2 && put(1, 3, 3) == -EEXIST);
    ck_assert(!cast_session_tree(c, 1, 1, CAST_OPEN_ENDED)); /* an OPEN of the same round: it goes on */
    ck_assert(put(1, 2, 2) == 0 && cast_session_whole(c, 1) == 4);
    cast_receiver_stop(&c->in.receiver, -ECANCELED);
    cast_session_close(c);
    teardown();
}
END_TEST

START_TEST(rounds)
{
    open_at(4, 4 * PIECE);
    take_part();
    for (cw_links left = trees_all(trees); left != 0; left &= (cw_links)(left - 1)) {
        uint8_t tree = (uint8_t)__builtin_ctz(left);
        ck_assert(!cast_session_over(c));
        ck_assert(!cast_session_tree(c, tree, 0, CAST_OPEN_ENDED));
        ck_assert(cast_session_tree(c, tree, tree == 0 ? 1 : 0, 1) && !cast_session_tree(c, tree, 0, 1));
        if (tree > 0) {
            ck_assert_int_eq(put(tree, 0, tree), 0);
        }
    }
    ck_assert(cast_session_over(c) && c->skipped == 1); /* the one of tree 0 does not come in this round */
    uint32_t id = c->edges > 0 ? c->edge[0].id : 0;
    ck_assert_int_eq(cast_session_round(c, 1, rest), 0);
    ck_assert(c->round == 1 && !c->tree[0].open && !cast_session_over(c) && (id == 0 || c->edge[0].id != id));
    cast_session_tree(c, 0, 0, 1);
    ck_assert_int_eq(put(0, 0, 0), 0);
    ck_assert(c->ended && c->in.receiver.status == 0 && written == 4);
    cast_session_close(c);
    teardown();
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(what_cannot_be),
                                          SUITE_TEST(parts),
                                          SUITE_TEST(the_member_and_the_ring),
                                          SUITE_TEST(the_base_advances),
                                          SUITE_TEST(the_sink_is_waited_for),
                                          SUITE_TEST(leaving),
                                          SUITE_TEST(rounds)};
SUITE_MAIN("cast_session", tests)
