/* SPDX-License-Identifier: Apache-2.0 */
/* One server in the middle: what comes in is looked at, what goes out is read. */
#include "services/multicast/cast/flow.h"

#include "fake_host.h"
#include "services/multicast/multicast.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

enum { PIECE = 64, EDGE = 77 };
static struct torus torus;
static struct trees *trees;
static cw_svc *host;
static struct cast_session *c;
static uint8_t tree;
static uint32_t order;

static void setup(cw_server self)
{
    static const uint8_t everybody[2] = {255, 1};
    static const struct cast_limits limits = {CW_SEC(2), CW_SEC(30)};
    const cw_dims dims = {3, 3, 1};
    ck_assert_int_eq(torus_init(&torus, dims), 0);
    ck_assert_int_eq(trees_open(&trees, &torus), 0);
    host = fake_open(&multicast_service, dims, torus_coord(&torus, self));
    const struct cast_head h = {.kind = CAST_OPEN,
                                .number = 1,
                                .bytes = 100000,
                                .piece_bytes = PIECE,
                                .servers = 9,
                                .rest = everybody,
                                .rest_bytes = 2};
    ck_assert_int_eq(cast_session_open(&c, host, &torus, trees, &limits, &h), 0);
    ck_assert((c->edges > 0) == (self != 0)); /* the source's begin with its rounds */
    tree = c->edges > 0 ? c->edge[0].tree : 0;
    order = 0;
}

static void teardown(void)
{
    cast_session_close(c);
    ck_assert_uint_eq(fake_close(host), 0);
    trees_close(trees);
}

/* The next packet of a kind that was sent; false: none, and all others are gone too. */
static bool sent(enum cast_kind kind, struct cast_head *h, cw_server *to)
{
    static uint8_t bytes[FAKE_MTU];
    struct fake_send send;
    while (fake_take(host, &send)) {
        size_t length;
        const uint8_t *data = cw_packet_data(send.packet, &length);
        memcpy(bytes, data, length);
        fake_free(send.packet);
        ck_assert_int_eq(cast_head_decode(bytes, length, h), 0);
        if (h->kind == kind) {
            *to = send.to.process;
            return true;
        }
    }
    return false;
}

static int take(enum cast_kind kind, uint32_t index)
{
    static const uint8_t piece[PIECE];
    struct cast_head h = {.kind = kind, .tree = tree, .number = 1, .edge = EDGE, .order = ++order, .index = index};
    h.piece = index;
    h.length = CAST_OPEN_ENDED;
    h.rest = piece;
    h.rest_bytes = PIECE;
    return cast_flow_take(c, &h, 8);
}

START_TEST(an_open_is_answered_and_passed_on)
{
    struct cast_head h;
    cw_server to;
    setup(4);
    ck_assert_int_eq(take(CAST_DATA, 0), -ESTALE); /* of a tree that is not open */
    cast_flow_tick(c);
    ck_assert_uint_eq(fake_sends(host), 0); /* who has nothing asks nobody */
    ck_assert_int_eq(take(CAST_OPEN, 0), 0);
    ck_assert(sent(CAST_ACK, &h, &to) && to == 8 && h.edge == EDGE && h.order == order && h.index == 0);
    ck_assert(sent(CAST_OPEN, &h, &to) && h.edge == c->edge[0].id && h.bytes == 100000 && h.rest_bytes == 2);
    ck_assert(h.length == CAST_OPEN_ENDED && h.index == 0);
    teardown();
}
END_TEST

START_TEST(a_piece_is_passed_on_and_acknowledged)
{
    struct cast_head h, ack = {.kind = CAST_ACK};
    cw_server to;
    setup(4);
    ck_assert_int_eq(take(CAST_OPEN, 0), 0);
    struct cast_edge *e = &c->edge[0];
    cw_link link = (cw_link)__builtin_ctz(e->links);
    ck_assert_ptr_null(cast_flow_next(c, link));
    ack = (struct cast_head){.kind = CAST_ACK, .tree = tree, .edge = e->id, .order = e->order, .serial = 1};
    ck_assert_int_eq(cast_flow_take(c, &ack, e->to + 100), -ESTALE);
    ck_assert_int_eq(cast_flow_take(c, &ack, e->to), 0);
    while (sent(CAST_ACK, &h, &to)) {
    }
    for (uint32_t i = 0; i < 8; i++) {
        ck_assert(!sent(CAST_ACK, &h, &to));
        ck_assert_int_eq(take(CAST_DATA, i), 0);
    }
    ck_assert(sent(CAST_ACK, &h, &to) && to == 8 &&
              h.have[0] == 255); /* eight that the children do not have yet: at once */
    ck_assert_int_eq(take(CAST_DATA, 8), 0);
    ck_assert(!sent(CAST_ACK, &h, &to));
    order++;
    ck_assert_int_eq(take(CAST_DATA, 10), 0); /* one is missing: told at once */
    ck_assert(sent(CAST_ACK, &h, &to) && h.have[0] == 0x5ff);
    cw_packet *p = cast_flow_next(c, link);
    ck_assert_ptr_nonnull(p);
    size_t length;
    const uint8_t *data = cw_packet_data(p, &length);
    ck_assert_int_eq(cast_head_decode(data, length, &h), 0);
    ck_assert(h.kind == CAST_DATA && h.index == 0 && h.edge == e->id && h.rest_bytes == PIECE);
    cw_packet_free(host, p);
    ck_assert(cast_flow_links(c, tree) & cw_links_of(link));
    teardown();
}
END_TEST

/* Few pieces are told of when they have waited, and not at each beat. */
START_TEST(a_slow_piece_is_acknowledged_later)
{
    struct cast_head h;
    cw_server to;
    setup(4);
    ck_assert_int_eq(take(CAST_OPEN, 0), 0);
    ck_assert(sent(CAST_ACK, &h, &to));
    ck_assert_int_eq(take(CAST_DATA, 0), 0);
    fake_run(host, CW_MS(10));
    cast_flow_tick(c);
    ck_assert(!sent(CAST_ACK, &h, &to));
    ck_assert_int_eq(take(CAST_DATA, 1), 0);
    fake_run(host, CW_MS(6));
    cast_flow_tick(c);
    ck_assert(sent(CAST_ACK, &h, &to) && h.have[0] == 3);
    cast_flow_tick(c);
    ck_assert(!sent(CAST_ACK, &h, &to)); /* nothing is new */
    teardown();
}
END_TEST

/* A member that has ended. */
static void refuse(void)
{
    cast_receiver_refuse(&c->in.receiver, &c->cut, -ENOSPC);
    c->in.accepted = c->ended = true;
    c->in.report_at = cw_now(host);
}

START_TEST(the_end_is_said_until_it_is_heard)
{
    struct cast_head h;
    cw_server to;
    setup(4);
    refuse();
    for (int i = 0; i < 3; i++) {
        cast_flow_tick(c);
        ck_assert(sent(CAST_DONE, &h, &to) && to == 0 && h.status == -ENOSPC);
        cast_flow_tick(c);
        ck_assert(!sent(CAST_DONE, &h, &to));
        fake_run(host, CW_MS(20));
    }
    cast_flow_confirmed(c, 0); /* a LACK of before */
    ck_assert(!c->in.confirmed);
    cast_flow_confirmed(c, CAST_HEARD_DONE);
    cast_flow_tick(c);
    ck_assert(!sent(CAST_DONE, &h, &to) && c->in.confirmed);
    teardown();
}
END_TEST

static int no_end(void *context, int status)
{
    (void)context;
    return status;
}

static int keep(void *context, uint64_t offset, const uint8_t *bytes, size_t length)
{
    (void)context;
    (void)offset;
    (void)bytes;
    (void)length;
    return 0;
}

/* When all trees are over: chunk by chunk what is lacking, then that this was all. */
START_TEST(what_is_lacking_is_said)
{
    const struct cast_sink sink = {NULL, keep, NULL, no_end};
    struct cast_head h;
    cw_server to;
    setup(4);
    ck_assert_int_eq(cast_receiver_open(&c->in.receiver, &sink, &c->cut), 0);
    c->in.accepted = true;
    for (cw_links left = trees_all(trees); left != 0; left &= (cw_links)(left - 1)) {
        ck_assert(!sent(CAST_LACK, &h, &to));
        h = (struct cast_head){.kind = CAST_OPEN, .tree = (uint8_t)__builtin_ctz(left), .edge = EDGE, .order = 1};
        h.length = left & (left - 1) ? 0 : 4; /* of the last tree there comes something, but not the third */
        tree = h.tree;
        ck_assert_int_eq(cast_flow_take(c, &h, 8), 0);
    }
    order = 1;
    ck_assert(take(CAST_DATA, 0) == 0 && take(CAST_DATA, 1) == 0 && take(CAST_DATA, 3) == 0);
    ck_assert(!sent(CAST_LACK, &h, &to));
    h = (struct cast_head){.kind = CAST_OPEN, .tree = tree, .edge = EDGE, .order = 9, .index = 3, .length = 4};
    ck_assert_int_eq(cast_flow_take(c, &h, 8), 0); /* the third will not come by this tree */
    ck_assert(sent(CAST_LACK, &h, &to) && to == 0 && h.piece == 2 && h.count > 1 && h.missing == c->cut.pieces - 3);
    ck_assert(h.rest[0] == 0xfd);
    fake_run(host, CW_MS(5));
    cast_flow_tick(c);
    ck_assert(sent(CAST_LACK, &h, &to) && h.piece == 2);
    uint32_t all = 0;
    while (!c->in.reported) {
        cast_flow_confirmed(c, h.piece + 1); /* that was not said */
        ck_assert(!c->in.reported);
        cast_flow_confirmed(c, h.piece);
        all += h.count;
        cast_flow_tick(c);
        ck_assert(sent(CAST_LACK, &h, &to) != c->in.reported);
    }
    ck_assert_uint_eq(all, c->cut.pieces - 2);
    cast_receiver_stop(&c->in.receiver, -ECANCELED);
    teardown();
}
END_TEST

START_TEST(who_is_gone_hears_nothing)
{
    struct cast_head h;
    cw_server to;
    setup(4);
    ck_assert_int_eq(take(CAST_OPEN, 0), 0);
    while (sent(CAST_ACK, &h, &to)) {
    }
    cast_flow_gone(c, 8);
    const struct cast_head data = {.tree = tree, .rest = (const uint8_t[PIECE]){0}, .rest_bytes = PIECE};
    ck_assert_int_eq(cast_session_put(c, &data), 0);
    c->tree[tree].fresh = 1;
    cast_flow_tick(c);
    ck_assert(!sent(CAST_ACK, &h, &to));
    teardown();
    setup(0); /* nobody sends the source its own message */
    ck_assert_int_eq(take(CAST_OPEN, 0), -EINVAL);
    teardown();
}
END_TEST

/* A round that goes by others leaves nothing behind here. */
START_TEST(nothing_is_kept_for_nobody)
{
    setup(4);
    ck_assert(take(CAST_OPEN, 0) == 0 && take(CAST_DATA, 0) == 0);
    ck_assert_uint_gt(cast_ring_memory(&c->tree[tree].ring), 0);
    fake_run(host, CW_MS(1900));
    cast_flow_tick(c);
    ck_assert_uint_gt(cast_ring_memory(&c->tree[tree].ring), 0);
    fake_run(host, CW_MS(200));
    cast_flow_tick(c);
    ck_assert(cast_ring_memory(&c->tree[tree].ring) == 0 && c->tree[tree].ring.have[0] == 0);
    ck_assert_int_eq(take(CAST_DATA, 0), 0); /* should it come again, it is new */
    teardown();
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(an_open_is_answered_and_passed_on),
                                          SUITE_TEST(a_piece_is_passed_on_and_acknowledged),
                                          SUITE_TEST(a_slow_piece_is_acknowledged_later),
                                          SUITE_TEST(the_end_is_said_until_it_is_heard),
                                          SUITE_TEST(what_is_lacking_is_said),
                                          SUITE_TEST(who_is_gone_hears_nothing),
                                          SUITE_TEST(nothing_is_kept_for_nobody)};
SUITE_MAIN("cast_flow", tests)
