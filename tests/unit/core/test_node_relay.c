/* SPDX-License-Identifier: Apache-2.0 */
/* What a node publishes, and when it stops its relay. What the publications are good for is sim.relayed_world's. */
#include "core/node_relay.h"
#include "node_bench.h"
#include "suite.h"
#include "wire/relay_publish.h"

#include <errno.h>

static struct relay_state state;

/* A ring of four along z, of which server 0 has a relay. */
static struct bench *up(void)
{
    struct bench *b = bench_open((cw_dims){1, 1, 4});
    struct node_relay_config config = {.state = &state, .ethertype = 0x88b5};
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        config.link[link] = (struct node_relay_link){.ifindex = 40u + link, .mac = {link, 2, 3}};
    }
    memset(&state, 0, sizeof state);
    bench_start_all(b);
    ck_assert_int_eq(node_relay_open(b->node[0], &config), 0);
    ck_assert_int_eq(node_relay_open(b->node[0], &config), -EALREADY);
    bench_settle(b);
    return b;
}

static struct node_relay_turn turn_of(struct bench *b)
{
    struct node_relay_turn turn = {.usable = CW_LINKS_ALL};
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        turn.taken[link] = relay_handed(&state, link);
    }
    (void)b;
    return turn;
}

static const struct relay_view *publish(struct bench *b)
{
    struct node_relay_turn turn = turn_of(b);
    (void)node_relay_publish(b->node[0], &turn, b->now);
    return &state.view[state.gen & 1];
}

enum { UP = 1 << CW_LINK_ZP, DOWN = 1 << CW_LINK_ZM };

START_TEST(publishes_what_is_true)
{
    struct bench *b = up();
    ck_assert_uint_eq(state.live, 0);
    const struct relay_view *view = publish(b);
    ck_assert_uint_eq(state.live, UP | DOWN);
    ck_assert_uint_eq(node_relay_live(b->node[0]), UP | DOWN);
    ck_assert_uint_eq(state.ethertype, 0x88b5);
    ck_assert_uint_gt(state.lease, (uint64_t)b->now.ns);
    ck_assert_uint_eq(view->in, UP | DOWN);
    ck_assert_uint_eq(view->out, UP | DOWN);
    ck_assert_uint_eq(view->servers, 4);
    ck_assert_uint_eq(view->way[0], RELAY_WAY_HOME);
    ck_assert_uint_eq(view->way[1], RELAY_WAY_HOME | UP);
    ck_assert_uint_eq(view->way[2], RELAY_WAY_HOME | UP | DOWN);
    ck_assert_uint_eq(view->way[3], RELAY_WAY_HOME | DOWN);
    const struct relay_link *link = &view->link[CW_LINK_ZM];
    ck_assert_uint_eq(link->ifindex, 40 + CW_LINK_ZM);
    ck_assert_uint_eq(link->mac[0], CW_LINK_ZM);
    ck_assert_uint_eq(link->mtu, b->config.mtu);
    ck_assert_uint_eq(link->session, (uint16_t)ls_link_session(b->node[0]->ls, CW_LINK_ZM));
    ck_assert_uint_eq(link->peer, (uint16_t)ls_link_session(b->node[3]->ls, CW_LINK_ZP));
    uint64_t entry = relay_job_entry(PROBE_JOB, node_relay_place(b->node[0], PROBE_JOB));
    ck_assert_uint_eq(state.job[relay_job_at(PROBE_JOB)], entry);
    ck_assert_uint_eq(node_relay_place(b->node[0], PROBE_JOB + 1), RELAY_OTHERS);
    bench_close(b);
    ck_assert_uint_eq(state.live, 0);
    ck_assert_uint_eq(state.lease, 0);
}
END_TEST

START_TEST(at_rest_only_the_lease_moves)
{
    struct bench *b = up();
    bench_run(b, CW_MS(200)); /* acknowledgements of the beginning are behind us */
    (void)publish(b);
    uint32_t gen = state.gen;
    uint64_t lease = state.lease;
    bench_run(b, CW_MS(30));
    (void)publish(b);
    ck_assert_uint_eq(state.gen, gen);
    ck_assert_uint_gt(state.lease, lease);
    ck_assert_uint_eq(state.live, UP | DOWN);
    bench_close(b);
}
END_TEST

/* Before a frame that tells of a failure can leave, nothing is relayed any more; then by the new routes. */
START_TEST(what_was_learned_stops_it_until_it_is_published)
{
    struct bench *b = up();
    uint32_t gen = publish(b)->in == 0 ? 0 : state.gen;
    ls_carrier(b->node[2]->ls, CW_LINK_ZP, false, b->now); /* a link that is not of server 0 */
    bench_kick(b, 2);
    bench_run(b, CW_MS(5));
    ck_assert_uint_eq(state.live, 0);
    ck_assert_uint_eq(node_relay_live(b->node[0]), 0);
    ck_assert_uint_eq(state.gen, gen);
    ck_assert_uint_ne(state.lease, 0);
    const struct relay_view *view = publish(b);
    ck_assert_uint_ne(state.gen, gen);
    ck_assert_uint_eq(state.live, UP | DOWN);
    ck_assert_uint_eq(view->way[2], RELAY_WAY_HOME | UP);
    bench_cut(b, 0, CW_LINK_ZP, true);
    ck_assert_uint_eq(state.live, 0);
    view = publish(b);
    ck_assert_uint_eq(state.live, DOWN);
    ck_assert_uint_eq(view->in, DOWN);
    ck_assert_uint_eq(view->out & UP, 0);
    bench_close(b);
}
END_TEST

START_TEST(whoever_parts_or_is_fenced_has_no_relay)
{
    struct bench *b = up();
    (void)publish(b);
    node_leave(b->node[0], b->now);
    ck_assert_uint_eq(state.live, 0);
    bench_kick(b, 0);
    (void)publish(b); /* it forwards for a while */
    ck_assert_uint_eq(state.live, UP | DOWN);
    for (unsigned i = 0; i < 100 && !node_left(b->node[0], b->now); i++) {
        bench_run(b, CW_MS(1));
    }
    ck_assert_uint_eq(state.live, 0);
    ck_assert_uint_eq(state.lease, 0);
    (void)publish(b);
    ck_assert_uint_eq(state.live, 0);
    bench_close(b);
    b = up();
    (void)publish(b);
    b->now = cw_time_add(b->now, CW_SEC(1)); /* it slept, and is fenced */
    (void)node_tick(b->node[0], b->now);
    ck_assert_uint_eq(state.live, 0);
    ck_assert_uint_eq(state.lease, 0);
    bench_close(b);
}
END_TEST

START_TEST(says_what_waits_and_what_the_pump_says)
{
    struct bench *b = up();
    cw_to far = to_server(b, 1);
    for (unsigned i = 0; i < 10; i++) {
        ck_assert_int_eq(cw_send(bench_svc(b, 0), packet_of(b, 0, "x", 1000), &far, NULL), 0);
    }
    ck_assert_uint_eq(node_waiting_links(b->node[0]), UP);
    struct node_relay_turn turn = turn_of(b);
    turn.usable = UP;
    turn.waits = DOWN;
    turn.tapped = DOWN;
    turn.sent_until[CW_LINK_ZP] = 77;
    state.queue[CW_LINK_ZP].handed = 3;
    cw_links links = node_relay_publish(b->node[0], &turn, b->now);
    ck_assert_uint_eq(links & UP, UP);
    ck_assert_uint_eq(state.waits, UP | DOWN);
    ck_assert_uint_eq(state.tapped, DOWN);
    ck_assert_uint_eq(state.live, UP);
    ck_assert_uint_eq(state.queue[CW_LINK_ZP].sent_until, 77);
    ck_assert_uint_eq(state.queue[CW_LINK_ZP].taken, 0);
    bench_kick(b, 0);
    bench_run(b, CW_MS(5));
    (void)publish(b);
    ck_assert_uint_eq(state.waits, 0);
    ck_assert_uint_eq(state.queue[CW_LINK_ZP].taken, 3);
    bench_close(b);
}
END_TEST

static cw_verdict drop(cw_svc *s, void *state_, cw_packet *p, const cw_rx *rx)
{
    (void)s, (void)state_, (void)p, (void)rx;
    return CW_DROP;
}

START_TEST(a_service_that_comes_or_goes)
{
    static const cw_service looks = {CW_SERVICE_INIT, .name = "looks", .job = 5000, .on_path = CW_PATH_ALL,
                                     .on_packet = drop};
    static const cw_service traced = {CW_SERVICE_INIT, .name = "traced", .job = 5001, .on_path = CW_PATH_TRACED,
                                      .on_packet = drop};
    struct bench *b = up();
    (void)publish(b);
    ck_assert_int_eq(node_service_add(b->node[0], &looks, b->now), 0);
    ck_assert_int_eq(node_service_add(b->node[0], &traced, b->now), 0);
    (void)publish(b);
    ck_assert_uint_eq(state.job[relay_job_at(5000)], relay_job_entry(5000, RELAY_UP));
    ck_assert_uint_eq(state.job[relay_job_at(5001)], relay_job_entry(5001, node_relay_place(b->node[0], 5001)));
    ck_assert_int_eq(node_service_remove(b->node[0], 5000, b->now), 0);
    (void)publish(b);
    ck_assert_uint_eq(state.job[relay_job_at(5000)], 0);
    bench_close(b);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(publishes_what_is_true),
    SUITE_TEST(at_rest_only_the_lease_moves),
    SUITE_TEST(what_was_learned_stops_it_until_it_is_published),
    SUITE_TEST(whoever_parts_or_is_fenced_has_no_relay),
    SUITE_TEST(says_what_waits_and_what_the_pump_says),
    SUITE_TEST(a_service_that_comes_or_goes),
};
SUITE_MAIN("node_relay", tests)
