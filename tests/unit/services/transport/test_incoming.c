/* SPDX-License-Identifier: Apache-2.0 */
/* Messages that come: whole, into memory, in pieces; refused; slow; too large. */
#include "messenger.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static struct fake_net *net;
static struct messenger *from, *to;

static void setup(struct transport_config config)
{
    messenger_config = config;
    net = fake_net_open(&messenger_service, (cw_dims){4, 1, 1});
    from = messenger_of(net, 0);
    to = messenger_of(net, 2);
}

static void plain(void)
{
    setup((struct transport_config){.size = 0});
}

static const uint64_t sizes[] = {0, 1, 8000, 8911, 8912, 8913, 9000, 17824, 100000, 3000000};

START_TEST(every_size_every_way)
{
    plain();
    for (int way = 0; way < 3; way++) {
        to->into = way == 1;
        to->pieces = way == 2;
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            from->ended = 0;
            ck_assert_int_gt(messenger_send(net, 0, 2, sizes[i], NULL), 0);
            fake_net_run(net, CW_MS(50));
            ck_assert_uint_eq(from->ended, 1);
            ck_assert_int_eq(from->status, 0);
            ck_assert(messenger_got(net, 2, sizes[i]));
        }
    }
    ck_assert_uint_eq(to->taken, 30);
    struct transport_stats stats;
    transport_stats(to->t, &stats);
    ck_assert_uint_eq(stats.memory, 0);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(every_third_packet_is_lost)
{
    plain();
    net->lose = 3;
    for (int way = 0; way < 3; way++) {
        to->into = way == 1;
        to->pieces = way == 2;
        from->ended = 0;
        ck_assert_int_gt(messenger_send(net, 0, 2, 400000, NULL), 0);
        fake_net_run(net, CW_SEC(3));
        ck_assert_uint_eq(from->ended, 1);
        ck_assert_int_eq(from->status, 0);
        ck_assert(messenger_got(net, 2, 400000));
    }
    ck_assert_uint_eq(to->taken, 3);
    fake_net_close(net);
}
END_TEST

START_TEST(refused)
{
    plain();
    to->refuse = -EPERM;
    ck_assert_int_gt(messenger_send(net, 0, 2, 100000, NULL), 0);
    fake_net_run(net, CW_MS(5));
    ck_assert_int_eq(from->status, -EPERM);
    ck_assert_uint_eq(to->taken + to->given_up, 0);
    to->refuse = 0;
    to->result = -EDOM; /* at the end */
    ck_assert_int_gt(messenger_send(net, 0, 2, 100000, NULL), 0);
    fake_net_run(net, CW_MS(5));
    ck_assert_uint_eq(from->ended, 2);
    ck_assert_int_eq(from->status, -EDOM);
    fake_net_close(net);
}
END_TEST

START_TEST(too_large)
{
    struct transport_config c = transport_config_default(0, NULL);
    c.message_max = 50000;
    c.memory_max = 200000;
    setup(c);
    ck_assert_int_gt(messenger_send(net, 0, 2, 50001, NULL), 0);
    fake_net_run(net, CW_MS(5));
    ck_assert_int_eq(from->status, -EMSGSIZE);
    ck_assert_uint_eq(to->began, to->given_up);
    to->pieces = true; /* has no such limit, but its window */
    ck_assert_int_gt(messenger_send(net, 0, 2, 1000000, NULL), 0);
    fake_net_run(net, CW_MS(50));
    ck_assert_int_eq(from->status, -ENOBUFS);
    fake_net_close(net);
}
END_TEST

/* Memory for one at a time: the others wait, and all come. */
START_TEST(little_memory)
{
    struct transport_config c = transport_config_default(0, NULL);
    c.peer_memory_max = 120000;
    setup(c);
    for (int i = 0; i < 5; i++) {
        ck_assert_int_gt(messenger_send(net, 0, 2, 100000, NULL), 0);
    }
    fake_net_run(net, CW_SEC(2));
    ck_assert_uint_eq(from->ended, 5);
    ck_assert_int_eq(from->status, 0);
    ck_assert_uint_eq(to->taken, 5);
    struct transport_stats stats;
    transport_stats(to->t, &stats);
    ck_assert_uint_le(stats.memory_most, 120000);
    fake_net_close(net);
}
END_TEST

/* Cuts the buffer into 1 to 16 places: the first are of 0, 1, 3, 7 .. bytes, and the last takes what is left. */
static void cut(unsigned places)
{
    uint8_t *at = to->buffer;
    for (unsigned i = 0; i < places; i++) {
        size_t length = i + 1 < places ? (size_t)(UINT64_C(1) << i) - 1 : (size_t)(to->buffer + MESSENGER_BYTES - at);
        to->place[i] = (struct transport_place){at, length};
        at += length;
    }
    to->places = places;
}

START_TEST(in_places)
{
    plain();
    for (unsigned places = 1; places <= TRANSPORT_PLACES_MAX; places++) {
        cut(places);
        net->lose = places % 2 == 0 ? 3 : 0;
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            from->ended = 0;
            ck_assert_int_gt(messenger_send(net, 0, 2, sizes[i], NULL), 0);
            fake_net_run(net, CW_SEC(3));
            ck_assert_uint_eq(from->ended, 1);
            ck_assert_int_eq(from->status, 0);
            ck_assert(messenger_got(net, 2, sizes[i]));
        }
    }
    struct transport_stats stats;
    transport_stats(to->t, &stats);
    ck_assert_uint_eq(stats.memory, 0);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

/* Too many places, or too small ones: the sender is told that the message is too long. */
START_TEST(places_that_do_not_hold_it)
{
    plain();
    to->place[0] = (struct transport_place){to->buffer, 500};
    to->place[1] = (struct transport_place){to->buffer + 500, 499};
    to->places = 2;
    ck_assert_int_gt(messenger_send(net, 0, 2, 1000, NULL), 0);
    fake_net_run(net, CW_MS(5));
    ck_assert_int_eq(from->status, -EMSGSIZE);
    ck_assert_uint_eq(to->given_up, 1);
    ck_assert_int_gt(messenger_send(net, 0, 2, 999, NULL), 0);
    fake_net_run(net, CW_MS(5));
    ck_assert_int_eq(from->status, 0);
    ck_assert(messenger_got(net, 2, 999));
    for (unsigned i = 0; i <= TRANSPORT_PLACES_MAX; i++) {
        to->place[i] = (struct transport_place){to->buffer, 1000};
    }
    to->places = TRANSPORT_PLACES_MAX + 1;
    ck_assert_int_gt(messenger_send(net, 0, 2, 1000, NULL), 0);
    fake_net_run(net, CW_MS(5));
    ck_assert_int_eq(from->status, -EMSGSIZE);
    fake_net_close(net);
}
END_TEST

/* The head comes with the first part that comes, whichever that is, and lasts until the message ends. */
START_TEST(a_head)
{
    uint8_t head[TRANSPORT_HEAD_MAX];
    plain();
    net->lose = 4; /* so that first parts are lost */
    for (size_t length = 0; length <= sizeof head; length += 6) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            memset(head, (int)(length + i + 1), sizeof head);
            const struct transport_send_options options = {TRANSPORT_SEND_INIT, .head = head, .head_length = length,
                                                           .tag = (uint32_t)i};
            from->ended = 0;
            ck_assert_int_gt(messenger_send(net, 0, 2, sizes[i], &options), 0);
            fake_net_run(net, CW_SEC(1));
            ck_assert_uint_eq(from->ended, 1);
            ck_assert_int_eq(from->status, 0);
            ck_assert(messenger_got(net, 2, sizes[i]));
            ck_assert_uint_eq(to->last.head_length, length);
            ck_assert_mem_eq(to->last.head, head, length);
            for (size_t at = length; at < sizeof head; at++) {
                ck_assert_uint_eq(to->last.head[at], 0);
            }
        }
    }
    fake_net_close(net);
}
END_TEST

/* Without permission nothing is kept, and the sender asks after 1, 2, 4 .. 64 ms, each time from the first part. */
START_TEST(asked_again)
{
    plain();
    to->wait = 9;
    ck_assert_int_gt(messenger_send(net, 0, 2, 8000, NULL), 0);
    static const unsigned asked_by[] = {2, 4, 8, 16, 32, 64, 128}; /* ms; by then 2, 3, 4 .. times */
    cw_time begun = net->now;
    for (unsigned i = 0; i < sizeof asked_by / sizeof *asked_by; i++) {
        cw_time until = cw_time_add(begun, CW_MS(asked_by[i]));
        fake_net_run(net, cw_time_since(until, net->now));
        ck_assert_uint_eq(to->began, i + 2);
        ck_assert_uint_eq(from->ended, 0);
    }
    fake_net_run(net, CW_MS(130));
    ck_assert_uint_eq(to->began, 10);
    ck_assert_uint_eq(to->taken, 1);
    ck_assert_uint_eq(to->given_up, 0);
    ck_assert_int_eq(from->status, 0);
    ck_assert(messenger_got(net, 2, 8000));
    struct transport_stats stats;
    transport_stats(from->t, &stats);
    ck_assert_uint_eq(stats.held, 9);
    ck_assert_uint_eq(stats.failed, 0);
    transport_stats(to->t, &stats);
    ck_assert_uint_eq(stats.refused, 0);
    fake_net_close(net);
}
END_TEST

/* It ends at its time-out, or when it is cancelled: to the receiver it never began. */
START_TEST(never_permitted)
{
    plain();
    to->wait = UINT32_MAX;
    const struct transport_send_options options = {TRANSPORT_SEND_INIT, .timeout = CW_MS(100)};
    ck_assert_int_gt(messenger_send(net, 0, 2, 100000, &options), 0);
    int64_t other = messenger_send(net, 0, 2, 100000, NULL);
    fake_net_run(net, CW_MS(101));
    ck_assert_uint_eq(from->ended, 1);
    ck_assert_int_eq(from->status, -ETIMEDOUT);
    ck_assert_int_eq(transport_cancel(from->t, other), 0);
    fake_net_run(net, CW_MS(100));
    ck_assert_uint_eq(to->taken + to->given_up, 0);
    struct transport_stats stats;
    transport_stats(to->t, &stats);
    ck_assert_uint_eq(stats.memory, 0);
    fake_net_close(net);
}
END_TEST

START_TEST(slow_pieces)
{
    plain();
    to->pieces = true;
    to->stall = 3;
    ck_assert_int_gt(messenger_send(net, 0, 2, 2000000, NULL), 0);
    for (int i = 0; i < 3; i++) {
        fake_net_run(net, CW_MS(100));
        ck_assert_uint_eq(from->ended, 0);
        ck_assert_uint_ne(to->stalled, 0);
        ck_assert_int_eq(transport_resume(to->t, to->stalled), 0);
    }
    fake_net_run(net, CW_MS(300));
    ck_assert_uint_eq(from->ended, 1);
    ck_assert_int_eq(from->status, 0);
    ck_assert(messenger_got(net, 2, 2000000));
    ck_assert_int_eq(transport_resume(to->t, to->stalled), -ENOENT);
    fake_net_close(net);
}
END_TEST

START_TEST(its_sender_falls_silent)
{
    struct transport_config c = transport_config_default(0, NULL);
    c.silence = CW_MS(100);
    setup(c);
    net->hop = CW_US(100);
    ck_assert_int_gt(messenger_send(net, 0, 2, 3000000, NULL), 0);
    fake_net_run(net, CW_US(700));
    ck_assert_uint_eq(to->began, 1);
    ck_assert_uint_eq(to->taken, 0);
    net->lose = 1;
    fake_net_run(net, CW_MS(200));
    ck_assert_uint_eq(to->given_up, 1);
    ck_assert_int_eq(to->last_status, -ETIMEDOUT);
    fake_net_close(net);
}
END_TEST

START_TEST(its_sender_gives_up)
{
    plain();
    net->hop = CW_US(100);
    int64_t id = messenger_send(net, 0, 2, 3000000, NULL);
    fake_net_run(net, CW_US(700));
    ck_assert_uint_eq(to->began, 1);
    ck_assert_int_eq(transport_cancel(from->t, id), 0);
    ck_assert_int_eq(from->status, -ECANCELED);
    ck_assert_int_eq(transport_cancel(from->t, id), -ENOENT);
    fake_net_run(net, CW_MS(1));
    ck_assert_uint_eq(to->given_up, 1);
    ck_assert_int_eq(to->last_status, -ECONNRESET);
    fake_net_close(net);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(every_size_every_way),
    SUITE_TEST(every_third_packet_is_lost),
    SUITE_TEST(refused),
    SUITE_TEST(too_large),
    SUITE_TEST(in_places),
    SUITE_TEST(places_that_do_not_hold_it),
    SUITE_TEST(a_head),
    SUITE_TEST(asked_again),
    SUITE_TEST(never_permitted),
    SUITE_TEST(little_memory),
    SUITE_TEST(slow_pieces),
    SUITE_TEST(its_sender_falls_silent),
    SUITE_TEST(its_sender_gives_up),
};
SUITE_MAIN("services.transport.incoming", tests)
