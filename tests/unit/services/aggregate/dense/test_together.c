/* SPDX-License-Identifier: Apache-2.0 */
/* test_together.c - JOINs and ENDs over a tree: few messages, and the same results whoever is late, lost, or lies. */
#include "dense_town.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

enum { EVERYBODY = 0x7ffffff, ROOT = 4, LATE = 5 };

static struct fake_net *net;
static const struct town_plan plan = {
    .name = "a", .root = ROOT, .members = EVERYBODY, .elements = 3, .flags = CW_REDUCE_TO_ALL};

static uint64_t taken(cw_server s)
{
    struct transport_stats stats = {.size = sizeof stats};
    transport_stats(town_dense(net, s)->call, &stats);
    return stats.taken;
}

static bool all_right(void)
{
    for (cw_server s = 0; s < TOWN_SERVERS; s++) {
        const struct town_call *c = &town_calls[s];
        if (c->ends != 1 || c->status != 0 || memcmp(c->out, town_calls[ROOT].out, 3 * sizeof *c->out) != 0) {
            return false;
        }
    }
    return town_right(&plan, EVERYBODY);
}

static unsigned gatherings(void)
{
    unsigned all = 0;
    for (cw_server s = 0; s < TOWN_SERVERS; s++) {
        all += town_dense(net, s)->gathering_count;
    }
    return all;
}

/* The root hears of all from its neighbours, each of which is told the end once. */
START_TEST(few_messages)
{
    net = town_open();
    for (cw_server s = 0; s < TOWN_SERVERS; s++) {
        (void)town_reduce(net, s, &plan);
    }
    fake_net_run(net, CW_MS(20));
    ck_assert(all_right());
    ck_assert_uint_le(taken(ROOT), 2 * CW_LINK_COUNT);
    for (cw_server s = 0; s < TOWN_SERVERS; s++) {
        SUITE_HOLDS(s == ROOT || taken(s) <= CW_LINK_COUNT + 1, "server %u", s);
    }
    ck_assert_uint_eq(gatherings(), 0);
    town_close(net);
}
END_TEST

/* Whoever calls last holds up nobody longer than its own call: what had come before is with the root by then. */
START_TEST(late)
{
    net = town_open();
    for (cw_server s = 0; s < TOWN_SERVERS; s++) {
        if (s != LATE) {
            (void)town_reduce(net, s, &plan);
        }
    }
    fake_net_run(net, CW_MS(100));
    ck_assert_uint_eq(town_calls[ROOT].ends, 0);
    (void)town_reduce(net, LATE, &plan);
    fake_net_run(net, CW_US(500));
    ck_assert(all_right());
    town_close(net);
}
END_TEST

/* Members that are far from one another need no others: nobody else hears of the run. */
START_TEST(members_alone)
{
    const struct town_plan three = {.name = "a", .root = 0, .members = 1 | 1 << 13 | 1 << 26, .elements = 3};
    net = town_open();
    town_reduce_all(net, &three);
    fake_net_run(net, CW_MS(20));
    ck_assert_int_eq(town_calls[0].status, 0);
    ck_assert(town_right(&three, three.members));
    for (cw_server s = 0; s < TOWN_SERVERS; s++) {
        SUITE_HOLDS((three.members >> s & 1) != 0 || taken(s) == 0, "server %u", s);
    }
    town_close(net);
}
END_TEST

/* A server on the way is lost with what it holds: the members ask for themselves. */
START_TEST(lost_on_the_way)
{
    const struct town_plan without = {
        .name = "a", .root = ROOT, .members = EVERYBODY, .elements = 3, .flags = CW_REDUCE_TO_ALL | CW_REDUCE_WITHOUT};
    net = town_open();
    for (cw_server s = 0; s < TOWN_SERVERS; s++) {
        if (s != LATE) {
            (void)town_reduce(net, s, &without); /* the late one is the root's neighbour, and has not called */
        }
    }
    town_lose(net, LATE);
    fake_net_run(net, CW_SEC(4));
    ck_assert_int_eq(town_calls[ROOT].status, 0);
    ck_assert(town_right(&without, EVERYBODY & ~(1U << LATE)));
    for (cw_server s = 0; s < TOWN_SERVERS; s++) {
        SUITE_HOLDS(s == LATE || (town_calls[s].ends == 1 && town_calls[s].status == 0), "server %u", s);
    }
    ck_assert_uint_eq(gatherings(), 0);
    town_close(net);
}
END_TEST

/* One means another operation: all hear of it. */
START_TEST(disagreement)
{
    struct town_plan other = plan;
    other.combine = CW_COMBINE_MAX;
    net = town_open();
    for (cw_server s = 0; s < TOWN_SERVERS; s++) {
        (void)town_reduce(net, s, s == LATE ? &other : &plan);
    }
    fake_net_run(net, CW_SEC(1));
    for (cw_server s = 0; s < TOWN_SERVERS; s++) {
        SUITE_HOLDS(town_calls[s].ends == 1 && town_calls[s].status == -EINVAL, "server %u", s);
    }
    town_close(net);
}
END_TEST

/* A name that was used: the member hears of it, though its JOIN came with others. */
START_TEST(used_name)
{
    net = town_open();
    town_reduce_all(net, &plan);
    fake_net_run(net, CW_MS(20));
    ck_assert(all_right());
    (void)town_reduce(net, 0, &plan);
    (void)town_reduce(net, 26, &plan);
    fake_net_run(net, CW_MS(20));
    ck_assert(town_calls[0].ends == 1 && town_calls[0].status == -EEXIST);
    ck_assert(town_calls[26].ends == 1 && town_calls[26].status == -EEXIST);
    town_close(net);
}
END_TEST

/* Records that come twice count once; those of nobody, or to nobody, are not taken. */
START_TEST(twice_and_forged)
{
    net = town_open();
    for (cw_server s = 0; s < TOWN_SERVERS; s++) {
        if (s != LATE) {
            (void)town_reduce(net, s, &plan);
        }
    }
    fake_net_run(net, CW_MS(5));
    struct dense *root = town_dense(net, ROOT);
    const struct member *own =
        container_of(list_first(&town_dense(net, 7)->members), struct member, link); /* has joined */
    uint8_t record[MESSAGE_RECORD_BYTES + 3 * sizeof(uint64_t)];
    struct message m = {.kind = MESSAGE_GATHER, .run = {.root = ROOT}, .spec = own->spec, .job = own->job};
    m.digest = own->digest;
    m.name = own->name;
    m.name_length = own->name_length;
    m.records = record;
    m.record_count = 1;
    struct message_record r = {7, (uint32_t)own->ticket, own->in};
    message_record_put(&m, &r, record);
    ck_assert_int_eq(together_take(root, &m), 0);
    ck_assert_int_eq(together_take(root, &m), 0);
    r.server = TOWN_SERVERS;
    message_record_put(&m, &r, record);
    ck_assert_int_eq(together_take(root, &m), -EPROTO);
    m.run.root = TOWN_SERVERS;
    ck_assert_int_eq(together_take(root, &m), -EPROTO);
    uint32_t ticket;
    m.kind = MESSAGE_SPREAD;
    m.run.root = ROOT;
    m.servers = 8; /* another torus */
    ck_assert_int_eq(together_told(town_dense(net, 1), &m, &ticket), -EPROTO);
    (void)town_reduce(net, LATE, &plan);
    fake_net_run(net, CW_MS(20));
    ck_assert(all_right());
    town_close(net);
}
END_TEST

/* Records of runs that this server never calls for are passed on, and forgotten. */
START_TEST(left_behind)
{
    const struct town_plan line = {.name = "a", .root = 0, .members = 7, .elements = 3};
    net = town_open();
    (void)town_reduce(net, 2, &line);
    (void)town_reduce(net, 0, &line);
    struct message m = {.kind = MESSAGE_GATHER, .run = {.root = 0}, .spec = {CW_NUMBER_UINT64, CW_COMBINE_SUM, 0, 0}};
    uint8_t record[MESSAGE_RECORD_BYTES];
    const struct message_record r = {2, 99, NULL};
    m.name = "b";
    m.name_length = 1;
    m.records = record;
    m.record_count = 1;
    message_record_put(&m, &r, record);
    for (unsigned i = 0; i < DENSE_GATHERINGS + 5; i++) {
        const char name[2] = {'b', (char)i};
        m.name = name;
        m.name_length = sizeof name;
        ck_assert_int_eq(together_take(town_dense(net, 1), &m), 0); /* the last ones go to the root at once */
    }
    ck_assert_uint_eq(town_dense(net, 1)->gathering_count, DENSE_GATHERINGS);
    fake_net_run(net, CW_SEC(3));
    ck_assert_uint_eq(town_dense(net, 1)->gathering_count, 0);
    town_close(net);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(few_messages), SUITE_TEST(late),      SUITE_TEST(members_alone),    SUITE_TEST(lost_on_the_way),
    SUITE_TEST(disagreement), SUITE_TEST(used_name), SUITE_TEST(twice_and_forged), SUITE_TEST(left_behind)};
SUITE_MAIN("together", tests)
