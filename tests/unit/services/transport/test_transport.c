/* SPDX-License-Identifier: Apache-2.0 */
/* The ways in, on a torus of fake hosts: opened, closed, packets of every kind, events. */
#include "base/bytes.h"
#include "messenger.h"
#include "services/transport/segment.h"
#include "suite.h"

#include <errno.h>

static struct fake_net *net;

static void setup(void)
{
    messenger_config = (struct transport_config){.size = 0};
    net = fake_net_open(&messenger_service, (cw_dims){3, 3, 1});
}

static struct transport_stats stats(cw_server s)
{
    struct transport_stats out;
    transport_stats(messenger_of(net, s)->t, &out);
    return out;
}

START_TEST(a_message_arrives)
{
    setup();
    ck_assert_int_gt(messenger_send(net, 0, 4, 100, NULL), 0);
    ck_assert_uint_eq(messenger_of(net, 0)->ended, 0); /* never from within the call */
    fake_net_run(net, CW_MS(1));
    ck_assert(messenger_got(net, 4, 100));
    ck_assert_uint_eq(messenger_of(net, 0)->ended, 1);
    ck_assert_int_eq(messenger_of(net, 0)->status, 0);
    ck_assert_uint_eq(messenger_of(net, 4)->last.src_process, 0);
    ck_assert_uint_eq(stats(0).done, 1);
    ck_assert_uint_eq(stats(4).taken, 1);
    struct transport_path path;
    ck_assert_int_eq(transport_path_get(messenger_of(net, 0)->t, MESSENGER_JOB, 4, MESSENGER_PORT, &path), 0);
    ck_assert_int_gt(path.rtt.ns, 0);
    ck_assert_int_eq(transport_path_get(messenger_of(net, 0)->t, MESSENGER_JOB, 5, MESSENGER_PORT, &path), -ENOENT);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(impossible_limits)
{
    setup();
    struct messenger *k = messenger_of(net, 0);
    struct transport *t;
    struct transport_config c = k->config;
    ck_assert_int_eq(transport_open(net->server[0], &c, &t), 0);
    transport_close(t);
    transport_close(NULL);
#define WRONG(change) \
    c = k->config;    \
    c.change;         \
    ck_assert_int_eq(transport_open(net->server[0], &c, &t), -EINVAL);
    WRONG(message = NULL)
    WRONG(size = 8)
    WRONG(peers_max = 0)
    WRONG(messages_max = 70000)
    WRONG(timeout = CW_NS(0))
    WRONG(rto_max = CW_NS(1))
    WRONG(window_max = 0)
    fake_net_close(net);
}
END_TEST

/* Whatever comes is counted, answered or not, and breaks nothing. */
START_TEST(strange_packets)
{
    setup();
    cw_svc *s = net->server[0];
    cw_rx rx = {.size = sizeof rx,
                .where = CW_ARRIVED,
                .kind = CW_TO_SERVER,
                .job = MESSENGER_JOB,
                .port = MESSENGER_PORT,
                .src_job = MESSENGER_JOB,
                .src_process = 1,
                .src_server = {0, 1, 0}};
    fake_arrive(s, fake_packet(s, "x", 1, 0), &rx, NULL);
    ck_assert_uint_eq(stats(0).malformed, 1);
    uint8_t bytes[256];
    struct segment data = {.kind = SEGMENT_SEGMENT, .flags = FLAG_DATA, .port = MESSENGER_PORT};
    data.data = (struct segment_data){.out = 1, .in = 2, .packet = 1, .number = 1, .floor = 1, .part = 100};
    segment_encode(&data, bytes);
    fake_arrive(s, fake_packet(s, bytes, segment_head(&data), 0), &rx, NULL);
    ck_assert_uint_eq(stats(0).strange, 1);
    struct fake_send sent;
    ck_assert(fake_take(s, &sent)); /* its sender is told */
    ck_assert_uint_eq(cw_packet_data(sent.packet, NULL)[0] & 15, SEGMENT_STRANGE);
    fake_free(sent.packet);
    struct segment ack = {.kind = SEGMENT_SEGMENT, .flags = FLAG_ACK, .port = MESSENGER_PORT};
    segment_encode(&ack, bytes);
    fake_arrive(s, fake_packet(s, bytes, segment_head(&ack), 0), &rx, NULL);
    ck_assert_uint_eq(stats(0).strange, 2);
    ck_assert_uint_eq(messenger_of(net, 0)->began, 0);
    fake_net_close(net);
}
END_TEST

/* A hello that was said long ago does not end the association that is open. */
START_TEST(old_hellos)
{
    setup();
    ck_assert_int_gt(messenger_send(net, 1, 0, 10, NULL), 0);
    fake_net_run(net, CW_MS(1));
    cw_svc *s = net->server[0];
    cw_rx rx = {.size = sizeof rx,
                .where = CW_ARRIVED,
                .kind = CW_TO_SERVER,
                .src_job = MESSENGER_JOB,
                .src_process = 1,
                .src_server = torus_coord(&net->torus, 1)};
    uint8_t bytes[64];
    struct segment hello = {.kind = SEGMENT_HELLO, .port = MESSENGER_PORT, .out = 4711, .instance = 3};
    segment_encode(&hello, bytes);
    fake_arrive(s, fake_packet(s, bytes, segment_head(&hello), 0), &rx, NULL);
    ck_assert_int_gt(messenger_send(net, 1, 0, 20, NULL), 0);
    fake_net_run(net, CW_MS(1));
    ck_assert(messenger_got(net, 0, 20));
    ck_assert_uint_eq(messenger_of(net, 0)->taken, 2);
    ck_assert_uint_eq(stats(1).restarts, 0);
    ck_assert_uint_eq(messenger_of(net, 1)->status, 0);
    fake_net_close(net);
}
END_TEST

START_TEST(closing_tells_everybody)
{
    setup();
    net->lose = 1;
    ck_assert_int_gt(messenger_send(net, 0, 4, 100000, NULL), 0);
    ck_assert_int_gt(messenger_ask(net, 0, 4, 10, NULL), 0);
    fake_net_run(net, CW_MS(1));
    struct messenger *k = messenger_of(net, 0);
    ck_assert_uint_eq(k->ended, 0);
    transport_close(k->t);
    ck_assert_uint_eq(k->ended, 2);
    ck_assert_int_eq(k->status, -ECANCELED);
    ck_assert_int_eq(transport_open(net->server[0], &k->config, &k->t), 0);
    fake_net_close(net);
}
END_TEST

START_TEST(a_server_leaves_the_view)
{
    setup();
    net->lose = 1;
    const struct transport_send_options waits = {TRANSPORT_SEND_INIT, .flags = TRANSPORT_WAIT};
    ck_assert_int_gt(messenger_send(net, 0, 4, 10, NULL), 0);
    ck_assert_int_gt(messenger_send(net, 0, 4, 10, &waits), 0);
    fake_net_run(net, CW_MS(1));
    cw_event ev = {.size = sizeof ev, .kind = CW_EVENT_SERVER_DOWN, .server = torus_coord(&net->torus, 4)};
    net->server[0]->down[4] = true;
    messenger_service.on_event(net->server[0], net->server[0]->state, &ev);
    ck_assert_uint_eq(messenger_of(net, 0)->ended, 1);
    ck_assert_int_eq(messenger_of(net, 0)->status, -ENETUNREACH);
    ck_assert_int_eq(messenger_send(net, 0, 4, 10, NULL), -ENETUNREACH);
    net->lose = 0;
    net->server[0]->down[4] = false;
    ev.kind = CW_EVENT_SERVER_UP;
    messenger_service.on_event(net->server[0], net->server[0]->state, &ev);
    fake_net_run(net, CW_MS(300));
    ck_assert_uint_eq(messenger_of(net, 0)->ended, 2);
    ck_assert_int_eq(messenger_of(net, 0)->status, 0);
    fake_net_close(net);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_message_arrives), SUITE_TEST(impossible_limits),       SUITE_TEST(strange_packets),
    SUITE_TEST(old_hellos),        SUITE_TEST(closing_tells_everybody), SUITE_TEST(a_server_leaves_the_view),
};
SUITE_MAIN("services.transport", tests)
