/* SPDX-License-Identifier: Apache-2.0 */
/* Requests and answers; what the service may ask for, and what not. */
#include "services/transport/internal.h"

#include "messenger.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static struct fake_net *net;
static struct messenger *from, *to;

static void setup(void)
{
    messenger_config = (struct transport_config){.size = 0};
    net = fake_net_open(&messenger_service, (cw_dims){3, 1, 1});
    from = messenger_of(net, 0);
    to = messenger_of(net, 1);
}

START_TEST(asked_and_answered)
{
    static const uint64_t sizes[] = {0, 1, 100, 9000, 500000};
    setup();
    for (unsigned i = 0; i < 5; i++) {
        ck_assert_int_gt(messenger_ask(net, 0, 1, sizes[i], NULL), 0);
        fake_net_run(net, CW_MS(20));
        ck_assert_uint_eq(from->ended, i + 1);
        ck_assert_int_eq(from->status, 0);
        ck_assert_uint_eq(from->answer_bytes, sizes[i]);
        for (uint64_t k = 0; k < sizes[i]; k++) {
            ck_assert_uint_eq(from->answer[k], messenger_byte(k));
        }
    }
    to->result = -EDOM; /* an answer with a status, and bytes */
    ck_assert_int_gt(messenger_ask(net, 0, 1, 5, NULL), 0);
    fake_net_run(net, CW_MS(20));
    ck_assert_int_eq(from->status, -EDOM);
    ck_assert_uint_eq(from->answer_bytes, 5);
    fake_net_close(net);
}
END_TEST

/* One packet each way when both are small. */
START_TEST(small_ones_are_cheap)
{
    setup();
    ck_assert_int_gt(messenger_ask(net, 0, 1, 10, NULL), 0);
    fake_net_run(net, CW_MS(20));
    struct transport_stats a, b;
    transport_stats(from->t, &a);
    for (int i = 0; i < 100; i++) {
        ck_assert_int_gt(messenger_ask(net, 0, 1, 10, NULL), 0);
        fake_net_run(net, CW_US(20));
    }
    ck_assert_uint_eq(from->ended, 101);
    transport_stats(from->t, &b);
    ck_assert_uint_le(b.packets - a.packets, 101);
    fake_net_close(net);
}
END_TEST

/* Permission brings the message at once, however long its sender would have waited; a second one changes nothing. */
START_TEST(permission)
{
    setup();
    to->wait = 9;
    ck_assert_int_gt(messenger_ask(net, 0, 1, 100, NULL), 0);
    fake_net_run(net, CW_MS(200)); /* it has asked 9 times, and would ask again at 255 ms */
    ck_assert_uint_eq(to->began, 9);
    struct transport_asker asker = to->asker;
    ck_assert_uint_eq(asker.job, MESSENGER_JOB);
    ck_assert_uint_eq(asker.process, 0);
    ck_assert_uint_eq(asker.port, MESSENGER_PORT);
    ck_assert_int_eq(transport_permit(to->t, &asker), 0);
    ck_assert_int_eq(transport_permit(to->t, &asker), 0);
    fake_net_run(net, CW_MS(1));
    ck_assert_uint_eq(to->began, 10);
    ck_assert_uint_eq(to->taken, 1);
    ck_assert_uint_eq(from->ended, 1);
    ck_assert_int_eq(from->status, 0);
    ck_assert_int_eq(transport_permit(to->t, &asker), 0); /* the message has ended: nothing happens */
    fake_net_run(net, CW_MS(100));
    ck_assert_uint_eq(to->began, 10);
    asker.process = 3;
    ck_assert_int_eq(transport_permit(to->t, &asker), -ENOENT);
    struct transport_stats stats;
    transport_stats(from->t, &stats);
    ck_assert_uint_eq(stats.held, 9);
    fake_net_close(net);
}
END_TEST

/* Given in begin() itself, permission overtakes the result that says to wait. */
START_TEST(permission_comes_first)
{
    setup();
    ck_assert_int_gt(messenger_ask(net, 0, 1, 100, NULL), 0);
    fake_net_run(net, CW_MS(20));
    to->wait = 3;
    to->permits = true;
    ck_assert_int_gt(messenger_ask(net, 0, 1, 100, NULL), 0);
    fake_net_run(net, CW_US(900));
    ck_assert_uint_eq(to->taken, 2);
    ck_assert_uint_eq(from->ended, 2);
    fake_net_close(net);
}
END_TEST

/* With TRANSPORT_ASK one part alone leaves until there is permission; without it several do. */
START_TEST(only_the_first_part)
{
    setup();
    ck_assert_int_gt(messenger_send(net, 0, 1, 10, NULL), 0); /* the association is there */
    fake_net_run(net, CW_MS(20));
    for (int asks = 0; asks < 2; asks++) {
        const struct transport_send_options options = {TRANSPORT_SEND_INIT, .flags = asks ? TRANSPORT_ASK : 0};
        struct transport_stats before, after;
        transport_stats(from->t, &before);
        to->wait = UINT32_MAX;
        ck_assert_int_gt(messenger_send(net, 0, 1, 500000, &options), 0);
        fake_net_run(net, CW_US(900));
        transport_stats(from->t, &after);
        ck_assert(asks ? after.packets - before.packets == 1 : after.packets - before.packets > 1);
        to->wait = 0;
        ck_assert_int_eq(transport_permit(to->t, &to->asker), 0);
        fake_net_run(net, CW_MS(20));
        ck_assert(messenger_got(net, 1, 500000));
        transport_stats(from->t, &after);
        ck_assert_uint_eq(after.repeated, 0);
    }
    ck_assert_uint_eq(from->ended, 3);
    ck_assert_int_eq(from->status, 0);
    fake_net_close(net);
}
END_TEST

START_TEST(a_head_that_is_none)
{
    setup();
    uint8_t head[TRANSPORT_HEAD_MAX + 1] = {0};
    struct transport_send_options options = {TRANSPORT_SEND_INIT, .head = head, .head_length = sizeof head};
    ck_assert_int_eq(messenger_send(net, 0, 1, 10, &options), -EINVAL);
    options.head_length--;
    options.head = NULL;
    ck_assert_int_eq(messenger_send(net, 0, 1, 10, &options), -EINVAL);
    /* A request and its answer each have one; messenger.c answers with the head it got. */
    options.head = memset(head, 7, sizeof head);
    ck_assert_int_gt(messenger_ask(net, 0, 1, 30000, &options), 0);
    fake_net_run(net, CW_MS(20));
    ck_assert_int_eq(from->status, 0);
    ck_assert_uint_eq(from->last.head_length, TRANSPORT_HEAD_MAX);
    ck_assert_mem_eq(from->last.head, head, TRANSPORT_HEAD_MAX);
    fake_net_close(net);
}
END_TEST

START_TEST(too_long_an_answer)
{
    setup();
    const struct transport_send_options options = {TRANSPORT_SEND_INIT, .reply_max = 99999};
    ck_assert_int_gt(messenger_ask(net, 0, 1, 100000, &options), 0);
    fake_net_run(net, CW_MS(20));
    ck_assert_int_eq(from->status, -EMSGSIZE);
    ck_assert_int_gt(messenger_ask(net, 0, 1, 99999, &options), 0);
    fake_net_run(net, CW_MS(20));
    ck_assert_int_eq(from->status, 0);
    fake_net_close(net);
}
END_TEST

START_TEST(an_answer_into_memory)
{
    static uint8_t into[50000];
    setup();
    const struct transport_send_options options = {TRANSPORT_SEND_INIT, .reply_max = sizeof into,
                                                   .accept = {.into = into}};
    ck_assert_int_gt(messenger_ask(net, 0, 1, sizeof into, &options), 0);
    fake_net_run(net, CW_MS(20));
    ck_assert_int_eq(from->status, 0);
    for (size_t i = 0; i < sizeof into; i++) {
        ck_assert_uint_eq(into[i], messenger_byte(i));
    }
    fake_net_close(net);
}
END_TEST

START_TEST(an_answer_into_places)
{
    static uint8_t memory[50000];
    setup();
    struct transport_place places[] = {{memory, 20000}, {memory + 20000, 0}, {memory + 20000, 30000}};
    struct transport_send_options options = {TRANSPORT_SEND_INIT, .reply_max = sizeof memory,
                                             .accept = {.places = places, .place_count = 3}};
    ck_assert_int_gt(messenger_ask(net, 0, 1, sizeof memory, &options), 0);
    memset(places, 0, sizeof places); /* ours again */
    fake_net_run(net, CW_MS(20));
    ck_assert_int_eq(from->status, 0);
    for (size_t i = 0; i < sizeof memory; i++) {
        ck_assert_uint_eq(memory[i], messenger_byte(i));
    }
    options.accept.place_count = 1; /* of no bytes */
    ck_assert_int_eq(messenger_ask(net, 0, 1, 10, &options), -EINVAL);
    fake_net_close(net);
}
END_TEST

START_TEST(no_answer)
{
    setup();
    to->silent = true;
    const struct transport_send_options options = {TRANSPORT_SEND_INIT, .timeout = CW_MS(30)};
    int64_t id = messenger_ask(net, 0, 1, 10, &options);
    fake_net_run(net, CW_MS(20));
    ck_assert_uint_eq(to->taken, 1);
    ck_assert_uint_eq(from->ended, 0);
    fake_net_run(net, CW_MS(20));
    ck_assert_uint_eq(from->ended, 1);
    ck_assert_int_eq(from->status, -ETIMEDOUT);
    ck_assert_int_eq(transport_cancel(from->t, id), -ENOENT);
    /* And one that comes too late. */
    ck_assert_int_gt(transport_reply(to->t, &to->last.reply_to, 0, NULL, NULL, NULL, NULL), 0);
    fake_net_run(net, CW_MS(20));
    struct transport_stats stats;
    transport_stats(to->t, &stats);
    ck_assert_uint_eq(stats.failed, 1);
    ck_assert_uint_eq(from->ended, 1);
    fake_net_close(net);
}
END_TEST

START_TEST(bytes_are_copied_when_asked)
{
    setup();
    uint8_t *mine = malloc(100000);
    for (int i = 0; i < 100000; i++) {
        mine[i] = messenger_byte((uint64_t)i);
    }
    const struct transport_data data = {.bytes = mine, .size = 100000};
    const struct transport_send_options options = {TRANSPORT_SEND_INIT, .flags = TRANSPORT_COPY};
    const cw_to where = {
        .kind = CW_TO_SERVER, .job = MESSENGER_JOB, .port = MESSENGER_PORT, .server = {1, 0, 0}, .process = 1};
    ck_assert_int_gt(transport_send(from->t, &where, &data, &options, NULL, NULL), 0);
    memset(mine, 0, 100000);
    free(mine);
    fake_net_run(net, CW_MS(20));
    ck_assert(messenger_got(net, 1, 100000));
    struct transport_stats stats;
    transport_stats(from->t, &stats);
    ck_assert_uint_eq(stats.memory, 0);
    ck_assert_uint_ge(stats.memory_most, 100000);
    fake_net_close(net);
}
END_TEST

/* Messages that have ended, of which nobody was told yet. */
static void fail_all(int status)
{
    struct peer *p = peer_find(from->t, (struct peer_name){MESSENGER_JOB, 1, MESSENGER_PORT, false});
    ck_assert_ptr_nonnull(p);
    outgoing_fail_all(from->t, p, status);
}

START_TEST(cancelled_when_it_has_ended_untold)
{
    setup();
    net->lose = 1;
    int64_t sent = messenger_send(net, 0, 1, 10, NULL), asked = messenger_ask(net, 0, 1, 10, NULL);
    ck_assert_int_gt(messenger_send(net, 0, 1, 10, NULL), 0);
    fail_all(-EACCES);
    ck_assert_uint_eq(from->ended, 0);
    ck_assert_int_eq(transport_cancel(from->t, asked), 0);
    ck_assert_uint_eq(from->ended, 1);
    ck_assert_int_eq(from->status, -EACCES);
    ck_assert_int_eq(transport_cancel(from->t, asked), -ENOENT);
    ck_assert_int_eq(transport_cancel(from->t, sent), 0);
    ck_assert_uint_eq(from->ended, 2);
    int64_t later = messenger_ask(net, 0, 1, 10, NULL);
    fake_net_run(net, CW_MS(20)); /* the third is told in its time; the others not once more */
    ck_assert_uint_eq(from->ended, 3);
    fail_all(-EACCES);
    ck_assert_int_eq(transport_cancel(from->t, later), 0);
    ck_assert_uint_eq(from->ended, 4);
    fake_net_close(net);
}
END_TEST

struct user {
    struct transport *t;
    int64_t other;
    int rc;
    unsigned told;
};

static void tell_user(void *context, void *arg, int status)
{
    (void)context, (void)status;
    struct user *u = arg;
    u->told++;
    if (u->other != 0) {
        int64_t other = u->other;
        u->other = 0;
        u->rc = transport_cancel(u->t, other);
    }
}

/*
 * Who is told of one end cancels what it has besides, and gives its memory back: nothing of that is told when the
 * transport closes.
 */
START_TEST(cancelled_at_another_s_end)
{
    setup();
    net->lose = 1;
    const cw_to where = {
        .kind = CW_TO_SERVER, .job = MESSENGER_JOB, .port = MESSENGER_PORT, .server = {1, 0, 0}, .process = 1};
    struct user *u = calloc(1, sizeof *u);
    u->t = from->t;
    int64_t first = transport_send(from->t, &where, &(struct transport_data){.size = 0}, NULL, tell_user, u);
    u->other = transport_send(from->t, &where, &(struct transport_data){.size = 0}, NULL, tell_user, u);
    ck_assert(first > 0 && u->other > 0);
    fail_all(-EACCES);
    ck_assert_int_eq(transport_cancel(from->t, first), 0);
    ck_assert_uint_eq(u->told, 2);
    ck_assert_int_eq(u->rc, 0);
    free(u);
    fake_net_close(net);
}
END_TEST

START_TEST(wrong_use)
{
    setup();
    const struct transport_data nothing = {.size = 5};
    cw_to where = {.kind = CW_TO_LINK, .job = MESSENGER_JOB, .port = MESSENGER_PORT};
    ck_assert_int_eq(transport_send(from->t, &where, NULL, NULL, NULL, NULL), -EINVAL);
    where.kind = CW_TO_SERVER;
    ck_assert_int_eq(transport_send(from->t, &where, &nothing, NULL, NULL, NULL), -EINVAL);
    where.server = (cw_coord){9, 9, 9};
    ck_assert_int_eq(transport_send(from->t, &where, NULL, NULL, NULL, NULL), -EINVAL);
    where.server = (cw_coord){1, 0, 0};
    ck_assert_int_eq(transport_request(from->t, &where, NULL, NULL, NULL, NULL), -EINVAL);
    const struct transport_send_options none = {.size = 0};
    ck_assert_int_eq(transport_send(from->t, &where, NULL, &none, NULL, NULL), -EINVAL);
    const struct transport_reply_to reply = {.job = MESSENGER_JOB};
    ck_assert_int_eq(transport_reply(from->t, &reply, 5000, NULL, NULL, NULL, NULL), -EINVAL);
    ck_assert_int_eq(transport_cancel(from->t, 0), -ENOENT);
    ck_assert_int_eq(transport_cancel(from->t, INT64_MAX), -ENOENT);
    fake_net_close(net);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(asked_and_answered),          SUITE_TEST(small_ones_are_cheap),
    SUITE_TEST(an_answer_into_places),       SUITE_TEST(permission),
    SUITE_TEST(permission_comes_first),      SUITE_TEST(only_the_first_part),
    SUITE_TEST(a_head_that_is_none),         SUITE_TEST(too_long_an_answer),
    SUITE_TEST(an_answer_into_memory),       SUITE_TEST(no_answer),
    SUITE_TEST(bytes_are_copied_when_asked), SUITE_TEST(cancelled_when_it_has_ended_untold),
    SUITE_TEST(cancelled_at_another_s_end),  SUITE_TEST(wrong_use),
};
SUITE_MAIN("services.transport.requests", tests)
