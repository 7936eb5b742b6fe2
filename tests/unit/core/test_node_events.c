/* SPDX-License-Identifier: Apache-2.0 */
#include "keyspace/owner.h"
#include "node_bench.h"
#include "rng.h"
#include "suite.h"

#include <errno.h>

/* Events at a server, by kind and about a server (or link), since notes were forgotten. */
static unsigned events(struct bench *b, cw_server at, cw_event_kind kind, int about)
{
    const struct probe *probe = bench_probe(b, at);
    unsigned found = 0;
    for (unsigned i = 0; i < probe->count; i++) {
        const cw_event *e = &probe->note[i].event;
        if (probe->note[i].kind != NOTE_EVENT || e->kind != kind) {
            continue;
        }
        ck_assert_uint_eq(e->size, sizeof *e);
        bool server = kind == CW_EVENT_SERVER_UP || kind == CW_EVENT_SERVER_DOWN;
        found += about < 0 || (server ? torus_id(&b->torus, e->server) == (cw_server)about : e->link == about);
    }
    return found;
}

START_TEST(everybody_is_told_once)
{
    struct bench *b = bench_open((cw_dims){2, 3, 3});
    bench_start_all(b);
    bench_settle(b);
    for (cw_server s = 0; s < 18; s++) {
        for (cw_server other = 0; other < 18; other++) {
            ck_assert_uint_eq(events(b, s, CW_EVENT_SERVER_UP, (int)other), s != other);
        }
        ck_assert_uint_eq(events(b, s, CW_EVENT_SERVER_DOWN, -1), 0);
        ck_assert_uint_eq(events(b, s, CW_EVENT_LINK_UP, -1), 6);
        ck_assert_uint_ge(events(b, s, CW_EVENT_ROOTS, -1), 1);
    }
    bench_forget_notes(b);
    bench_kill(b, 7, true);
    bench_settle(b);
    for (cw_server s = 0; s < 18; s++) {
        if (s != 7) {
            ck_assert_uint_eq(events(b, s, CW_EVENT_SERVER_DOWN, -1), 1);
            ck_assert_uint_eq(events(b, s, CW_EVENT_SERVER_DOWN, 7), 1);
            unsigned near = 0;
            for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
                near += b->neighbours[s * CW_LINK_COUNT + link] == 7;
            }
            ck_assert_uint_eq(events(b, s, CW_EVENT_LINK_DOWN, -1), near);
        }
    }
    bench_forget_notes(b);
    bench_start(b, 7);
    bench_settle(b);
    ck_assert_uint_eq(events(b, 7, CW_EVENT_SERVER_UP, -1), 17);
    for (cw_server s = 0; s < 18; s++) {
        ck_assert_uint_eq(events(b, s, CW_EVENT_SERVER_UP, 7), s != 7);
    }
    bench_close(b);
}
END_TEST

/* What services are told agrees with what they are answered, in every event of a troubled hour. */
static uint64_t last_epoch[BENCH_SERVERS];
static void check_event(cw_svc *s, const cw_event *e)
{
    cw_server self = cw_server_id(s, cw_self(s));
    ck_assert_uint_ge(e->epoch, last_epoch[self]);
    last_epoch[self] = e->epoch;
    ck_assert_uint_eq(e->epoch, cw_epoch(s));
    if (e->kind == CW_EVENT_SERVER_UP || e->kind == CW_EVENT_SERVER_DOWN) {
        ck_assert_int_eq(cw_reachable(s, e->server), e->kind == CW_EVENT_SERVER_UP);
    }
    if (e->kind == CW_EVENT_LINK_UP || e->kind == CW_EVENT_LINK_DOWN) {
        cw_link_info info = {.size = sizeof info};
        ck_assert_int_eq(cw_link_get(s, e->link, &info), 0);
        ck_assert_int_eq(info.up, e->kind == CW_EVENT_LINK_UP);
    }
}

START_TEST(told_and_answered_alike)
{
    struct bench *b = bench_open((cw_dims){2, 2, 3});
    struct rng rng = {5};
    b->hooks.on_event = check_event;
    bench_start_all(b);
    bench_settle(b);
    for (unsigned step = 0; step < 60; step++) {
        cw_server s = (cw_server)rng_below(&rng, 12);
        if (b->node[s] != NULL) {
            bench_kill(b, s, rng_below(&rng, 2));
        } else {
            last_epoch[s] = 0;
            bench_start(b, s);
        }
        bench_run(b, CW_US(rng_below(&rng, 100000)));
        bench_forget_notes(b);
    }
    bench_close(b);
}
END_TEST

/* Packets wait in a queue for a link that breaks: they go another way, in their order, and none is lost. */
START_TEST(queues_are_sorted_anew)
{
    struct bench *b = bench_open((cw_dims){1, 4, 4});
    bench_start_all(b);
    bench_settle(b);
    bench_forget_notes(b);
    cw_to to = to_server(b, 1); /* the neighbour by +z */
    char text[] = "000";
    for (unsigned i = 0; i < 200; i++) {
        text[0] = (char)('0' + i / 100);
        text[1] = (char)('0' + i / 10 % 10);
        text[2] = (char)('0' + i % 10);
        ck_assert_int_eq(cw_send(bench_svc(b, 0), packet_of(b, 0, text, 1000), &to, NULL), 0);
    }
    ck_assert_uint_eq(packetq_count(&bench_svc(b, 0)->main.queue, CW_LINK_ZP), 200);
    bench_cut(b, 0, CW_LINK_ZP, true);
    ck_assert_uint_eq(packetq_count(&bench_svc(b, 0)->main.queue, CW_LINK_ZP), 0);
    bench_run(b, CW_MS(10));
    /* Three hops by +y or -y, over which they may overtake one another only between the two. */
    const struct note *note = NULL;
    ck_assert_uint_eq(bench_notes(b, 1, NOTE_PACKET, &note), 200);
    ck_assert_uint_eq(note->rx.hops, 3);
    bench_close(b);
}
END_TEST

/* Limits were lowered since they came: what waits stays, under every policy, when it is routed anew. */
START_TEST(what_waits_stays)
{
    for (enum node_drop_policy drop = NODE_DROP_TAIL; drop <= NODE_DROP_PRIORITY; drop++) {
        struct bench *b = bench_open((cw_dims){1, 4, 4});
        bench_start_all(b);
        bench_settle(b);
        bench_forget_notes(b);
        cw_to to = to_server(b, 1);
        for (unsigned i = 0; i < 50; i++) {
            ck_assert_int_eq(cw_send(bench_svc(b, 0), packet_of(b, 0, "wait", 1000), &to, NULL), 0);
        }
        const struct node_service_policy less = {.weight = 5, .queue_packets = 3, .queue_bytes = 20000, .drop = drop};
        ck_assert_int_eq(node_service_policy(b->node[0], PROBE_JOB, &less), 0);
        bench_cut(b, 0, CW_LINK_ZP, true);
        ck_assert_uint_eq(bench_svc(b, 0)->main.queue.packets, 50);
        bench_run(b, CW_MS(10));
        ck_assert_uint_eq(bench_notes(b, 1, NOTE_PACKET, NULL), 50);
        ck_assert_uint_eq(node_drops(b->node[0], CW_DROP_QUEUE_FULL), 0);
        bench_close(b);
    }
}
END_TEST

/* Packets to a key wait for its root, which dies: they go to the heir. To the server itself: no way. */
START_TEST(the_heir_gets_what_waited)
{
    struct bench *b = bench_open((cw_dims){1, 4, 4});
    bench_start_all(b);
    bench_settle(b);
    bench_forget_notes(b);
    cw_server root = 1;
    cw_to key = {.kind = CW_TO_KEY, .job = PROBE_JOB}, server = to_server(b, root);
    key.key = cw_key_at(bench_svc(b, 0), torus_coord(&b->torus, root), 99);
    for (unsigned i = 0; i < 50; i++) {
        ck_assert_int_eq(cw_send(bench_svc(b, 0), packet_of(b, 0, "key", 1000), &key, NULL), 0);
        ck_assert_int_eq(cw_send(bench_svc(b, 0), packet_of(b, 0, "server", 1000), &server, NULL), 0);
    }
    bench_kill(b, root, true);
    bench_run(b, CW_MS(300));
    cw_coord heir;
    ck_assert_int_eq(cw_servers_for_key(bench_svc(b, 0), &key.key, 1, &heir), 1);
    /* Some left for the other neighbours of the dead before that news came, and turned back or ended there. */
    ck_assert_uint_eq(bench_notes(b, torus_id(&b->torus, heir), NOTE_PACKET, NULL), 50);
    ck_assert_uint_eq(b->dropped[CW_DROP_NO_ROUTE], 50);
    bench_close(b);
}
END_TEST

static struct bench *two_cables(void)
{
    struct bench *b = bench_open((cw_dims){1, 1, 2});
    b->config.timers.damp = b->config.timers.damp_max = CW_MS(0);
    return b;
}

/* Refused for want of room, and the room comes by the death of whom all that waits is for. */
START_TEST(room_that_a_death_makes_is_told)
{
    struct bench *b = two_cables();
    b->config.queue_packets = 3;
    bench_start_all(b);
    bench_settle(b);
    bench_forget_notes(b);
    cw_to to = to_server(b, 1);
    cw_packet *p[4];
    for (unsigned i = 0; i < 4; i++) {
        p[i] = packet_of(b, 0, "x", 0);
        ck_assert_int_eq(cw_send(bench_svc(b, 0), p[i], &to, NULL), i < 3 ? 0 : -EAGAIN);
    }
    cw_packet_free(bench_svc(b, 0), p[3]);
    bench_kill(b, 1, true);
    bench_run(b, CW_MS(1));
    ck_assert_uint_eq(b->dropped[CW_DROP_NO_ROUTE], 3);
    ck_assert_uint_eq(bench_notes(b, 0, NOTE_WRITABLE, NULL), 1);
    bench_close(b);
}
END_TEST

static struct bench *sender;
static void send_to_newcomer(cw_svc *s, const cw_event *e)
{
    cw_to to = {.kind = CW_TO_SERVER, .job = PROBE_JOB, .server = e->server, .process = cw_server_id(s, e->server)};
    if (e->kind == CW_EVENT_SERVER_UP && cw_server_id(s, cw_self(s)) == 0) {
        cw_send_or_drop(s, packet_of(sender, 0, "new", 0), &to, NULL);
    }
}

/*
 * It waited in a queue, then for a right, and then the root came back before that was given: it is queued behind what
 * came meanwhile, or the queue is out of order (which slow checks find).
 */
START_TEST(what_was_held_goes_behind_what_came_since)
{
    struct bench *b = sender = two_cables();
    bench_start_all(b);
    bench_settle(b);
    bench_forget_notes(b);
    b->hooks.on_event = send_to_newcomer;
    cw_to key = {.kind = CW_TO_KEY, .job = PROBE_JOB};
    key.key = cw_key_at(bench_svc(b, 0), torus_coord(&b->torus, 1), 99);
    ck_assert_int_eq(cw_send(bench_svc(b, 0), packet_of(b, 0, "old", 0), &key, NULL), 0);
    bench_kill(b, 1, true);
    ck_assert_uint_eq(b->node[0]->held.packets, 1);
    bench_start(b, 1);
    bench_run(b, CW_MS(30));
    const struct note *note = NULL;
    ck_assert_uint_eq(bench_notes(b, 1, NOTE_PACKET, &note), 2);
    ck_assert_int_eq(note->first[0], 'o');
    bench_close(b);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(everybody_is_told_once),
    SUITE_TEST(told_and_answered_alike),
    SUITE_TEST(queues_are_sorted_anew),
    SUITE_TEST(the_heir_gets_what_waited),
    SUITE_TEST(room_that_a_death_makes_is_told),
    SUITE_TEST(what_was_held_goes_behind_what_came_since),
    SUITE_TEST(what_waits_stays),
};
SUITE_MAIN("node_events", tests)
