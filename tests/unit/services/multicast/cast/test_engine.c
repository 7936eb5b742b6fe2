/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of two servers, packet by packet: sinks that take, refuse, fail, are slow; sources that stop.
 * test_multicast.c has more servers.
 */
#include "services/multicast/cast/engine.h"

#include "fake_host.h"
#include "services/multicast/cast/head.h"
#include "services/multicast/multicast.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

enum { BYTES = 100000 };
static cw_svc *host[2];
static struct cast_engine *engine[2];
static struct cast_result ended;
static struct cast_member ended_book;
static unsigned dones, closes, ends, accepts;
static int accept_says, write_says, end_says, end_told;
static bool had;
static uint64_t written, sink_ticket, last_id;
static uint8_t label_seen[8];

static int read_it(void *context, uint64_t offset, uint8_t *out, size_t length)
{
    (void)context;
    memset(out, (int)(offset / 1000), length);
    return 0;
}

static void close_it(void *context)
{
    (void)context;
    closes++;
}

static int write_it(void *context, uint64_t offset, const uint8_t *bytes, size_t length)
{
    (void)context;
    ck_assert_uint_eq(bytes[0], (uint8_t)(offset / 1000));
    written += write_says == 0 ? length : 0;
    return write_says;
}

static bool has(void *context, uint64_t piece)
{
    (void)context;
    return had && piece % 2 == 0;
}

static int end(void *context, int status)
{
    (void)context;
    ends++;
    end_told = status;
    return end_says;
}

static int accept_it(void *context, const struct cast_offer *offer, struct cast_sink *sink)
{
    ck_assert_ptr_eq(context, &accepts);
    ck_assert(offer->kind == CAST_BULK && offer->bytes == BYTES && offer->label_bytes == 5);
    ck_assert(offer->pieces == (BYTES + offer->piece_bytes - 1) / offer->piece_bytes && offer->origin == 0);
    memcpy(label_seen, offer->label, 5);
    accepts++;
    sink_ticket = offer->ticket;
    *sink = (struct cast_sink){NULL, write_it, has, end};
    return accept_says;
}

static void done(void *context, const struct cast_result *result)
{
    (void)context;
    dones++;
    ended = *result;
    ended_book = result->member[0];
}

/* What a cable does: it loses what a member says of its end, and keeps what the source confirms. */
static bool loses, keeps;
static uint8_t kept[CAST_HEARD_BYTES];
static unsigned keeping;

static void setup(void)
{
    const cw_dims dims = {2, 1, 1};
    for (unsigned i = 0; i < 2; i++) {
        host[i] = fake_open(&multicast_service, dims, (cw_coord){(uint8_t)i, 0, 0});
        ck_assert_int_eq(cast_engine_open(&engine[i], host[i]), 0);
    }
    cast_engine_kind(engine[1], CAST_BULK, accept_it, &accepts);
    dones = closes = ends = accepts = 0;
    accept_says = write_says = end_says = 0;
    had = false;
    written = 0;
    loses = keeps = false;
    keeping = 0;
}

static void teardown(void)
{
    for (unsigned i = 0; i < 2; i++) {
        cast_engine_close(engine[i]);
        fake_shut(host[i]);
    }
    ck_assert(fake_close(host[0]) == 0 && fake_close(host[1]) == 0);
}

static void bring(unsigned from, cw_packet *p)
{
    static uint8_t bytes[FAKE_MTU];
    size_t length;
    const uint8_t *data = cw_packet_data(p, &length);
    memcpy(bytes, data, length);
    const cw_rx rx = {.size = sizeof rx, .src_job = MULTICAST_JOB, .src_process = from};
    if (bytes[0] == CAST_DONE && loses) {
        return;
    }
    if (bytes[0] == CAST_HEARD && keeps) {
        memcpy(kept, bytes, sizeof kept);
        keeping++;
        return;
    }
    (void)cast_engine_packet(engine[1 - from], bytes, length, &rx);
}

static void step(void)
{
    for (unsigned i = 0; i < 2; i++) {
        struct fake_send send;
        cw_packet *p;
        for (cw_link link = 0; link < 2; link++) {
            while ((p = cast_engine_next(engine[i], link)) != NULL) {
                bring(i, p);
                cw_packet_free(host[i], p);
            }
        }
        while (fake_take(host[i], &send)) {
            bring(i, send.packet);
            fake_free(send.packet);
        }
    }
    fake_run(host[0], CW_US(500));
    fake_run(host[1], CW_US(500));
}

static uint64_t send(bool ask_first)
{
    static const uint8_t members[1] = {3};
    uint64_t ticket = 0;
    struct cast_order order = {.kind = CAST_BULK,
                               .id = {(uint8_t)++last_id},
                               .bytes = BYTES,
                               .label = (const uint8_t *)"topic",
                               .label_bytes = 5,
                               .members = members,
                               .from = {.read = read_it, .close = close_it},
                               .ask_first = ask_first,
                               .done = done};
    ck_assert_int_eq(cast_engine_send(engine[0], &order, &ticket), 0);
    return ticket;
}

static void finish(void)
{
    for (int i = 0; i < 100000 && dones == 0; i++) {
        step();
    }
    ck_assert(dones == 1 && closes == 1);
}

START_TEST(a_message)
{
    setup();
    uint64_t ticket = send(false);
    ck_assert(cast_engine_look(engine[0], ticket)->source && cast_engine_each(engine[0], NULL) != NULL);
    ck_assert(dones == 0 && cast_engine_each(engine[0], cast_engine_each(engine[0], NULL)) == NULL);
    finish();
    ck_assert(ended.status == 0 && ended.ticket == ticket && ended.count == 1 && ended.bytes == BYTES);
    ck_assert(ended_book.server == 1 && ended_book.state == CAST_HAS && ended.repeated == 0);
    ck_assert(accepts == 1 && ends == 1 && end_told == 0 && written == BYTES && memcmp(label_seen, "topic", 5) == 0);
    teardown();
}
END_TEST

START_TEST(what_is_there_is_not_sent)
{
    setup();
    had = true;
    send(true);
    finish();
    ck_assert(ended_book.state == CAST_HAS && written < BYTES * 6 / 10 && written > BYTES * 4 / 10);
    teardown();
}
END_TEST

START_TEST(members_that_do_not_want)
{
    setup();
    accept_says = -EACCES;
    send(false);
    finish();
    ck_assert(ended_book.state == CAST_LOST && ended_book.status == -EACCES && ends == 0);
    teardown();
    setup();
    cast_engine_kind(engine[1], CAST_BULK, NULL, NULL);
    send(false);
    finish();
    ck_assert_int_eq(ended_book.status, -EPROTONOSUPPORT);
    teardown();
    setup();
    write_says = -ENOSPC;
    send(false);
    finish();
    ck_assert(ended_book.status == -ENOSPC && ends == 1 && end_told == -ENOSPC);
    teardown();
}
END_TEST

START_TEST(an_end_that_takes_time)
{
    setup();
    end_says = -EINPROGRESS;
    send(false);
    for (int i = 0; i < 20000; i++) {
        step();
    }
    ck_assert(ends == 1 && dones == 0);
    cast_engine_ended(engine[1], 12345, 0); /* nobody's */
    cast_engine_ended(engine[1], sink_ticket, -EBADMSG);
    finish();
    ck_assert_int_eq(ended_book.status, -EBADMSG);
    cast_engine_ended(engine[1], sink_ticket, 0); /* once */
    teardown();
}
END_TEST

/*
 * A member whose file is being put in its place says that it lacks nothing. When that is confirmed after the end, whose
 * own word was lost, the end is said again: else the source would wait for it in vain, for as long as its limit is.
 */
START_TEST(an_end_is_not_confirmed_by_what_was_said_before)
{
    const cw_rx rx = {.size = sizeof rx, .src_job = MULTICAST_JOB, .src_process = 0};
    setup();
    end_says = -EINPROGRESS;
    keeps = true;
    send(false);
    for (int i = 0; i < 20000 && keeping == 0; i++) {
        step();
    }
    ck_assert(ends == 1 && dones == 0 && keeping > 0);
    loses = true;
    cast_engine_ended(engine[1], sink_ticket, 0);
    step();
    ck_assert_uint_eq(dones, 0);
    loses = keeps = false;
    (void)cast_engine_packet(engine[1], kept, sizeof kept, &rx);
    for (int i = 0; i < 2000 && dones == 0; i++) { /* a second */
        step();
    }
    ck_assert(dones == 1 && ended_book.status == 0 && ended_book.state == CAST_HAS);
    teardown();
}
END_TEST

/*
 * A member that has all, and has not been heard yet when its source is out of sight, holds no place and says it when
 * the source is back.
 */
START_TEST(a_source_out_of_sight)
{
    const cw_event down = {.size = sizeof down, .kind = CW_EVENT_SERVER_DOWN};
    struct fake_send said;
    setup();
    end_says = -EINPROGRESS;
    send(false);
    for (int i = 0; i < 20000; i++) {
        step();
    }
    cast_engine_ended(engine[1], sink_ticket, 0);
    while (fake_take(host[1], &said)) {
        fake_free(said.packet); /* its word is lost */
    }
    host[1]->down[0] = true;
    cast_engine_event(engine[1], &down);
    const struct cast_session *c = cast_engine_each(engine[1], NULL);
    ck_assert(c != NULL && c->left && cast_session_quiet(c) && !c->in.confirmed);
    fake_run(host[1], CW_SEC(2));
    ck_assert(!fake_take(host[1], &said));
    host[1]->down[0] = false;
    finish();
    ck_assert(ended_book.state == CAST_HAS && accepts == 1 && ends == 1);
    teardown();
}
END_TEST

/* A server says that it has nothing yet of the first tree. */
static void acknowledge(unsigned to, uint64_t number, uint16_t round)
{
    uint8_t bytes[CAST_ACK_BYTES];
    const cw_rx rx = {.size = sizeof rx, .src_job = MULTICAST_JOB, .src_process = 1 - to};
    const struct cast_head h = {.kind = CAST_ACK, .number = number, .round = round, .edge = 1};
    cast_head_encode(&h, bytes);
    (void)cast_engine_packet(engine[to], bytes, sizeof bytes, &rx);
}

/*
 * The same while it is still receiving: it keeps its sink, and what it has is not sent again. One whose source stays
 * away gives up after a while.
 */
START_TEST(a_source_out_of_sight_midway)
{
    const cw_event down = {.size = sizeof down, .kind = CW_EVENT_SERVER_DOWN};
    for (int back = 0; back < 2; back++) {
        setup();
        write_says = -EAGAIN;
        send(false);
        for (int i = 0; i < 12; i++) {
            step();
        }
        const struct cast_session *c = cast_engine_each(engine[1], NULL);
        ck_assert_ptr_nonnull(c);
        ck_assert(c->in.accepted && !c->ended);
        host[1]->down[0] = true;
        cast_engine_event(engine[1], &down);
        ck_assert(c->left && cast_session_quiet(c));
        ck_assert_uint_eq(ends, 0);
        if (back == 0) {
            const uint64_t number = c->number;
            const uint16_t round = c->round;
            for (int i = 0; i < 12; i++) {
                acknowledge(1, number,
                            round); /* two members that pass pieces on to each other would keep both for ever */
                fake_run(host[1], CW_MS(500));
            }
            ck_assert_uint_eq(ends, 1);
            ck_assert_int_eq(end_told, -ENETUNREACH);
            ck_assert_ptr_null(cast_engine_each(engine[1], NULL));
            host[1]->down[0] = false;
        } else {
            host[1]->down[0] = false;
            write_says = 0;
            finish();
            ck_assert(ended_book.state == CAST_HAS);
            ck_assert_uint_eq(accepts, 1);
            ck_assert_uint_eq(ends, 1);
        }
        teardown();
    }
}
END_TEST

START_TEST(a_sink_that_waits)
{
    setup();
    write_says = -EAGAIN;
    send(false);
    for (int i = 0; i < 1000; i++) {
        step();
    }
    ck_assert(dones == 0 && written == 0);
    write_says = 0;
    cast_engine_resume(engine[1], sink_ticket);
    ck_assert_uint_gt(written, 0);
    finish();
    ck_assert(ended_book.state == CAST_HAS && written == BYTES);
    teardown();
    setup();
    write_says = -EAGAIN; /* for ever */
    send(false);
    finish();
    ck_assert(ended_book.status == -ETIMEDOUT && ended.status == 0 && ended_book.took.ns < CW_SEC(40).ns);
    for (int i = 0; i < 10; i++) {
        step();
    }
    ck_assert(ends == 1 && end_told == -ETIMEDOUT);
    teardown();
}
END_TEST

START_TEST(cancelled)
{
    setup();
    write_says = -EAGAIN;
    uint64_t ticket = send(false);
    for (int i = 0; i < 10; i++) {
        step();
    }
    ck_assert_int_eq(cast_engine_cancel(engine[0], ticket + 1, -EINTR), -ENOENT);
    ck_assert_int_eq(cast_engine_cancel(engine[0], ticket, -EINTR), 0);
    ck_assert(dones == 1 && closes == 1 && ended.status == -EINTR && ended_book.state == CAST_WAITING);
    for (int i = 0; i < 200; i++) {
        step();
    }
    const struct cast_session *c = cast_engine_each(engine[1], NULL);
    ck_assert(ends == 1 && end_told == -EINTR &&
              accepts == 1); /* and the OPEN that says how long the trees were offers it no second time */
    ck_assert(c != NULL && c->ended);
    ck_assert(cast_session_quiet(c));
    ck_assert_uint_lt(cast_session_memory(c), 30000); /* no rings */
    ck_assert(cast_session_quiet(cast_engine_each(engine[0], NULL)));
    ck_assert_int_eq(cast_engine_cancel(engine[0], ticket, -EINTR), -ENOENT);
    teardown();
}
END_TEST

/* The same again, by a source that has begun anew: the old one ends first. */
START_TEST(begun_anew)
{
    setup();
    write_says = -EAGAIN;
    send(false);
    for (int i = 0; i < 10; i++) {
        step();
    }
    last_id--;
    send(true);
    for (int i = 0; i < 10; i++) {
        step();
    }
    ck_assert(accepts >= 2 && ends >= 1 && end_told == -ESTALE);
    teardown();
    ck_assert(dones == 2 && closes == 2 && ended.status == -ESHUTDOWN);
}
END_TEST

/* What a neighbour still says of a message whose source is gone begins nothing. */
START_TEST(a_source_that_is_gone)
{
    setup();
    host[1]->down[0] = true;
    send(false);
    for (int i = 0; i < 100; i++) {
        step();
    }
    ck_assert(accepts == 0 && cast_engine_each(engine[1], NULL) == NULL);
    host[1]->down[0] = false;
    finish();
    ck_assert(accepts == 1 && ended_book.state == CAST_HAS);
    teardown();
}
END_TEST

START_TEST(orders_that_cannot_be)
{
    const uint8_t members[1] = {2}, nobody[1] = {1};
    uint64_t ticket;
    setup();
    struct cast_order order = {
        .kind = CAST_BULK, .bytes = 0, .members = members, .from = {.read = read_it, .close = close_it}};
    ck_assert_int_eq(cast_engine_send(engine[0], &order, &ticket), -EINVAL);
    order.bytes = 10;
    order.label_bytes = CAST_LABEL_MOST + 1;
    ck_assert_int_eq(cast_engine_send(engine[0], &order, &ticket), -EINVAL);
    order.label_bytes = 0;
    order.members = nobody;
    ck_assert_int_eq(cast_engine_send(engine[0], &order, &ticket), -EINVAL);
    order.members = members;
    host[0]->down[1] = true;
    ck_assert_int_eq(cast_engine_send(engine[0], &order, &ticket), -ENETUNREACH);
    ck_assert_uint_eq(closes, 0); /* it is still the caller's */
    teardown();
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(a_message),
                                          SUITE_TEST(what_is_there_is_not_sent),
                                          SUITE_TEST(members_that_do_not_want),
                                          SUITE_TEST(an_end_that_takes_time),
                                          SUITE_TEST(an_end_is_not_confirmed_by_what_was_said_before),
                                          SUITE_TEST(a_source_out_of_sight),
                                          SUITE_TEST(a_source_out_of_sight_midway),
                                          SUITE_TEST(a_sink_that_waits),
                                          SUITE_TEST(cancelled),
                                          SUITE_TEST(begun_anew),
                                          SUITE_TEST(a_source_that_is_gone),
                                          SUITE_TEST(orders_that_cannot_be)};
SUITE_MAIN("cast_engine", tests)
