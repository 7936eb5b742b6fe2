/* SPDX-License-Identifier: Apache-2.0 */
/* Where messages go, at first and again: which process has a key. Permission is in test_requests.c. */
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

static void see_down(cw_server gone)
{
    cw_event ev = {.size = sizeof ev, .kind = CW_EVENT_SERVER_DOWN, .server = torus_coord(&net->torus, gone)};
    for (cw_server s = 0; s < net->torus.servers; s++) {
        net->server[s]->down[gone] = true;
    }
    for (cw_server s = 0; s < net->torus.servers; s++) {
        messenger_service.on_event(net->server[s], messenger_of(net, s), &ev);
    }
}

/* To whichever process has a key: its root is asked, again where that gets lost, and its heir when the root is gone. */
START_TEST(any_process_of_a_keys_root)
{
    for (unsigned lose = 0; lose <= 3; lose += 3) {
        setup();
        net->lose = lose;
        cw_key key = cw_key_at(net->server[0], (cw_coord){1, 0, 0}, 7);
        const cw_to where = {
            .kind = CW_TO_KEY, .job = MESSENGER_JOB, .port = MESSENGER_PORT, .key = key, .process = CW_PROCESS_ANY};
        static const uint8_t bytes[100000];
        const struct transport_data data = {.bytes = bytes, .size = sizeof bytes};
        const struct transport_send_options options = {TRANSPORT_SEND_INIT, .flags = TRANSPORT_RESTART,
                                                       .timeout = CW_SEC(4)};
        struct transport_stats stats;
        ck_assert_int_gt(transport_send(from->t, &where, &data, &options, NULL, NULL), 0);
        fake_net_run(net, CW_SEC(1));
        ck_assert_uint_eq(to->taken, 1);
        ck_assert(to->last.to_key);
        net->lose = 1;
        ck_assert_int_gt(transport_send(from->t, &where, &data, &options, NULL, NULL), 0);
        fake_net_run(net, CW_MS(10));
        see_down(1);
        net->lose = lose;
        fake_net_run(net, CW_SEC(2));
        transport_stats(from->t, &stats);
        ck_assert_uint_eq(stats.done, 2);
        ck_assert_uint_eq(to->taken, 1);
        fake_net_close(net);
    }
}
END_TEST

/* Who may not ask is told so, at once. */
START_TEST(any_process_without_privilege)
{
    setup();
    cw_key key = cw_key_at(net->server[0], (cw_coord){1, 0, 0}, 7);
    const cw_to where = {
        .kind = CW_TO_KEY, .job = MESSENGER_JOB, .port = MESSENGER_PORT, .key = key, .process = CW_PROCESS_ANY};
    struct transport_stats stats;
    net->server[0]->refuse = -EACCES;
    ck_assert_int_gt(transport_send(from->t, &where, NULL, NULL, NULL, NULL), 0);
    fake_net_run(net, CW_MS(1));
    transport_stats(from->t, &stats);
    ck_assert_uint_eq(stats.failed, 1);
    fake_net_close(net);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(any_process_of_a_keys_root),
    SUITE_TEST(any_process_without_privilege),
};
SUITE_MAIN("services.transport.retrying", tests)
