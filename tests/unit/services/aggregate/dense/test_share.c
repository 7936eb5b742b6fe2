/* SPDX-License-Identifier: Apache-2.0 */
/* test_share.c - a long result at all members, with a multicast that the test makes fail. */
#include "dense_town.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

enum { LONG = 20001, TWO_PIECES = 600001 /* 4.8 MB */ };

static struct fake_net *net;

static bool all_have(const struct town_plan *plan, uint32_t who)
{
    for (cw_server s = 0; s < TOWN_SERVERS; s++) {
        const struct town_call *c = &town_calls[s];
        if ((who >> s & 1) != 0 && (c->ends != 1 || c->status != 0 ||
                                    memcmp(c->out, town_calls[plan->root].out, plan->elements * sizeof *c->out) != 0)) {
            return false;
        }
    }
    return true;
}

static void begin(const struct town_plan *plan)
{
    net = town_open();
    town_multicast_open(net);
    fake_net_run(net, CW_MS(1));
    town_reduce_all(net, plan);
}

START_TEST(everybody)
{
    const struct town_plan plan = {
        .name = "a", .root = 4, .members = 0x7ffffff, .elements = LONG, .flags = CW_REDUCE_TO_ALL};
    begin(&plan);
    fake_net_run(net, CW_SEC(1));
    ck_assert(all_have(&plan, 0x7ffffff));
    ck_assert(town_right(&plan, 0x7ffffff));
    town_close(net);
}
END_TEST

/* Pieces that did not arrive come again, and nobody is told the end before. */
START_TEST(again)
{
    const struct town_plan plan = {
        .name = "a", .root = 4, .members = 0x1f, .elements = TWO_PIECES, .flags = CW_REDUCE_TO_ALL};
    begin(&plan);
    town_multicast.fail = 1 << 3 | 1 << 1;
    town_multicast.busy = 3;
    fake_net_run(net, CW_MS(120));
    for (cw_server s = 0; s < 5; s++) {
        ck_assert_uint_eq(town_calls[s].ends, 0);
    }
    town_multicast.fail = 0;
    fake_net_run(net, CW_SEC(1));
    ck_assert(all_have(&plan, 0x1f));
    town_close(net);
}
END_TEST

/* A member that dies before all have it: with the usual flags all fail, without it the others get what names it. */
START_TEST(one_dies)
{
    for (unsigned without = 0; without < 2; without++) {
        const struct town_plan plan = {.name = "a",
                                       .root = 4,
                                       .members = 0xff,
                                       .elements = LONG,
                                       .flags = CW_REDUCE_TO_ALL | (without != 0 ? CW_REDUCE_WITHOUT : 0)};
        begin(&plan);
        town_multicast.fail = 1 << 3;
        fake_net_run(net, CW_MS(300));
        town_lose(net, 3);
        fake_net_run(net, CW_SEC(1));
        if (without != 0) {
            ck_assert(all_have(&plan, 0xf7));
            ck_assert(town_right(&plan, 0xff));
        } else {
            for (cw_server s = 0; s < 8; s++) {
                ck_assert(s == 3 || town_calls[s].status == -ECONNRESET);
            }
        }
        town_close(net);
    }
}
END_TEST

/* A multicast that says that a member has it is not enough: the member is asked. */
START_TEST(member_has_not)
{
    const struct town_plan plan = {
        .name = "a", .root = 4, .members = 0xff, .elements = LONG, .flags = CW_REDUCE_TO_ALL};
    begin(&plan);
    town_multicast.swallow = 1 << 6;
    fake_net_run(net, CW_SEC(1));
    for (cw_server s = 0; s < 8; s++) {
        ck_assert_int_eq(town_calls[s].status, -ECONNRESET);
    }
    ck_assert(town_calls[4].named);
    town_close(net);
}
END_TEST

START_TEST(no_multicast)
{
    const struct town_plan plan = {
        .name = "a", .root = 4, .members = 0xff, .elements = LONG, .flags = CW_REDUCE_TO_ALL};
    net = town_open();
    fake_net_run(net, CW_MS(1));
    town_reduce_all(net, &plan);
    fake_net_run(net, CW_SEC(1));
    ck_assert_int_eq(town_calls[4].status, -EOPNOTSUPP);
    ck_assert_int_eq(town_calls[1].status, -EOPNOTSUPP);
    town_close(net);
}
END_TEST

/* The root, or a member, has no multicast: all are told at the announcement, before a block was sent, and of whom. */
START_TEST(one_without_multicast)
{
    for (cw_server s = 3; s < 5; s++) {
        const struct town_plan plan = {
            .name = "a", .root = 4, .members = 0xff, .elements = LONG, .flags = CW_REDUCE_TO_ALL};
        net = town_open();
        town_multicast_open(net);
        fake_net_run(net, CW_MS(1));
        share_close(town_dense(net, s));
        town_reduce_all(net, &plan);
        fake_net_run(net, CW_MS(50));
        for (cw_server at = 0; at < 8; at++) {
            ck_assert_int_eq(town_calls[at].status, -EOPNOTSUPP);
        }
        ck_assert(town_calls[4].named);
        ck_assert_uint_eq(torus_id(&net->torus, town_calls[4].who), s);
        ck_assert_uint_eq(town_multicast.sends, 0);
        town_close(net);
    }
}
END_TEST

/* A server where nobody listens, for longer than a server may take to start, ends the reduction by its name. */
START_TEST(nobody_listens)
{
    const struct town_plan plan = {
        .name = "a", .root = 4, .members = 0xff, .elements = LONG, .flags = CW_REDUCE_TO_ALL};
    begin(&plan);
    town_multicast.fail = 1 << 3;
    town_multicast.status = -ENOENT;
    fake_net_run(net, CW_MS(400));
    ck_assert_uint_eq(town_calls[4].ends, 0);
    fake_net_run(net, CW_SEC(3));
    for (cw_server at = 0; at < 8; at++) {
        ck_assert_int_eq(town_calls[at].status, -EOPNOTSUPP);
    }
    ck_assert_uint_eq(torus_id(&net->torus, town_calls[4].who), 3);
    ck_assert_uint_lt(town_multicast.sends, 16); /* the pauses between them are doubled */
    town_close(net);
}
END_TEST

/* A multicast that is closing ends all that it has: nothing is given to it from within. */
START_TEST(multicast_closes)
{
    const struct town_plan plan = {
        .name = "a", .root = 4, .members = 0xff, .elements = LONG, .flags = CW_REDUCE_TO_ALL};
    begin(&plan);
    town_multicast.cancels = true;
    town_multicast.fail = 0xff;
    fake_net_run(net, CW_MS(40));
    ck_assert_uint_eq(town_multicast.sends, 1); /* the next comes with a tick */
    town_multicast.cancels = false;
    town_multicast.fail = 0;
    fake_net_run(net, CW_SEC(1));
    ck_assert(all_have(&plan, 0xff));
    town_close(net);
}
END_TEST

/* The result's pieces are as they must be, or they count for nothing. */
START_TEST(pieces_that_do_not_fit)
{
    const struct town_plan plan = {
        .name = "a", .root = 4, .members = 0x1f, .elements = TWO_PIECES, .flags = CW_REDUCE_TO_ALL};
    enum { EACH = 4 * 1024 * 1024 / sizeof(uint64_t), LAST = TWO_PIECES - EACH };
    static uint8_t bytes[4 * 1024 * 1024 + 64];
    begin(&plan);
    town_multicast.fail = 0xff;
    fake_net_run(net, CW_MS(120));
    struct dense *d = town_dense(net, 1);
    const struct member *m = container_of(list_first(&d->members), struct member, link);
    for (unsigned fault = 0; fault < 6; fault++) {
        struct message piece = {.kind = MESSAGE_RESULT, .run = m->run, .attempt = 1, .first = EACH};
        piece.piece = fault == 1 ? 0 : 1;
        piece.pieces = fault == 2 ? UINT32_MAX : fault == 3 ? 3 : 2;
        piece.first -= fault == 4;
        size_t n = fault == 5 ? LAST - 1 : LAST;
        message_encode(&piece, bytes);
        town_multicast_deliver(4, 1, bytes, MESSAGE_RESULT_HEAD + n * sizeof(uint64_t));
        ck_assert_uint_eq(m->held_count, 1); /* the first one was good */
        ck_assert_uint_eq(m->held_pieces, 2);
        ck_assert(!share_has(m, 1));
    }
    town_multicast.fail = 0;
    fake_net_run(net, CW_SEC(1));
    ck_assert_int_eq(town_calls[2].status, 0);
    town_close(net);
}
END_TEST

/* Both pieces that are under way are looked at; and whoever has all of them waits as long as the root does. */
START_TEST(who_is_slow)
{
    const struct town_plan plan = {
        .name = "a", .root = 4, .members = 0x1f, .elements = TWO_PIECES, .flags = CW_REDUCE_TO_ALL, .limit = CW_SEC(1)};
    begin(&plan);
    town_multicast.fail = 1 << 3;
    fake_net_run(net, CW_MS(120));
    struct reducer *r = reducer_of_run(town_dense(net, 4), &(struct run_name){4, town_dense(net, 4)->life, 1});
    ck_assert_ptr_nonnull(r);
    ck_assert_uint_eq(share_waits(r)[0], 1 << 3);
    for (unsigned i = 0; i < 8; i++) {
        fake_net_run(net, CW_MS(500));
        reducer_moved(r); /* by another piece, to another server */
    }
    for (cw_server s = 0; s < 3; s++) {
        ck_assert_uint_eq(town_calls[s].ends, 0);
    }
    fake_net_run(net, CW_SEC(2));
    for (cw_server s = 0; s < 3; s++) {
        ck_assert_int_eq(town_calls[s].status, -ETIMEDOUT);
        ck_assert_uint_eq(torus_id(&net->torus, town_calls[s].who), 3);
    }
    town_close(net);
}
END_TEST

START_TEST(cancelled)
{
    const struct town_plan plan = {
        .name = "a", .root = 4, .members = 0xff, .elements = LONG, .flags = CW_REDUCE_TO_ALL};
    begin(&plan);
    town_multicast.fail = 1 << 3;
    fake_net_run(net, CW_MS(300));
    ck_assert_int_eq(dense_cancel(town_dense(net, 4), net, town_calls[4].ticket), 0);
    fake_net_run(net, CW_SEC(1));
    ck_assert_int_eq(town_calls[1].status, -ECANCELED);
    town_close(net);
}
END_TEST

START_TEST(broadcast)
{
    const struct town_plan plan = {
        .name = "a", .root = 4, .members = 0xff, .elements = LONG, .flags = CW_REDUCE_TO_ALL | CW_REDUCE_FROM_ROOT};
    begin(&plan);
    fake_net_run(net, CW_SEC(1));
    for (cw_server s = 0; s < 8; s++) {
        ck_assert_int_eq(town_calls[s].status, 0);
        ck_assert(s == 4 || memcmp(town_calls[s].out, town_calls[4].in, plan.elements * sizeof(uint64_t)) == 0);
    }
    town_close(net);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(one_without_multicast),
                                          SUITE_TEST(nobody_listens),
                                          SUITE_TEST(multicast_closes),
                                          SUITE_TEST(pieces_that_do_not_fit),
                                          SUITE_TEST(who_is_slow),
                                          SUITE_TEST(everybody),
                                          SUITE_TEST(again),
                                          SUITE_TEST(one_dies),
                                          SUITE_TEST(member_has_not),
                                          SUITE_TEST(no_multicast),
                                          SUITE_TEST(cancelled),
                                          SUITE_TEST(broadcast)};
SUITE_MAIN("share", tests)
