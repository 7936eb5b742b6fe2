/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/sorted/record.h"
#include "stream_town.h"
#include "suite.h"

#include <stdio.h>
#include <string.h>

static struct junction *junction;
static struct flow *flow;
static cw_server at, child;

/* A partition at a server between 8 and the root 0, which has one child there. */
static void open_one(struct fake_net *net)
{
    struct letter l = {.kind = LETTER_ANNOUNCE, .run = {0, 77, 1}, .attempt = 1, .partitions = 5, .each = 4096};
    l.open = STREAM_OPEN;
    l.servers = STREAM_TOWN;
    l.members[0] = 1 << 8;
    strcpy(l.wish.combine, "sum");
    flow = NULL;
    net->lose = 1;
    for (at = 1; at < 8; at++) {
        struct stream *st = stream_town_at(net, at);
        ck_assert_int_eq(junction_begin(st, &l, NULL), 0);
        junction = junction_find(st, &l.run);
        for (cw_link tree = 0; tree < CW_LINK_COUNT; tree++) {
            cw_links children = junction->plan.tree[tree].children;
            if (junction->plan.tree[tree].in && children != 0) {
                child = torus_neighbour(&st->torus, at, (cw_link)__builtin_ctz(children));
                flow = flow_open(junction, tree, 2, (cw_bytes){NULL, 0});
                return;
            }
        }
    }
    ck_abort_msg("nobody is on the way");
}

/* A block of the child with so many records of some 14 bytes, behind which more will come. */
static void feed(unsigned records)
{
    static uint8_t bytes[RECORD_BLOCK];
    const struct letter l = {.kind = LETTER_BLOCK, .partition = 2};
    struct record_writer w;
    record_writer_init(&w, bytes, sizeof bytes);
    for (unsigned i = 0; i < records; i++) {
        char key[24];
        int length = snprintf(key, sizeof key, "%03u%08u", i, 0);
        ck_assert_int_eq(
            record_write(&w, (cw_bytes){(const uint8_t *)key, (size_t)length}, (cw_bytes){(const uint8_t *)"1", 1}), 0);
    }
    ck_assert_int_eq(flow_block(flow, &l, child, bytes, w.used), 0);
    flow_pump(flow);
}

/* A block has left, and is on its way for ever: all packets are lost. */
static bool has_sent(struct fake_net *net)
{
    size_t lent = 0;
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        lent += stream_town_at(net, at)->lent[link];
    }
    return lent > 0;
}

START_TEST(two_milliseconds)
{
    struct fake_net *net = stream_town_open(NULL);
    open_one(net);
    flow_grant(flow, 4);
    feed(5);
    ck_assert(!has_sent(net));
    fake_net_run(net, CW_US(1900));
    ck_assert(!has_sent(net));
    fake_net_run(net, CW_US(200));
    ck_assert(has_sent(net));
    flow_free(flow);
    stream_town_close(net);
}
END_TEST

/* It waits for the parent's room, and as long again from there. */
START_TEST(without_room)
{
    struct fake_net *net = stream_town_open(NULL);
    open_one(net);
    feed(5);
    fake_net_run(net, CW_MS(5));
    ck_assert(!has_sent(net));
    flow_grant(flow, 1);
    flow_pump(flow);
    ck_assert(!has_sent(net));
    fake_net_run(net, CW_US(2100));
    ck_assert(has_sent(net));
    flow_free(flow);
    stream_town_close(net);
}
END_TEST

START_TEST(most_of_a_block_goes_at_once)
{
    struct fake_net *net = stream_town_open(NULL);
    open_one(net);
    flow_grant(flow, 4);
    feed(300);
    ck_assert(has_sent(net));
    flow_free(flow);
    stream_town_close(net);
}
END_TEST

/* A flow that ends while it holds a block is not looked at again. */
START_TEST(it_ends_before)
{
    struct fake_net *net = stream_town_open(NULL);
    open_one(net);
    flow_grant(flow, 4);
    feed(5);
    flow_free(flow);
    fake_net_run(net, CW_MS(5));
    stream_town_close(net);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(two_milliseconds), SUITE_TEST(without_room),
                                          SUITE_TEST(most_of_a_block_goes_at_once), SUITE_TEST(it_ends_before)};
SUITE_MAIN("held", tests)
