/* SPDX-License-Identifier: Apache-2.0 */
#include "node_bench.h"
#include "suite.h"

#include <string.h>

static struct {
    cw_server at;       /* whose verdict it is */
    cw_verdict verdict; /* for packets passing by there */
    bool change;        /* adds a byte */
    cw_packet *taken;
} transit;

static cw_verdict pass(cw_svc *s, cw_packet *p, const cw_rx *rx)
{
    if (rx->where != CW_TRANSIT || cw_server_id(s, cw_self(s)) != transit.at) {
        return rx->where == CW_TRANSIT ? CW_FORWARD : CW_DROP;
    }
    if (transit.change) {
        size_t length;
        uint8_t *bytes = cw_packet_data(p, &length);
        bytes[0]++;
        ck_assert_int_eq(cw_packet_resize(p, length + 1), 0);
        bytes[length] = '!';
    }
    transit.taken = transit.verdict == CW_TAKE ? p : NULL;
    return transit.verdict;
}

static struct bench *chain(void)
{
    struct bench *b = bench_open((cw_dims){1, 1, 8});
    b->hooks.on_path = CW_PATH_ALL;
    b->hooks.on_packet = pass;
    memset(&transit, 0, sizeof transit);
    transit.at = 2;
    bench_start_all(b);
    bench_settle(b);
    bench_forget_notes(b);
    return b;
}

START_TEST(transit_is_seen_and_let_go)
{
    struct bench *b = chain();
    cw_to to = to_server(b, 3);
    transit.verdict = CW_FORWARD;
    transit.change = true;
    ck_assert_int_eq(send_text(b, 0, "abc", &to, NULL), 0);
    bench_run(b, CW_MS(1));
    const struct note *note = NULL;
    for (cw_server s = 1; s <= 2; s++) {
        ck_assert_uint_eq(bench_notes(b, s, NOTE_TRANSIT, &note), 1);
        ck_assert(note->rx.hops == s && note->rx.in == CW_LINK_ZM && note->rx.kind == CW_TO_SERVER);
        ck_assert(note->rx.server.z == 3 && note->rx.src_server.z == 0);
    }
    ck_assert_uint_eq(bench_notes(b, 3, NOTE_PACKET, &note), 1);
    ck_assert_int_eq(memcmp(note->first, "bbc!", 4), 0);
    ck_assert_uint_eq(note->length, 4);
    bench_close(b);
}
END_TEST

START_TEST(transit_is_dropped_or_taken)
{
    struct bench *b = chain();
    cw_to to = to_server(b, 3);
    transit.verdict = CW_DROP;
    ck_assert_int_eq(send_text(b, 0, "abc", &to, NULL), 0);
    bench_run(b, CW_MS(1));
    ck_assert_uint_eq(node_drops(b->node[2], CW_DROP_SERVICE), 1);
    transit.verdict = CW_TAKE;
    ck_assert_int_eq(send_text(b, 0, "abc", &to, NULL), 0);
    bench_run(b, CW_MS(1));
    ck_assert_uint_eq(bench_notes(b, 3, NOTE_PACKET, NULL), 0);
    ck_assert_ptr_nonnull(transit.taken);
    /* It turns it round, later. */
    to = to_server(b, 0);
    ck_assert_int_eq(cw_send(bench_svc(b, 2), transit.taken, &to, NULL), 0);
    bench_kick(b, 2);
    bench_run(b, CW_MS(1));
    const struct note *note = NULL;
    ck_assert_uint_eq(bench_notes(b, 0, NOTE_PACKET, &note), 1);
    ck_assert_uint_eq(note->rx.src_server.z, 2);
    bench_close(b);
}
END_TEST

/* A service that gives nothing back: its hands are full some day, and the packets of others have memory still. */
static unsigned took;
static cw_packet *hoard[NODE_HANDS_MAX];
static cw_verdict take_all(cw_svc *s, cw_packet *p, const cw_rx *rx)
{
    (void)s;
    (void)rx;
    ck_assert_uint_lt(took, NODE_HANDS_MAX);
    hoard[took++] = p;
    return CW_TAKE;
}

static void offer(struct bench *b, unsigned packets)
{
    cw_to to = to_server(b, 0);
    for (unsigned i = 0; i < packets; i++) {
        if (cw_send(bench_svc(b, 1), packet_of(b, 1, "x", 0), &to, NULL) < 0) {
            ck_abort_msg("packet %u", i);
        }
    }
    bench_kick(b, 1);
    bench_run(b, CW_MS(20));
}

START_TEST(full_hands_are_given_nothing)
{
    struct bench *b = bench_open((cw_dims){1, 1, 2});
    b->config.queue_packets = NODE_HANDS_MAX + 5;
    b->hooks.on_packet = take_all;
    bench_start_all(b);
    bench_settle(b);
    offer(b, NODE_HANDS_MAX + 5);
    ck_assert_uint_eq(took, NODE_HANDS_MAX);
    ck_assert_uint_eq(b->dropped[CW_DROP_NO_MEMORY], 5);
    cw_packet_free(bench_svc(b, 0), hoard[--took]);
    offer(b, 2);
    ck_assert_uint_eq(took, NODE_HANDS_MAX);
    ck_assert_uint_eq(b->dropped[CW_DROP_NO_MEMORY], 6);
    while (took > 0) {
        cw_packet_free(bench_svc(b, 0), hoard[--took]);
    }
    bench_close(b);
}
END_TEST

/* Not asked for: not told. */
START_TEST(most_services_do_not_see_transit)
{
    struct bench *b = bench_open((cw_dims){1, 1, 8});
    bench_start_all(b);
    bench_settle(b);
    bench_forget_notes(b);
    cw_to to = to_server(b, 3);
    ck_assert_int_eq(send_text(b, 0, "abc", &to, NULL), 0);
    bench_run(b, CW_MS(1));
    for (cw_server s = 1; s <= 2; s++) {
        ck_assert_uint_eq(bench_notes(b, s, NOTE_TRANSIT, NULL), 0);
    }
    ck_assert_uint_eq(bench_notes(b, 3, NOTE_PACKET, NULL), 1);
    bench_close(b);
}
END_TEST

/* Sent to oneself in an upcall: delivered after it has returned, and never for ever within one entry. */
static unsigned depth, deepest, echoes;
static cw_verdict echo(cw_svc *s, cw_packet *p, const cw_rx *rx)
{
    (void)p;
    deepest = ++depth > deepest ? depth : deepest;
    cw_to to = {.kind = CW_TO_SERVER, .job = PROBE_JOB, .server = rx->src_server, .process = rx->src_process};
    if (++echoes < 2000) {
        ck_assert_int_eq(cw_send(s, cw_packet_new(s, 1), &to, NULL), 0);
    }
    depth--;
    return CW_DROP;
}

START_TEST(upcalls_do_not_nest)
{
    struct bench *b = bench_open((cw_dims){1, 1, 2});
    b->hooks.on_packet = echo;
    bench_start_all(b);
    bench_settle(b);
    bench_forget_notes(b);
    cw_to to = to_server(b, 0);
    ck_assert_int_eq(cw_send(bench_svc(b, 0), packet_of(b, 0, "x", 0), &to, NULL), 0);
    ck_assert_uint_eq(echoes, 0);
    node_tick(b->node[0], b->now);
    ck_assert_uint_eq(echoes, NODE_LOCAL_BURST); /* others have their turn between */
    ck_assert_int_eq(node_next_wake(b->node[0]).ns, b->now.ns);
    bench_run(b, CW_NS(1));
    ck_assert_uint_eq(echoes, 2000);
    ck_assert_uint_eq(deepest, 1);
    const struct note *note = NULL;
    bench_notes(b, 0, NOTE_PACKET, &note);
    ck_assert(note->rx.hops == 0 && note->rx.in == CW_LINK_SELF);
    bench_close(b);
}
END_TEST

/* A key whose root is dead: its heir has the packet at once, and may not have it until the hold has run. */
START_TEST(held_until_it_is_ours)
{
    struct bench *b = bench_open((cw_dims){1, 3, 3});
    bench_start_all(b);
    bench_settle(b);
    cw_to to = {.kind = CW_TO_KEY, .job = PROBE_JOB};
    to.key = cw_key_at(bench_svc(b, 0), torus_coord(&b->torus, 4), 0);
    bench_kill(b, 4, true);
    bench_run(b, CW_MS(2));
    cw_coord heir;
    ck_assert_int_eq(cw_servers_for_key(bench_svc(b, 0), &to.key, 1, &heir), 1);
    cw_server h = torus_id(&b->torus, heir);
    ck_assert_uint_ne(h, 4);
    bench_forget_notes(b);
    ck_assert_int_eq(send_text(b, 0, "early", &to, NULL), 0);
    bench_run(b, CW_MS(5));
    ck_assert(!cw_is_root(bench_svc(b, h), &to.key));
    ck_assert_uint_eq(bench_notes(b, h, NOTE_PACKET, NULL), 0);
    ck_assert_uint_eq(node_packets_inside(b->node[h]), 1);
    ck_assert_uint_ge(b->watched[NODE_HELD], 1);
    bench_run(b, CW_MS(100));
    ck_assert(cw_is_root(bench_svc(b, h), &to.key));
    const struct note *note = NULL;
    ck_assert_uint_eq(bench_notes(b, h, NOTE_PACKET, &note), 1);
    ck_assert_int_eq(memcmp(note->first, "early", 5), 0);
    ck_assert_uint_eq(b->dropped[CW_DROP_HOLD_TIMEOUT] + b->dropped[CW_DROP_HOLD_OVERFLOW], 0);
    bench_close(b);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(transit_is_seen_and_let_go),   SUITE_TEST(transit_is_dropped_or_taken),
    SUITE_TEST(full_hands_are_given_nothing), SUITE_TEST(most_services_do_not_see_transit),
    SUITE_TEST(upcalls_do_not_nest),          SUITE_TEST(held_until_it_is_ours),
};
SUITE_MAIN("node_deliver", tests)
