/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of the background place: one that is full, or whose turn does not come, holds up nothing else (rule 18). */
#include "messenger.h"
#include "suite.h"

#include <errno.h>

static struct fake_net *net;
static struct messenger *from, *to;

static const struct transport_send_options background = {TRANSPORT_SEND_INIT, .flags = TRANSPORT_BACKGROUND};

static void setup(void)
{
    messenger_config = (struct transport_config){.size = 0};
    net = fake_net_open(&messenger_service, (cw_dims){3, 1, 1});
    from = messenger_of(net, 0);
    to = messenger_of(net, 1);
}

/* There is room in the background place of that server: so much, and its service is told. */
static void make_room(cw_server s, size_t packets)
{
    net->server[s]->room_background = packets;
    messenger_service.on_writable(net->server[s], messenger_of(net, s));
}

START_TEST(its_data_waits_there)
{
    setup();
    net->server[0]->room_background = 0;
    ck_assert_int_gt(messenger_send(net, 0, 1, 100000, &background), 0);
    fake_net_run(net, CW_MS(5));
    ck_assert_int_gt(messenger_send(net, 0, 2, 100, &background), 0); /* begins when the place is full */
    fake_net_run(net, CW_MS(50));
    ck_assert_uint_eq(to->began, 0);
    make_room(0, 3);
    fake_net_run(net, CW_MS(50));
    ck_assert_uint_eq(to->began, 1);
    ck_assert_uint_eq(to->taken, 0);
    make_room(0, SIZE_MAX);
    fake_net_run(net, CW_MS(50));
    ck_assert_uint_eq(from->ended, 2);
    ck_assert_int_eq(from->status, 0);
    ck_assert(messenger_got(net, 1, 100000) && messenger_got(net, 2, 100));
    fake_net_close(net);
}
END_TEST

/* To the same server: more background than the window and the numbers hold, and a word passes it by. */
START_TEST(a_word_passes_by)
{
    setup();
    net->server[0]->room_background = 5;
    for (unsigned i = 0; i < 200; i++) {
        ck_assert_int_gt(messenger_send(net, 0, 1, 100000, &background), 0);
    }
    fake_net_run(net, CW_MS(5));
    ck_assert_uint_eq(from->ended, 0);
    ck_assert_int_gt(messenger_send(net, 0, 1, 10, NULL), 0);
    ck_assert_int_gt(messenger_send(net, 0, 2, 10, NULL), 0);
    ck_assert_int_gt(messenger_ask(net, 0, 1, 50000, NULL), 0);
    fake_net_run(net, CW_MS(1));
    ck_assert_uint_eq(from->ended, 3);
    ck_assert_int_eq(from->status, 0);
    make_room(0, SIZE_MAX);
    fake_net_run(net, CW_SEC(4));
    ck_assert_uint_eq(from->ended, 203);
    ck_assert_int_eq(from->status, 0);
    ck_assert_uint_eq(to->taken, 202);
    fake_net_close(net);
}
END_TEST

/* Both ends have a full background place: what has come is acknowledged all the same, and in the foreground. */
START_TEST(acknowledgements_do_not_wait_there)
{
    setup();
    net->server[1]->room_background = 0;
    for (cw_server s = 0; s < 3; s += 2) {
        ck_assert_int_gt(messenger_send(net, 1, s, 30000, &background), 0);
    }
    fake_net_run(net, CW_MS(5));
    for (cw_server s = 0; s < 3; s += 2) {
        ck_assert_int_gt(messenger_send(net, s, 1, 100000, &background), 0);
    }
    fake_net_run(net, CW_MS(5));
    ck_assert_uint_eq(from->ended, 1);
    ck_assert_uint_eq(messenger_of(net, 2)->ended, 1);
    struct transport_stats stats;
    transport_stats(from->t, &stats);
    ck_assert_uint_eq(stats.repeated, 0);
    ck_assert_uint_eq(to->ended, 0);
    make_room(1, SIZE_MAX);
    fake_net_run(net, CW_MS(50));
    ck_assert_uint_eq(to->ended, 2);
    ck_assert_int_eq(to->status, 0);
    fake_net_close(net);
}
END_TEST

/* Nobody says that there is room again, and it is tried all the same. */
START_TEST(tried_again)
{
    setup();
    net->server[0]->room_background = 1;
    ck_assert_int_gt(messenger_send(net, 0, 1, 100000, &background), 0);
    fake_net_run(net, CW_MS(5));
    ck_assert_uint_eq(from->ended, 0);
    net->server[0]->room_background = SIZE_MAX;
    fake_net_run(net, CW_MS(20));
    ck_assert_uint_eq(from->ended, 1);
    fake_net_close(net);
}
END_TEST

/* Each sort has an association of its own; permission finds the right one, and a request's answer its request. */
START_TEST(apart_from_the_foreground)
{
    setup();
    to->wait = 1;
    ck_assert_int_gt(messenger_ask(net, 0, 1, 10, &background), 0);
    ck_assert_int_gt(messenger_ask(net, 0, 1, 10, NULL), 0);
    fake_net_run(net, CW_US(500));
    ck_assert(to->began == 2 && to->taken == 1);
    ck_assert_int_eq(transport_permit(to->t, &to->asker), 0);
    struct transport_stats stats;
    transport_stats(from->t, &stats);
    ck_assert_uint_eq(stats.peers, 2);
    fake_net_run(net, CW_MS(5));
    ck_assert_uint_eq(from->ended, 2);
    ck_assert_int_eq(from->status, 0);
    fake_net_close(net);
}
END_TEST

START_TEST(without_such_a_place)
{
    messenger_config = transport_config_default(0, NULL);
    net = fake_net_open(&messenger_service, (cw_dims){3, 1, 1});
    ck_assert_int_eq(messenger_send(net, 0, 1, 10, &background), -EINVAL);
    fake_net_close(net);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(its_data_waits_there),
    SUITE_TEST(a_word_passes_by),
    SUITE_TEST(acknowledgements_do_not_wait_there),
    SUITE_TEST(tried_again),
    SUITE_TEST(apart_from_the_foreground),
    SUITE_TEST(without_such_a_place),
};
SUITE_MAIN("services.transport.background", tests)
