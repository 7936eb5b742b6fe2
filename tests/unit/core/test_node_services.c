/* SPDX-License-Identifier: Apache-2.0 */
#include "node_bench.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static unsigned opened, closed, order[64];

static cw_verdict keep(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    (void)s, (void)p, (void)rx;
    unsigned *count = state;
    (*count)++;
    return CW_DROP;
}

static int open_well(cw_svc *s, void *state)
{
    ck_assert_uint_eq(*(unsigned *)state, 0); /* zeroed */
    ck_assert_ptr_eq(cw_state(s), state);
    opened++;
    return 0;
}

static void fired(cw_svc *s, void *state, void *arg)
{
    (void)s, (void)state, (void)arg;
    ck_abort_msg("a timer of a service that was not loaded");
}

static void called(cw_svc *s, void *state, void *arg, int status, cw_packet *reply, const cw_rx *rx)
{
    (void)s, (void)state, (void)reply, (void)rx;
    ck_assert_int_eq(status, -ECANCELED);
    *(unsigned *)arg += 1;
}

static unsigned cancelled;

/* Starts everything there is, and then says no. */
static int open_badly(cw_svc *s, void *state)
{
    (void)state;
    cw_to to = {.kind = CW_TO_SERVER, .job = 9, .server = {0, 0, 1}, .process = 1};
    cw_send_or_drop(s, cw_packet_new(s, 5), &to, NULL);
    ck_assert_ptr_nonnull(cw_timer_start(s, CW_MS(1), fired, NULL));
    ck_assert_int_gt(cw_call(s, cw_packet_new(s, 5), &to, NULL, called, &cancelled), 0);
    to.server.z = 0;
    to.process = 0;
    cw_send_or_drop(s, cw_packet_new(s, 5), &to, NULL);
    return -EPERM;
}

static void close_noting(cw_svc *s, void *state)
{
    (void)state;
    order[closed++] = cw_job_of(s);
    cw_to to = {.kind = CW_TO_SERVER, .job = cw_job_of(s)};
    cw_packet *p = cw_packet_new(s, 5);
    ck_assert_int_eq(cw_send(s, p, &to, NULL), -ESHUTDOWN);
    cw_packet_free(s, p);
    ck_assert_ptr_null(cw_timer_start(s, CW_MS(1), fired, NULL));
    ck_assert_ptr_null(cw_find(s, "s9", 1, NULL));
}

static cw_service table(const char *name, cw_job job)
{
    return (cw_service){CW_SERVICE_INIT, .name = name,      .version = "1",    .job = job,
                        .state_size = 4, .on_packet = keep, .open = open_well, .close = close_noting};
}

static struct bench *two(void)
{
    struct bench *b = bench_open((cw_dims){1, 1, 2});
    b->config.nmu_jobs = 2 * NODE_SERVICES;
    bench_allow(b, PROBE_JOB, 9);
    bench_allow(b, PROBE_JOB, UINT32_MAX);
    bench_allow(b, 9, 9);
    bench_start_all(b);
    bench_settle(b);
    bench_forget_notes(b);
    opened = closed = cancelled = 0;
    return b;
}

START_TEST(what_runs_is_told)
{
    struct bench *b = bench_open((cw_dims){1, 1, 2});
    bench_start(b, 0);
    struct node_service_info info;
    ck_assert(node_service_at(b->node[0], 0, &info));
    ck_assert_uint_eq(info.job, PROBE_JOB);
    ck_assert_uint_eq(info.policy.weight, NODE_WEIGHT);
    ck_assert_uint_eq(info.policy.queue_packets, b->config.queue_packets);
    ck_assert_int_eq(info.policy.drop, NODE_DROP_TAIL);
    ck_assert(!info.policy.background);
    ck_assert(!node_service_at(b->node[0], 1, &info));
    const struct node_service_policy policy = {7, true, 11, 100000, NODE_DROP_OLDEST};
    ck_assert_int_eq(node_service_policy(b->node[0], PROBE_JOB, &policy), 0);
    ck_assert(node_service_at(b->node[0], 0, &info));
    ck_assert_uint_eq(info.policy.weight, 7);
    ck_assert(info.policy.background);
    ck_assert_uint_eq(info.policy.queue_packets, 11);
    ck_assert_uint_eq(info.policy.queue_bytes, 100000);
    ck_assert_int_eq(info.policy.drop, NODE_DROP_OLDEST);
    ck_assert_uint_eq(info.queued_packets, 0);
    bench_close(b);
}
END_TEST

START_TEST(tables_are_checked)
{
    struct bench *b = two();
    struct node *n = b->node[0];
    const cw_service good = table("s9", 9);
    ck_assert_int_eq(node_service_add(n, NULL, b->now), -EINVAL);
    for (unsigned bad = 0; bad < 9; bad++) {
        cw_service t = good;
        switch (bad) {
        case 0:
            t.size = 0;
            break;
        case 1:
            t.size--;
            break;
        case 2:
            t.api++;
            break;
        case 3:
            t.name = NULL;
            break;
        case 4:
            t.name = "";
            break;
        case 5:
            t.name = "with space";
            break;
        case 6:
            t.name = "12345678901234567890123456789012";
            break;
        case 7:
            t.job = 0;
            break;
        default:
            t.on_packet = NULL;
            break;
        }
        ck_assert_int_eq(node_service_add(n, &t, b->now), -EINVAL);
    }
    cw_service same = table("s9", PROBE_JOB);
    ck_assert_int_eq(node_service_add(n, &same, b->now), -EEXIST);
    same = table("probe", 9);
    ck_assert_int_eq(node_service_add(n, &same, b->now), -EEXIST);
    ck_assert_int_eq(node_service_add(n, &good, b->now), 0);
    ck_assert_int_eq(node_service_add(n, &good, b->now), -EEXIST);
    ck_assert_int_eq(node_service_remove(n, 10, b->now), -ENOENT);
    ck_assert_uint_eq(opened, 1);
    bench_close(b);
}
END_TEST

/* Two networks of one table: each is a job and a service of its own. */
START_TEST(one_table_twice)
{
    struct bench *b = two();
    cw_service blue = table("blue", 5003), red = table("red", 5004);
    bench_allow(b, 5003, 5003);
    for (cw_server s = 0; s < 2; s++) {
        ck_assert_int_eq(node_service_add(b->node[s], &blue, b->now), 0);
        ck_assert_int_eq(node_service_add(b->node[s], &red, b->now), 0);
        ck_assert_uint_eq(cw_job_of(node_service_of(b->node[s], 5003)), 5003);
        ck_assert_uint_eq(cw_job_of(node_service_of(b->node[s], 5004)), 5004);
    }
    cw_svc *s = node_service_of(b->node[0], 5003);
    cw_to to = {.kind = CW_TO_SERVER, .job = 5003, .server = {0, 0, 1}, .process = 1};
    cw_packet *p = cw_packet_new(s, 10);
    ck_assert_int_eq(cw_send(s, p, &to, NULL), 0);
    p = cw_packet_new(s, 10);
    to.job = 5004;
    ck_assert_int_eq(cw_send(s, p, &to, NULL), -EACCES); /* a network of its own */
    cw_packet_free(s, p);
    bench_kick(b, 0);
    bench_run(b, CW_MS(1));
    bench_close(b);
}
END_TEST

START_TEST(a_bare_service)
{
    struct bench *b = two();
    const cw_service bare = {CW_SERVICE_INIT, .name = "b", .job = UINT32_MAX, .on_packet = keep, .state_size = 4};
    ck_assert_int_eq(node_service_add(b->node[0], &bare, b->now), 0);
    ck_assert_int_eq(node_service_add(b->node[1], &bare, b->now), 0);
    cw_to to = {.kind = CW_TO_SERVER, .job = UINT32_MAX, .server = {0, 0, 1}, .process = 1};
    ck_assert_int_eq(send_text(b, 0, "across services", &to, NULL), 0);
    bench_run(b, CW_MS(1));
    ck_assert_uint_eq(*(unsigned *)node_service_of(b->node[1], UINT32_MAX)->state, 1);
    /* Nothing that it leaves out is called. */
    struct node_request_sink sink = {.done = NULL};
    (void)sink;
    bench_kill(b, 1, true);
    bench_run(b, CW_MS(100));
    bench_close(b);
}
END_TEST

START_TEST(an_open_that_fails_leaves_nothing)
{
    struct bench *b = two();
    cw_service t = table("s9", 9);
    t.open = open_badly;
    t.close = NULL;
    cw_service peer = table("s9", 9);
    ck_assert_int_eq(node_service_add(b->node[1], &peer, b->now), 0);
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_int_eq(node_service_add(b->node[0], &t, b->now), -EPERM);
        ck_assert_uint_eq(cancelled, i + 1);
    }
    bench_run(b, CW_MS(10));
    ck_assert_uint_eq(b->dropped[CW_DROP_CLOSED], 6);     /* two queued for the cable each time */
    ck_assert_uint_eq(b->dropped[CW_DROP_NO_SERVICE], 3); /* and one to itself */
    ck_assert_uint_eq(*(unsigned *)node_service_of(b->node[1], 9)->state, 0);
    bench_close(b);
}
END_TEST

START_TEST(so_many_and_any_jobs)
{
    struct bench *b = two();
    struct node *n = b->node[0];
    char names[NODE_SERVICES][8];
    unsigned added = 2; /* behind the probe, which has number 1 */
    for (; added < NODE_SERVICES; added++) {
        memcpy(names[added], "s00", 4);
        names[added][1] = (char)('0' + added / 10);
        names[added][2] = (char)('0' + added % 10);
        cw_service t = table(names[added], 1 + added * NODE_JOB_SLOTS); /* all meet in one slot */
        ck_assert_int_eq(node_service_add(n, &t, b->now), 0);
    }
    cw_service t = table("more", 8);
    ck_assert_int_eq(node_service_add(n, &t, b->now), -ENOSPC);
    for (unsigned i = 2; i < NODE_SERVICES; i++) {
        ck_assert_uint_eq(node_service_of(n, 1 + i * NODE_JOB_SLOTS)->index, i);
    }
    ck_assert_ptr_null(node_service_of(n, 1));
    ck_assert_ptr_null(node_service_of(n, 1 + NODE_SERVICES * NODE_JOB_SLOTS));
    ck_assert_int_eq(node_service_remove(n, 1 + 5 * NODE_JOB_SLOTS, b->now), 0);
    ck_assert_ptr_null(node_service_of(n, 1 + 5 * NODE_JOB_SLOTS));
    ck_assert_ptr_nonnull(node_service_of(n, 1 + 63 * NODE_JOB_SLOTS));
    ck_assert_int_eq(node_service_add(n, &t, b->now), 0); /* at place 5, the last to come */
    closed = 0;
    bench_kill(b, 0, true);
    ck_assert_uint_eq(closed, NODE_SERVICES - 2);
    ck_assert_uint_eq(order[0], 8);
    for (unsigned i = 1; i < closed - 1; i++) {
        ck_assert_uint_gt(order[i], order[i + 1]);
    }
    bench_close(b);
}
END_TEST

START_TEST(policies)
{
    struct bench *b = two();
    struct node *n = b->node[0];
    const struct node_service_policy good = {.weight = 5, .queue_packets = 3, .queue_bytes = 20000};
    struct node_service_policy bad[] = {good, good, good, good, good};
    bad[0].weight = 0;
    bad[1].weight = FAIRQ_WEIGHT_MAX + 1;
    bad[2].queue_packets = 0;
    bad[3].queue_bytes = 1499;
    memset(&bad[4].drop, 0x7f, sizeof bad[4].drop);
    for (unsigned i = 0; i < 5; i++) {
        ck_assert_int_eq(node_service_policy(n, PROBE_JOB, &bad[i]), -EINVAL);
    }
    ck_assert_int_eq(node_service_policy(n, 9, &good), -ENOENT);
    ck_assert_int_eq(node_service_policy(n, PROBE_JOB, &good), 0);
    ck_assert_uint_eq(bench_svc(b, 0)->main.weight, 5);
    cw_svc *s = bench_svc(b, 0);
    cw_to to = to_server(b, 1);
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_int_eq(cw_send(s, packet_of(b, 0, "x", 0), &to, NULL), 0);
    }
    cw_packet *p = packet_of(b, 0, "x", 0);
    ck_assert_int_eq(cw_send(s, p, &to, NULL), -EAGAIN);
    struct node_service_policy oldest = good;
    oldest.drop = NODE_DROP_OLDEST;
    oldest.background = true;
    ck_assert_int_eq(node_service_policy(n, PROBE_JOB, &oldest), 0);
    ck_assert_int_eq(cw_send(s, p, &to, NULL), 0);
    ck_assert_uint_eq(node_drops(n, CW_DROP_QUEUE_FULL), 1);
    ck_assert_uint_eq(n->background, place_bit(1));
    bench_close(b);
}
END_TEST

/* The important one takes the place of the youngest ordinary one; at the next server it is as the others. */
START_TEST(priority_where_it_is_sent)
{
    struct bench *b = two();
    struct node *n = b->node[0];
    const struct node_service_policy policy = {
        .weight = 5, .queue_packets = 2, .queue_bytes = 20000, .drop = NODE_DROP_PRIORITY};
    struct node_service_info info;
    ck_assert_int_eq(node_service_policy(n, PROBE_JOB, &policy), 0);
    ck_assert(node_service_at(n, 0, &info));
    ck_assert_int_eq(info.policy.drop, NODE_DROP_PRIORITY);
    cw_svc *s = bench_svc(b, 0);
    cw_to to = to_server(b, 1);
    const cw_send_options important = {CW_SEND_INIT, .priority = 200};
    for (unsigned i = 0; i < 2; i++) {
        ck_assert_int_eq(cw_send(s, packet_of(b, 0, "x", 0), &to, NULL), 0);
    }
    cw_packet *p = packet_of(b, 0, "x", 0);
    ck_assert_int_eq(cw_send(s, p, &to, NULL), -EAGAIN);
    ck_assert_int_eq(cw_send(s, p, &to, &important), 0);
    ck_assert_uint_eq(node_drops(n, CW_DROP_QUEUE_FULL), 1);
    ck_assert_int_eq(packetq_peek(&s->main.queue, CW_LINK_ZP)->priority, 0);
    p = packet_of(b, 0, "x", 0);
    ck_assert_int_eq(cw_send(s, p, &to, &important), 0);
    ck_assert_uint_eq(node_drops(n, CW_DROP_QUEUE_FULL), 2);
    ck_assert_int_eq(packetq_peek(&s->main.queue, CW_LINK_ZP)->priority, 200);
    bench_kick(b, 0);
    bench_run(b, CW_MS(1));
    ck_assert_uint_eq(bench_notes(b, 1, NOTE_PACKET, NULL), 2);
    bench_close(b);
}
END_TEST

/* With packets in every place: queued, held in hand by others' calls, timers; and one that arrives after. */
START_TEST(removal_takes_everything)
{
    struct bench *b = two();
    cw_service t = table("s9", 9);
    for (cw_server s = 0; s < 2; s++) {
        ck_assert_int_eq(node_service_add(b->node[s], &t, b->now), 0);
    }
    cw_svc *s = node_service_of(b->node[0], 9);
    cw_to to = {.kind = CW_TO_SERVER, .job = 9, .server = {0, 0, 1}, .process = 1};
    for (unsigned i = 0; i < 10; i++) {
        cw_send_or_drop(s, cw_packet_new(s, 100), &to, NULL);
        ck_assert_ptr_nonnull(cw_timer_start(s, CW_MS(1), fired, NULL));
        ck_assert_int_gt(cw_call(s, cw_packet_new(s, 5), &to, NULL, called, &cancelled), 0);
    }
    ck_assert_int_eq(node_service_remove(b->node[0], 9, b->now), 0);
    ck_assert_uint_eq(cancelled, 10);
    ck_assert_uint_eq(closed, 1);
    ck_assert_uint_eq(b->dropped[CW_DROP_CLOSED], 20);
    s = node_service_of(b->node[1], 9);
    to.server.z = 0;
    to.process = 0;
    cw_send_or_drop(s, cw_packet_new(s, 100), &to, NULL);
    bench_kick(b, 1);
    bench_run(b, CW_MS(10));
    ck_assert_uint_eq(node_drops(b->node[0], CW_DROP_NO_SERVICE), 1);
    bench_close(b);
}
END_TEST

/*
 * Made and never sent, and taken off a cable: whatever a service leaves behind goes home, from any place of its list.
 */
START_TEST(hands_are_emptied)
{
    struct bench *b = two();
    cw_service t = table("s9", 9);
    ck_assert_int_eq(node_service_add(b->node[0], &t, b->now), 0);
    uint32_t out = pkt_home_out(b->home);
    unsigned logs = b->logs;
    cw_svc *s = node_service_of(b->node[0], 9);
    cw_packet *p[6];
    for (unsigned i = 0; i < 6; i++) {
        p[i] = cw_packet_new(s, 100 * i);
        ck_assert_ptr_nonnull(p[i]);
    }
    cw_packet_free(s, p[0]);
    cw_packet_free(s, p[3]);
    cw_packet_free(s, p[5]);
    ck_assert_uint_eq(pkt_home_out(b->home), out + 3);
    ck_assert_int_eq(node_service_remove(b->node[0], 9, b->now), 0);
    ck_assert_uint_eq(pkt_home_out(b->home), out);
    ck_assert_uint_eq(b->node[0]->kept, 3);
    ck_assert_uint_eq(b->logs, logs + 1);
    bench_close(b);
}
END_TEST

/* The probe waits for room in the queue of a service that goes: it is told, and finds out. */
START_TEST(whoever_waits_for_the_queue_is_told)
{
    struct bench *b = two();
    cw_service t = table("s9", 9);
    ck_assert_int_eq(node_service_add(b->node[0], &t, b->now), 0);
    const struct node_service_policy small = {.weight = 5, .queue_packets = 1, .queue_bytes = 20000};
    ck_assert_int_eq(node_service_policy(b->node[0], 9, &small), 0);
    cw_to to = {.kind = CW_TO_SERVER, .job = 9, .server = {0, 0, 1}, .process = 1};
    cw_svc *s = bench_svc(b, 0);
    cw_send_or_drop(s, cw_packet_new(s, 100), &to, NULL);
    cw_packet *p = cw_packet_new(s, 100);
    ck_assert_int_eq(cw_send(s, p, &to, NULL), -EAGAIN);
    ck_assert_int_eq(node_service_remove(b->node[0], 9, b->now), 0);
    bench_kick(b, 0);
    ck_assert_uint_eq(bench_notes(b, 0, NOTE_WRITABLE, NULL), 1);
    ck_assert_int_eq(cw_send(s, p, &to, NULL), -ENOENT);
    cw_packet_free(s, p);
    bench_close(b);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(what_runs_is_told),
    SUITE_TEST(tables_are_checked),
    SUITE_TEST(one_table_twice),
    SUITE_TEST(a_bare_service),
    SUITE_TEST(an_open_that_fails_leaves_nothing),
    SUITE_TEST(so_many_and_any_jobs),
    SUITE_TEST(policies),
    SUITE_TEST(priority_where_it_is_sent),
    SUITE_TEST(removal_takes_everything),
    SUITE_TEST(hands_are_emptied),
    SUITE_TEST(whoever_waits_for_the_queue_is_told),
};
SUITE_MAIN("node_services", tests)
