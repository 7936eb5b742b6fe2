/* SPDX-License-Identifier: Apache-2.0 */
#include "node_bench.h"
#include "rng.h"
#include "suite.h"

/*
 * Conservation (invariant 8): whatever happens, every packet sent is delivered, dropped with one cause, inside some
 * node, or was on a cable or in a server when that died. Random traffic of all kinds, deaths, returns, cuts; counted
 * after every step.
 */
static uint64_t sent_by_all, dead_sent, dead_delivered;

static void check_conservation(struct bench *b, uint64_t seed, unsigned step)
{
    uint64_t sent = dead_sent, delivered = dead_delivered, inside = 0, dropped = 0;
    for (cw_server s = 0; s < b->torus.servers; s++) {
        if (b->node[s] != NULL) {
            sent += b->node[s]->sent;
            delivered += b->node[s]->delivered + b->node[s]->taken;
            inside += node_packets_inside(b->node[s]);
        }
    }
    for (unsigned i = 0; i < CW_DROP_COUNT; i++) {
        dropped += b->dropped[i];
    }
    if (sent != delivered + dropped + inside + b->lost + b->data_under_way) {
        ck_abort_msg("seed %lu step %u: sent %lu, delivered %lu, dropped %lu, inside %lu, lost %lu, under way %lu",
                     (unsigned long)seed, step, (unsigned long)sent, (unsigned long)delivered, (unsigned long)dropped,
                     (unsigned long)inside, (unsigned long)b->lost, (unsigned long)b->data_under_way);
    }
    sent_by_all = sent;
}

static void trouble(struct bench *b, struct rng *rng)
{
    cw_server s = (cw_server)rng_below(rng, b->torus.servers);
    cw_link link = (cw_link)rng_below(rng, CW_LINK_COUNT);
    switch (rng_below(rng, 4)) {
    case 0:
        if (b->node[s] != NULL) {
            struct node *n = b->node[s];
            dead_sent += n->sent;
            dead_delivered += n->delivered + n->taken;
            bench_kill(b, s, rng_below(rng, 2));
        }
        break;
    case 1:
        if (b->node[s] == NULL) {
            bench_start(b, s);
        }
        break;
    default:
        if (torus_links(&b->torus) & cw_links_of(link)) {
            bench_cut(b, s, link, !b->link[s][link].cut);
        }
        break;
    }
}

static void traffic(struct bench *b, struct rng *rng)
{
    cw_server from = (cw_server)rng_below(rng, b->torus.servers);
    if (b->node[from] == NULL) {
        return;
    }
    cw_svc *s = bench_svc(b, from);
    cw_coord way[3];
    cw_send_options options = {CW_SEND_INIT, .waypoint = way, .record_path = rng_below(rng, 2)};
    cw_to to = rng_below(rng, 2) ? to_route(rng_next(rng)) : to_server(b, (cw_server)rng_below(rng, b->torus.servers));
    if (rng_below(rng, 8) == 0) {
        to = (cw_to){.kind = CW_TO_LINK, .job = PROBE_JOB, .link = (cw_link)rng_below(rng, 6)};
        to.process = b->neighbours[from * CW_LINK_COUNT + to.link];
    } else if (rng_below(rng, 4) == 0) {
        options.waypoints = 1 + (unsigned)rng_below(rng, 3);
        for (unsigned i = 0; i < 3; i++) {
            way[i] = torus_coord(&b->torus, (cw_server)rng_below(rng, b->torus.servers));
        }
    }
    cw_packet *p = cw_packet_new_padded(s, rng_below(rng, 600), rng_below(rng, 4) == 0 ? 800 : 0);
    if (rng_below(rng, 4) == 0) {
        cw_call_options call = {CW_CALL_INIT, .timeout = CW_MS(3), .retries = 2, .send = options};
        if (cw_call(s, p, &to, &call, probe_reply, NULL) < 0) {
            cw_packet_free(s, p);
        }
    } else if (cw_send(s, p, &to, &options) < 0) {
        cw_packet_free(s, p);
    }
    bench_kick(b, from);
}

static cw_verdict answer(cw_svc *s, cw_packet *p, const cw_rx *rx)
{
    if (rx->where == CW_ARRIVED && rx->call != 0) {
        (void)cw_reply(s, rx->call, 0, p);
        return CW_TAKE;
    }
    return CW_FORWARD;
}

START_TEST(nothing_is_lost_uncounted)
{
    static const cw_dims shapes[] = {{1, 1, 4}, {1, 3, 3}, {2, 2, 2}, {2, 3, 4}, {3, 3, 3}};
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct rng rng = {seed};
        struct bench *b = bench_open(shapes[seed % 5]);
        b->config.queue_packets = 1 + (uint32_t)rng_below(&rng, 60);
        b->config.hold_bytes = 1000 + (uint32_t)rng_below(&rng, 20000);
        b->hooks.on_packet = answer;
        b->hooks.on_path = (uint8_t)rng_below(&rng, 3);
        dead_sent = dead_delivered = 0;
        bench_start_all(b);
        bench_settle(b);
        unsigned peace = 1 + (unsigned)rng_below(&rng, 100);
        for (unsigned step = 0; step < 3000; step++) {
            if (rng_below(&rng, peace) == 0) {
                trouble(b, &rng);
            }
            traffic(b, &rng);
            bench_run(b, CW_US(rng_below(&rng, 100)));
            bench_forget_notes(b);
            if (step % 8 == 0) {
                check_conservation(b, seed, step);
            }
        }
        ck_assert_uint_gt(sent_by_all, 1000);
        bench_close(b);
    }
}
END_TEST

/* A packet leaves by whichever link of a shortest path is free first: six links carry six times what one does. */
START_TEST(all_shortest_paths_carry)
{
    struct bench *b = bench_open((cw_dims){4, 4, 4});
    bench_start_all(b);
    bench_settle(b);
    bench_forget_notes(b);
    cw_to to = to_server(b, 42); /* 2,2,2: both ways round every axis */
    for (unsigned i = 0; i < 300; i++) {
        ck_assert_int_eq(cw_send(bench_svc(b, 0), packet_of(b, 0, "x", 1000), &to, NULL), 0);
    }
    cw_time begun = b->now;
    bench_kick(b, 0);
    bench_run(b, CW_MS(1));
    /*
     * A packet takes 8.6 us of a link: 300 over six links at once some 430 us, and 80 for the way; over one link 2.6
     * ms.
     */
    const struct note *note = NULL;
    ck_assert_uint_eq(bench_notes(b, 42, NOTE_PACKET, &note), 300);
    ck_assert_uint_eq(note->rx.hops, 6);
    ck_assert_int_lt(cw_time_since(note->at, begun).ns, CW_US(650).ns);
    bench_close(b);
}
END_TEST

/* Fairness by job on one link: services backlogged on it share by weight, to the byte as far as packets allow. */
static uint64_t bytes_of[3];
static cw_verdict count_bytes(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    (void)s, (void)state;
    size_t length;
    cw_packet_data(p, &length);
    bytes_of[rx->job - 1] += length + cw_packet_pad(p) + 32; /* the packet: its frame is nobody's */
    return CW_DROP;
}

START_TEST(services_share_a_link_by_weight)
{
    struct bench *b = bench_open((cw_dims){1, 1, 2});
    static const char *const names[] = {"a", "b", "c"};
    static const uint32_t weight[] = {1, 2, 5}, size[] = {1400, 300, 700};
    bench_start_all(b);
    bench_settle(b);
    bench_cut(b, 0, CW_LINK_ZM, true);
    for (unsigned i = 0; i < 3; i++) {
        const cw_service t = {CW_SERVICE_INIT, .name = names[i], .job = 1 + i, .on_packet = count_bytes};
        const struct node_service_policy policy = {.weight = weight[i], .queue_packets = 5000, .queue_bytes = 8 << 20};
        bench_allow(b, 1 + i, 1 + i);
        for (cw_server s = 0; s < 2; s++) {
            ck_assert_int_eq(node_service_add(b->node[s], &t, b->now), 0);
            ck_assert_int_eq(node_service_policy(b->node[s], 1 + i, &policy), 0);
        }
        cw_svc *s = node_service_of(b->node[0], 1 + i);
        cw_to to = {.kind = CW_TO_SERVER, .job = 1 + i, .server = {0, 0, 1}, .process = 1};
        for (unsigned k = 0; k < 4000; k++) {
            ck_assert_int_eq(cw_send(s, cw_packet_new_padded(s, 0, size[i]), &to, NULL), 0);
        }
    }
    bench_kick(b, 0);
    bench_run(b, CW_MS(20)); /* 2.5 MB of the 9.7 MB there are */
    uint64_t all = bytes_of[0] + bytes_of[1] + bytes_of[2];
    ck_assert_uint_gt(all, 2300000);
    for (unsigned i = 0; i < 3; i++) {
        double share = (double)bytes_of[i] / (double)all, due = weight[i] / 8.0;
        ck_assert_double_eq_tol(share, due, due * 0.01);
    }
    bench_close(b);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(nothing_is_lost_uncounted),
    SUITE_TEST(all_shortest_paths_carry),
    SUITE_TEST(services_share_a_link_by_weight),
};
SUITE_MAIN("node_forward", tests)
