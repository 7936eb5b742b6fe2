/* SPDX-License-Identifier: Apache-2.0 */
/* What leaves when: full queues, refusals, acknowledgements. */
#include "messenger.h"
#include "services/transport/segment.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

enum { PART = FAKE_MTU - SEGMENT_HEAD_BYTES - SEGMENT_DATA_BYTES };

static struct fake_net *net;
static struct messenger *from, *to;

static void setup(void)
{
    messenger_config = (struct transport_config){.size = 0};
    net = fake_net_open(&messenger_service, (cw_dims){3, 3, 1});
    from = messenger_of(net, 0);
    to = messenger_of(net, 4);
}

static struct transport_stats stats(const struct messenger *k)
{
    struct transport_stats out;
    transport_stats(k->t, &out);
    return out;
}

START_TEST(a_full_queue)
{
    setup();
    ck_assert_int_gt(messenger_send(net, 0, 4, 10, NULL), 0);
    fake_net_run(net, CW_MS(1));
    net->server[0]->room = 3;
    ck_assert_int_gt(messenger_send(net, 0, 4, 100000, NULL), 0);
    ck_assert_uint_eq(fake_sends(net->server[0]), 3);
    fake_net_run(net, CW_US(400)); /* nobody says that there is room */
    ck_assert_uint_eq(from->ended, 1);
    net->server[0]->room = SIZE_MAX;
    messenger_service.on_writable(net->server[0], from);
    fake_net_run(net, CW_MS(5));
    ck_assert_uint_eq(from->ended, 2);
    ck_assert(messenger_got(net, 4, 100000));
    ck_assert_uint_eq(stats(from).repeated, 0);
    fake_net_close(net);
}
END_TEST

START_TEST(refusals)
{
    static const int reasons[] = {-EACCES, -ENOENT};
    for (unsigned i = 0; i < 2; i++) {
        setup();
        net->server[0]->refuse = reasons[i];
        ck_assert_int_gt(messenger_send(net, 0, 4, 10, NULL), 0);
        fake_net_run(net, CW_MS(1));
        ck_assert_uint_eq(from->ended, 1);
        ck_assert_int_eq(from->status, reasons[i]);
        fake_net_close(net);
    }
}
END_TEST

/* Many packets one way need few the other way. */
START_TEST(acknowledgements_are_few)
{
    setup();
    ck_assert_int_gt(messenger_send(net, 0, 4, 3000000, NULL), 0);
    fake_net_run(net, CW_MS(50));
    ck_assert_int_eq(from->status, 0);
    ck_assert_uint_eq(from->ended, 1);
    ck_assert_uint_ge(stats(from).packets, 338);
    ck_assert_uint_le(stats(to).acks, 338 / 2);
    ck_assert_uint_eq(stats(from).acks, 0);
    fake_net_close(net);
}
END_TEST

/* The window is what bounds what is on its way. */
START_TEST(the_window_holds)
{
    messenger_config = transport_config_default(0, NULL);
    messenger_config.window_max = 40000;
    messenger_config.queue_target = 20000;
    net = fake_net_open(&messenger_service, (cw_dims){3, 3, 1});
    from = messenger_of(net, 0);
    net->hop = CW_MS(1);
    ck_assert_int_gt(messenger_send(net, 0, 4, 1000000, NULL), 0);
    struct transport_path path;
    for (int i = 0; i < 60; i++) {
        fake_net_run(net, CW_MS(1));
        if (transport_path_get(from->t, MESSENGER_JOB, 4, MESSENGER_PORT, &path) == 0) {
            ck_assert_uint_le(path.in_flight, 40000 + 9000); /* and one that probes */
        }
    }
    fake_net_close(net);
}
END_TEST

static int fails_later(void *context, void *arg, uint64_t offset, uint8_t *out, size_t length)
{
    (void)context;
    (void)arg;
    memset(out, 0, length);
    return offset > 50000 ? -EIO : 0;
}

START_TEST(a_source_that_fails)
{
    setup();
    const struct transport_data data = {.size = 100000, .read = fails_later};
    const cw_to where = {
        .kind = CW_TO_SERVER, .job = MESSENGER_JOB, .port = MESSENGER_PORT, .server = {1, 1, 0}, .process = 4};
    ck_assert_int_gt(transport_send(from->t, &where, &data, NULL, NULL, NULL), 0);
    fake_net_run(net, CW_MS(10));
    ck_assert_uint_eq(stats(from).failed, 1);
    ck_assert_uint_eq(to->taken, 0);
    fake_net_close(net);
}
END_TEST

/* Bytes that come to the sender little by little leave as they come, also where every third packet is lost. */
START_TEST(bytes_that_are_not_there_yet)
{
    for (unsigned lose = 0; lose <= 3; lose += 3) {
        setup();
        net->lose = lose;
        from->starve = true;
        const struct transport_send_options options = {TRANSPORT_SEND_INIT, .timeout = CW_SEC(60)};
        int64_t id = messenger_send(net, 0, 4, 100000, &options);
        ck_assert_int_gt(id, 0);
        to->pieces = true;
        for (from->there = 0; from->there < 100000; from->there += 7000) {
            uint64_t whole = from->there / PART * PART;
            ck_assert_int_eq(transport_more(from->t, id), 0);
            fake_net_run(net, CW_MS(lose == 0 ? 2 : 500));
            ck_assert_uint_eq(to->at, whole); /* all that there is of whole parts has come */
            ck_assert_uint_eq(from->ended, 0);
            unsigned asked = from->starved;
            uint64_t packets = stats(from).packets;
            fake_net_run(net, CW_SEC(1));
            ck_assert_uint_eq(from->starved, asked); /* and nothing happens until there is more */
            ck_assert(lose > 0 || stats(from).packets == packets);
        }
        ck_assert_int_eq(transport_more(from->t, id), 0);
        fake_net_run(net, CW_SEC(1));
        ck_assert_uint_eq(from->ended, 1);
        ck_assert_int_eq(from->status, 0);
        ck_assert(messenger_got(net, 4, 100000));
        ck_assert_int_eq(transport_more(from->t, id), -ENOENT);
        fake_net_close(net);
    }
}
END_TEST

/* A message that waits for bytes does not hold up others to the same peer, and ends by its time-out. */
START_TEST(others_pass_by)
{
    setup();
    from->starve = true;
    from->there = 20000;
    const struct transport_send_options options = {TRANSPORT_SEND_INIT, .timeout = CW_MS(100)};
    int64_t id = messenger_send(net, 0, 4, 100000, &options);
    for (unsigned i = 0; i < 200; i++) { /* more than there are numbers */
        ck_assert_int_gt(messenger_send(net, 0, 4, 1000, NULL), 0);
        fake_net_run(net, CW_US(200));
    }
    ck_assert_uint_lt(from->ended, 200); /* numbers are used up by what is behind the one that waits */
    ck_assert_uint_gt(from->ended, 100);
    ck_assert_int_eq(from->status, 0);
    fake_net_run(net, CW_MS(100));
    ck_assert_uint_eq(from->ended, 201);
    ck_assert_int_eq(transport_more(from->t, id), -ENOENT);
    ck_assert_uint_eq(to->given_up, 1);
    fake_net_close(net);
}
END_TEST

/* A word overtakes the rest of a long message: they take turns. */
START_TEST(a_word_is_not_held_up)
{
    setup();
    net->hop = CW_US(100);
    ck_assert_int_gt(messenger_send(net, 0, 4, MESSENGER_BYTES, NULL), 0);
    fake_net_run(net, CW_US(1300));
    ck_assert_uint_eq(to->began, 1);
    ck_assert_int_gt(messenger_send(net, 0, 4, 10, NULL), 0);
    fake_net_run(
        net, CW_US(900)); /* two round trips: an acknowledgement makes room, the word leaves, and its result comes */
    ck_assert_uint_eq(from->ended, 1);
    ck_assert_uint_eq(to->bytes, 10);
    fake_net_run(net, CW_MS(500));
    ck_assert_uint_eq(from->ended, 2);
    ck_assert(messenger_got(net, 4, MESSENGER_BYTES));
    fake_net_close(net);
}
END_TEST

/* What a read() that calls in brings to its end stays known, though the part that tells of it does not leave. */
START_TEST(a_read_that_takes_a_message)
{
    messenger_config = transport_config_default(0, NULL);
    messenger_config.ack_delay = CW_MS(20);
    messenger_config.rto_min = CW_MS(100);
    net = fake_net_open(&messenger_service, (cw_dims){3, 3, 1});
    from = messenger_of(net, 0);
    to = messenger_of(net, 4);
    for (unsigned i = 0; i < 2; i++) { /* both ways are open */
        ck_assert_int_gt(messenger_send(net, 0, 4, 10, NULL), 0);
        ck_assert_int_gt(messenger_send(net, 4, 0, 10, NULL), 0);
        fake_net_run(net, CW_MS(200));
    }
    ck_assert_uint_eq(from->taken, 2);
    from->pieces = true;
    from->stall = 1;
    ck_assert_int_gt(messenger_send(net, 4, 0, 10, NULL), 0);
    fake_net_run(net, CW_MS(1));
    ck_assert_uint_ne(from->stalled, 0);
    uint64_t packets = stats(from).packets;
    from->resumes = true;
    from->starve = true;
    ck_assert_int_gt(messenger_send(net, 0, 4, 10, NULL), 0);
    ck_assert_uint_eq(from->starved, 1);
    ck_assert_uint_eq(from->taken, 3);
    ck_assert_uint_eq(stats(from).packets, packets); /* it was to go with the part */
    fake_net_run(net, CW_SEC(1));
    ck_assert_uint_eq(to->ended, 3);
    ck_assert_int_eq(to->status, 0);
    ck_assert_uint_eq(from->taken, 3);
    ck_assert_uint_eq(stats(to).repeated, 0);
    fake_net_close(net);
}
END_TEST

static int stalls_once(void *context, void *arg, const struct transport_message *m, uint64_t offset,
                       const uint8_t *bytes, size_t length)
{
    struct messenger *k = context;
    (void)arg;
    (void)offset;
    (void)bytes;
    (void)length;
    if (k->pieces_taken == 0 && k->stalled == 0 && !k->resumes) {
        k->stalled = m->incoming;
        return -EAGAIN;
    }
    k->pieces_taken++;
    return 0;
}

/* A request whose answer is whole before the request has left, and whose read() resumes that answer. */
START_TEST(a_read_that_ends_its_request)
{
    setup();
    from->starve = true;
    from->there = 50000;
    to->pieces = true;
    const struct transport_send_options options = {TRANSPORT_SEND_INIT, .accept = {.piece = stalls_once}};
    int64_t id = messenger_ask(net, 0, 4, 500000, &options);
    ck_assert_int_gt(id, 0);
    fake_net_run(net, CW_MS(2));
    ck_assert_uint_eq(to->began, 1);
    ck_assert_int_gt(transport_reply(to->t, &to->reply_to, 0, &(struct transport_data){.bytes = "early", .size = 5},
                                     NULL, NULL, NULL),
                     0);
    fake_net_run(net, CW_MS(2));
    ck_assert_uint_ne(from->stalled, 0);
    from->there = 500000;
    from->resumes = true;
    ck_assert_int_eq(transport_more(from->t, id), 0);
    ck_assert_uint_eq(from->stalled, 0); /* read() was called, and has resumed the answer */
    ck_assert_uint_eq(from->ended, 0);
    fake_net_run(net, CW_US(1));
    ck_assert_uint_eq(from->ended, 1);
    ck_assert_int_eq(from->status, 0);
    ck_assert_uint_eq(from->pieces_taken, 1);
    ck_assert_int_eq(transport_more(from->t, id), -ENOENT);
    fake_net_run(net, CW_MS(10));
    ck_assert_uint_eq(from->ended, 1);
    fake_net_close(net);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_full_queue),
    SUITE_TEST(refusals),
    SUITE_TEST(acknowledgements_are_few),
    SUITE_TEST(the_window_holds),
    SUITE_TEST(a_source_that_fails),
    SUITE_TEST(bytes_that_are_not_there_yet),
    SUITE_TEST(others_pass_by),
    SUITE_TEST(a_word_is_not_held_up),
    SUITE_TEST(a_read_that_takes_a_message),
    SUITE_TEST(a_read_that_ends_its_request),
};
SUITE_MAIN("services.transport.sending", tests)
