/* SPDX-License-Identifier: Apache-2.0 */
/* Messages being sent: their ends, repetitions, restarts. */
#include "messenger.h"
#include "suite.h"

#include <errno.h>

static struct fake_net *net;
static struct messenger *from, *to;

static void setup(void)
{
    messenger_config = (struct transport_config){.size = 0};
    net = fake_net_open(&messenger_service, (cw_dims){4, 1, 1});
    from = messenger_of(net, 0);
    to = messenger_of(net, 1);
}

/* The receiver's instance ends, and another one begins in its place. */
static void restart(struct messenger *k, cw_server s)
{
    transport_close(k->t);
    ck_assert_int_eq(transport_open(net->server[s], &k->config, &k->t), 0);
}

START_TEST(nobody_answers)
{
    setup();
    net->lose = 1;
    const struct transport_send_options options = {TRANSPORT_SEND_INIT, .timeout = CW_MS(40)};
    ck_assert_int_gt(messenger_send(net, 0, 1, 10, &options), 0);
    fake_net_run(net, CW_MS(39));
    ck_assert_uint_eq(from->ended, 0);
    fake_net_run(net, CW_MS(2));
    ck_assert_uint_eq(from->ended, 1);
    ck_assert_int_eq(from->status, -ETIMEDOUT);
    fake_net_close(net);
}
END_TEST

/* Something is repeated after about a millisecond, not after hundreds. */
START_TEST(a_loss_costs_little)
{
    setup();
    ck_assert_int_gt(messenger_send(net, 0, 1, 10, NULL), 0);
    fake_net_run(net, CW_MS(1));
    cw_time begun = net->now;
    net->lose = 1;
    ck_assert_int_gt(messenger_send(net, 0, 1, 10, NULL), 0);
    fake_net_run(net, CW_US(5));
    net->lose = 0;
    while (from->ended < 2 && cw_time_since(net->now, begun).ns < CW_MS(100).ns) {
        fake_net_run(net, CW_US(20));
    }
    ck_assert_uint_eq(to->taken, 2);
    ck_assert_int_lt(cw_time_since(net->now, begun).ns, CW_MS(1).ns);
    fake_net_close(net);
}
END_TEST

START_TEST(many_at_once)
{
    setup();
    for (unsigned i = 0; i < 1024; i++) {
        ck_assert_int_gt(messenger_send(net, 0, 1, i, NULL), 0);
    }
    ck_assert_int_eq(messenger_send(net, 0, 1, 1, NULL), -ENOBUFS);
    fake_net_run(net, CW_MS(100));
    ck_assert_uint_eq(from->ended, 1024);
    ck_assert_uint_eq(to->taken, 1024);
    ck_assert_int_gt(messenger_send(net, 0, 1, 1, NULL), 0);
    fake_net_close(net);
}
END_TEST

/* A small one beside a large one does not wait for it. */
START_TEST(turns)
{
    setup();
    net->hop = CW_MS(1);
    ck_assert_int_gt(messenger_send(net, 0, 1, 3000000, NULL), 0);
    fake_net_run(net, CW_MS(5));
    ck_assert_int_gt(messenger_send(net, 0, 1, 10, NULL), 0);
    fake_net_run(net, CW_US(4500));
    ck_assert_uint_eq(from->ended, 1);
    ck_assert_uint_eq(to->bytes, 10);
    fake_net_close(net);
}
END_TEST

START_TEST(a_receiver_that_restarts)
{
    static const struct {
        unsigned flags;
        int status;
    } cases[] = {{0, -ECONNRESET}, {TRANSPORT_RESTART, 0}};
    for (unsigned i = 0; i < 2; i++) {
        setup();
        const struct transport_send_options options = {TRANSPORT_SEND_INIT, .flags = cases[i].flags};
        net->hop = CW_US(100);
        ck_assert_int_gt(messenger_send(net, 0, 1, 3000000, &options), 0);
        fake_net_run(net, CW_US(350));
        ck_assert_uint_eq(to->began, 1);
        restart(to, 1);
        fake_net_run(net, CW_MS(200));
        ck_assert_uint_eq(from->ended, 1);
        ck_assert_int_eq(from->status, cases[i].status);
        ck_assert_uint_eq(to->taken, cases[i].status == 0);
        ck_assert_int_gt(messenger_send(net, 0, 1, 5, NULL), 0); /* it is a peer like any other */
        fake_net_run(net, CW_MS(10));
        ck_assert_int_eq(from->status, 0);
        fake_net_close(net);
    }
}
END_TEST

START_TEST(a_key_and_its_heir)
{
    for (unsigned restarts = 0; restarts < 2; restarts++) {
        setup();
        cw_key key = cw_key_at(net->server[0], (cw_coord){1, 0, 0}, 7);
        const cw_to where = {.kind = CW_TO_KEY, .job = MESSENGER_JOB, .port = MESSENGER_PORT, .key = key};
        static const uint8_t bytes[100000];
        const struct transport_data data = {.bytes = bytes, .size = sizeof bytes};
        const struct transport_send_options options = {TRANSPORT_SEND_INIT, .flags = restarts ? TRANSPORT_RESTART : 0,
                                                       .timeout = CW_SEC(1)};
        ck_assert_int_gt(transport_send(from->t, &where, &data, &options, NULL, NULL), 0);
        fake_net_run(net, CW_MS(10));
        ck_assert_uint_eq(to->taken, 1);
        ck_assert(to->last.to_key);
        ck_assert_mem_eq(&to->last.key, &key, sizeof key);
        net->lose = 1;
        ck_assert_int_gt(transport_send(from->t, &where, &data, &options, NULL, NULL), 0);
        fake_net_run(net, CW_US(10));
        struct transport_stats stats;
        for (cw_server s = 0; s < 4; s++) {
            net->server[s]->down[1] = true;
        }
        cw_event ev = {.size = sizeof ev, .kind = CW_EVENT_SERVER_DOWN, .server = {1, 0, 0}};
        messenger_service.on_event(net->server[0], from, &ev);
        net->lose = 0;
        fake_net_run(net, CW_MS(100));
        transport_stats(from->t, &stats);
        ck_assert_uint_eq(stats.done, 1 + restarts);
        ck_assert_uint_eq(stats.failed, 1 - restarts);
        ck_assert_uint_eq(stats.restarts, restarts);
        fake_net_close(net);
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(nobody_answers), SUITE_TEST(a_loss_costs_little),      SUITE_TEST(many_at_once),
    SUITE_TEST(turns),          SUITE_TEST(a_receiver_that_restarts), SUITE_TEST(a_key_and_its_heir),
};
SUITE_MAIN("services.transport.outgoing", tests)
