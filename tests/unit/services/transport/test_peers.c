/* SPDX-License-Identifier: Apache-2.0 */
/* Who is remembered, and who makes room. */
#include "messenger.h"
#include "suite.h"

static struct fake_net *net;

static void setup(unsigned peers)
{
    messenger_config = transport_config_default(0, NULL);
    messenger_config.peers_max = peers;
    net = fake_net_open(&messenger_service, (cw_dims){4, 4, 1});
}

static struct transport_stats stats(cw_server s)
{
    struct transport_stats out;
    transport_stats(messenger_of(net, s)->t, &out);
    return out;
}

START_TEST(idle_ones_make_room)
{
    setup(3);
    for (unsigned round = 0; round < 3; round++) {
        for (cw_server s = 1; s < 16; s++) {
            ck_assert_int_gt(messenger_send(net, 0, s, 20000, NULL), 0);
            fake_net_run(net, CW_MS(2));
            ck_assert(messenger_got(net, s, 20000));
            ck_assert_uint_le(stats(0).peers, 3);
        }
    }
    ck_assert_uint_eq(messenger_of(net, 0)->ended, 45);
    ck_assert_int_eq(messenger_of(net, 0)->status, 0);
    ck_assert_uint_eq(stats(0).forgotten, 42);
    for (cw_server s = 1; s < 16; s++) {
        ck_assert_uint_eq(messenger_of(net, s)->taken, 3);
    }
    fake_net_close(net);
}
END_TEST

/* All at once: those that find no room wait for it. */
START_TEST(busy_ones_stay)
{
    setup(2);
    for (cw_server s = 1; s < 16; s++) {
        ck_assert_int_gt(messenger_send(net, 0, s, 100000, NULL), 0);
    }
    fake_net_run(net, CW_SEC(2));
    ck_assert_uint_eq(messenger_of(net, 0)->ended, 15);
    ck_assert_int_eq(messenger_of(net, 0)->status, 0);
    ck_assert_uint_le(stats(0).peers, 2);
    fake_net_close(net);
}
END_TEST

/* Many to one that remembers few: who has just been heard is not forgotten, the others wait their turn. */
START_TEST(a_receiver_with_little_room)
{
    setup(2);
    const struct transport_send_options options = {TRANSPORT_SEND_INIT, .timeout = CW_SEC(20)};
    for (cw_server s = 1; s < 8; s++) {
        ck_assert_int_gt(messenger_send(net, s, 0, 30000, &options), 0);
    }
    fake_net_run(net, CW_SEC(10));
    for (cw_server s = 1; s < 8; s++) {
        ck_assert_uint_eq(messenger_of(net, s)->ended, 1);
        ck_assert_int_eq(messenger_of(net, s)->status, 0);
    }
    ck_assert_uint_eq(messenger_of(net, 0)->taken, 7);
    /* It has forgotten the first ones: what they send now is not lost for that. */
    ck_assert_int_gt(messenger_send(net, 1, 0, 30000, &options), 0);
    fake_net_run(net, CW_SEC(3));
    ck_assert_int_eq(messenger_of(net, 1)->status, 0);
    ck_assert_uint_eq(messenger_of(net, 0)->taken, 8);
    fake_net_close(net);
}
END_TEST

START_TEST(to_itself)
{
    setup(4);
    ck_assert_int_gt(messenger_send(net, 5, 5, 70000, NULL), 0);
    fake_net_run(net, CW_MS(10));
    ck_assert(messenger_got(net, 5, 70000));
    ck_assert_int_eq(messenger_of(net, 5)->status, 0);
    fake_net_close(net);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(idle_ones_make_room),
    SUITE_TEST(busy_ones_stay),
    SUITE_TEST(a_receiver_with_little_room),
    SUITE_TEST(to_itself),
};
SUITE_MAIN("services.transport.peers", tests)
