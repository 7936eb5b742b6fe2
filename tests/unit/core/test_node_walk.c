/* SPDX-License-Identifier: Apache-2.0 */
/* The walker of a node passes on a sound node, and each of its rules stops one that is broken. */
#include "node_bench.h"
#include "suite.h"

static struct bench *two_servers(void)
{
    struct bench *b = bench_open((cw_dims){1, 1, 2});
    bench_start_all(b);
    bench_settle(b);
    return b;
}

/* One packet waits at server 0 for the other. */
static struct bench *one_waits(void)
{
    struct bench *b = two_servers();
    cw_to other = to_server(b, 1);
    ck_assert_int_eq(cw_send(bench_svc(b, 0), packet_of(b, 0, "x", 0), &other, NULL), 0);
    return b;
}

/* At this instant it is the turn of that part. */
static void walk_at(struct bench *b, unsigned turn)
{
    enum { PARTS = FAIRQ_PLACES + 4 };
    struct node *n = b->node[0];
    n->now.ns += PARTS - n->now.ns % PARTS + turn;
    node_walk(n);
}

START_TEST(a_sound_node_passes)
{
    struct bench *b = one_waits();
    for (unsigned turn = 0; turn < FAIRQ_PLACES + 4; turn++) {
        walk_at(b, turn);
    }
    b->node[0]->now = b->now;
    bench_kick(b, 0);
    bench_run(b, CW_MS(10));
    bench_close(b);
}
END_TEST

START_TEST(a_queue_that_is_not_asked_stops)
{
    struct bench *b = one_waits();
    memset(b->node[0]->ready, 0, sizeof b->node[0]->ready);
    node_walk(b->node[0]);
}
END_TEST

START_TEST(a_link_that_is_not_wanted_stops)
{
    struct bench *b = one_waits();
    b->node[0]->wanted = CW_LINKS_NONE;
    node_walk(b->node[0]);
}
END_TEST

START_TEST(a_count_of_packets_to_ourselves_stops)
{
    struct bench *b = two_servers();
    b->node[0]->local.packets = 1;
    node_walk(b->node[0]);
}
END_TEST

START_TEST(a_wrong_count_in_a_queue_stops)
{
    struct bench *b = one_waits();
    struct cw_svc *svc = bench_svc(b, 0);
    svc->main.queue.bytes++;
    walk_at(b, svc->index);
}
END_TEST

START_TEST(a_wrong_count_of_hands_stops)
{
    struct bench *b = two_servers();
    struct cw_svc *svc = bench_svc(b, 0);
    svc->in_hand++;
    walk_at(b, svc->index);
}
END_TEST

START_TEST(a_wrong_count_of_held_packets_stops)
{
    struct bench *b = two_servers();
    b->node[0]->held.bytes++;
    walk_at(b, FAIRQ_PLACES);
}
END_TEST

START_TEST(a_wrong_count_of_calls_stops)
{
    struct bench *b = two_servers();
    b->node[0]->calls.of[0]++;
    walk_at(b, FAIRQ_PLACES + 1);
}
END_TEST

START_TEST(a_wrong_count_of_timers_stops)
{
    struct bench *b = two_servers();
    b->node[0]->timers.of[0]++;
    walk_at(b, FAIRQ_PLACES + 2);
}
END_TEST

START_TEST(a_wrong_count_of_guests_stops)
{
    struct bench *b = two_servers();
    b->node[0]->guests.count++;
    walk_at(b, FAIRQ_PLACES + 3);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_sound_node_passes),
    SUITE_ABORTS(a_queue_that_is_not_asked_stops),
    SUITE_ABORTS(a_link_that_is_not_wanted_stops),
    SUITE_ABORTS(a_count_of_packets_to_ourselves_stops),
    SUITE_ABORTS(a_wrong_count_in_a_queue_stops),
    SUITE_ABORTS(a_wrong_count_of_hands_stops),
    SUITE_ABORTS(a_wrong_count_of_held_packets_stops),
    SUITE_ABORTS(a_wrong_count_of_calls_stops),
    SUITE_ABORTS(a_wrong_count_of_timers_stops),
    SUITE_ABORTS(a_wrong_count_of_guests_stops),
};
SUITE_MAIN("node_walk", tests)
