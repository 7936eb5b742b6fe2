/* SPDX-License-Identifier: Apache-2.0 */
#include "keyspace/owner.h"
#include "node_bench.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

/* How the called one answers. */
static struct {
    unsigned ignore; /* the first so many requests */
    int status;
    bool later; /* keep the handle, answer from the test */
    bool empty; /* cw_reply without a packet */
    bool same;  /* with the request's own packet */
    bool early; /* answered in transit */
    bool twice;
    unsigned requests;
    uint32_t handle;
} habit;

static cw_verdict answer(cw_svc *s, cw_packet *p, const cw_rx *rx)
{
    if (rx->call == 0 || (rx->where == CW_TRANSIT && !habit.early)) {
        return CW_FORWARD;
    }
    habit.requests++;
    habit.handle = rx->call;
    if (habit.requests <= habit.ignore || habit.later) {
        return CW_DROP;
    }
    cw_packet *back = habit.same ? p : habit.empty ? NULL : cw_packet_new(s, 6);
    if (back != NULL) {
        memcpy(cw_packet_data(back, NULL), "answer", 6);
    }
    ck_assert_int_eq(cw_reply(s, rx->call, habit.status, back), 0);
    if (habit.twice) {
        ck_assert_int_eq(cw_reply(s, rx->call, 0, cw_packet_new(s, 6)), -ENOENT);
    }
    return habit.same ? CW_TAKE : CW_DROP;
}

static struct bench *calling(cw_dims dims, bool on_path)
{
    struct bench *b = bench_open(dims);
    bench_allow(b, PROBE_JOB, 6);
    memset(&habit, 0, sizeof habit);
    b->hooks.on_path = on_path ? CW_PATH_ALL : CW_PATH_NONE;
    b->hooks.on_packet = answer;
    bench_start_all(b);
    bench_settle(b);
    bench_forget_notes(b);
    return b;
}

static int64_t call(struct bench *b, cw_server from, const cw_to *to, const cw_call_options *options)
{
    cw_packet *p = packet_of(b, from, "request", 0);
    int64_t number = cw_call(bench_svc(b, from), p, to, options, probe_reply, NULL);
    if (number < 0) {
        cw_packet_free(bench_svc(b, from), p);
    }
    bench_kick(b, from);
    return number;
}

/* Exactly one answer at server 0, with this status; the note. */
static const struct note *one_reply(struct bench *b, int status)
{
    const struct note *note = NULL;
    ck_assert_uint_eq(bench_notes(b, 0, NOTE_REPLY, &note), 1);
    ck_assert_int_eq(note->status, status);
    ck_assert_uint_eq(bench_svc(b, 0)->in_hand, 0);
    ck_assert_uint_eq(expiry_count(&b->node[0]->calls.table), 0);
    return note;
}

START_TEST(asked_and_answered)
{
    static const int statuses[][2] = {{0, 0}, {-ENOENT, -ENOENT}, {ENOENT, -ENOENT}, {-4095, -4095}};
    for (unsigned i = 0; i < 4 * 3; i++) {
        struct bench *b = calling((cw_dims){3, 3, 3}, false);
        cw_to to = to_server(b, 26);
        habit.status = statuses[i / 3][0];
        habit.empty = i % 3 == 1;
        habit.same = i % 3 == 2;
        habit.twice = true;
        ck_assert_int_gt(call(b, 0, &to, NULL), 0);
        bench_run(b, CW_MS(2));
        const struct note *note = one_reply(b, statuses[i / 3][1]);
        ck_assert_uint_eq(note->length, habit.empty ? 0 : habit.same ? 7 : 6);
        ck_assert_int_eq(memcmp(note->first, "answer", note->length > 0 ? 6 : 0), 0);
        ck_assert_uint_eq(note->rx.src_process, 26);
        ck_assert_uint_eq(note->rx.hops, 3);
        ck_assert_uint_eq(expiry_count(&b->node[26]->nmu.responses.table), 0);
        bench_run(b, CW_MS(50));
        one_reply(b, statuses[i / 3][1]);
        bench_close(b);
    }
}
END_TEST

START_TEST(to_itself_by_key_and_by_link)
{
    struct bench *b = calling((cw_dims){2, 2, 2}, false);
    cw_to to[] = {to_server(b, 0),
                  to_route(7),
                  to_route(UINT64_MAX),
                  {.kind = CW_TO_LINK, .job = PROBE_JOB, .link = 3, .process = 2}};
    for (unsigned i = 0; i < 4; i++) {
        ck_assert_int_gt(call(b, 0, &to[i], NULL), 0);
        bench_run(b, CW_MS(2));
        one_reply(b, 0);
        bench_forget_notes(b);
    }
    bench_close(b);
}
END_TEST

START_TEST(retried_until_answered)
{
    for (unsigned ignore = 0; ignore <= 4; ignore++) {
        struct bench *b = calling((cw_dims){1, 1, 4}, false);
        cw_to to = to_server(b, 2);
        cw_call_options options = {CW_CALL_INIT, .timeout = CW_MS(10), .retries = 3};
        habit.ignore = ignore;
        cw_time begun = b->now;
        ck_assert_int_gt(call(b, 0, &to, &options), 0);
        bench_run(b, CW_MS(100));
        const struct note *note = one_reply(b, ignore <= 3 ? 0 : -ETIMEDOUT);
        int64_t took = cw_time_since(note->at, begun).ns;
        ck_assert_int_ge(took, CW_MS(10 * (ignore <= 3 ? ignore : 4)).ns);
        ck_assert_int_lt(took, CW_MS(10 * (ignore <= 3 ? ignore : 4) + 1).ns);
        ck_assert_uint_eq(habit.requests, ignore <= 3 ? ignore + 1 : 4);
        /* Rights to answer end with the call that they were for. */
        ck_assert_uint_eq(expiry_count(&b->node[2]->nmu.responses.table), 0);
        bench_close(b);
    }
}
END_TEST

START_TEST(late_answers_find_no_call)
{
    struct bench *b = calling((cw_dims){1, 1, 4}, false);
    cw_to to = to_server(b, 2);
    cw_call_options options = {CW_CALL_INIT, .timeout = CW_MS(10)};
    habit.later = true;
    int64_t number = call(b, 0, &to, &options);
    bench_run(b, CW_MS(5));
    cw_svc *s = bench_svc(b, 2);
    ck_assert_int_eq(cw_call_cancel(s, number), -ENOENT); /* not its own */
    ck_assert_int_eq(cw_call_cancel(bench_svc(b, 0), number), 0);
    ck_assert_int_eq(cw_call_cancel(bench_svc(b, 0), number), -ENOENT);
    one_reply(b, -ECANCELED);
    ck_assert_int_eq(cw_reply(s, habit.handle, 0, NULL), 0);
    bench_kick(b, 2);
    bench_run(b, CW_MS(2));
    one_reply(b, -ECANCELED);
    ck_assert_uint_eq(b->dropped[CW_DROP_REPLY_DEAD], 1);
    /* The right is gone with its time, too. */
    ck_assert_int_gt(call(b, 0, &to, &options), 0);
    bench_run(b, CW_MS(30));
    ck_assert_int_eq(cw_reply(s, habit.handle, 0, cw_packet_new(s, 1)), -ENOENT);
    ck_assert_uint_eq(b->dropped[CW_DROP_REPLY_DEAD], 2);
    ck_assert_int_eq(cw_reply(s, 0, 0, NULL), -ENOENT);
    ck_assert_int_eq(cw_reply(s, 12345, 0, NULL), -ENOENT);
    ck_assert_uint_eq(s->in_hand, 0);
    bench_close(b);
}
END_TEST

START_TEST(a_reply_that_failed_may_be_tried_again)
{
    struct bench *b = calling((cw_dims){1, 1, 4}, false);
    cw_to to = to_server(b, 2);
    habit.later = true;
    ck_assert_int_gt(call(b, 0, &to, NULL), 0);
    bench_run(b, CW_MS(2));
    cw_svc *s = bench_svc(b, 2);
    ck_assert_int_eq(cw_reply(s, habit.handle, -4096, NULL), -EINVAL);
    ck_assert_int_eq(cw_reply(s, habit.handle, 0, cw_packet_new(s, cw_mtu(s))), -EMSGSIZE);
    pkt_home_fail_nth(b->home, 1);
    ck_assert_int_eq(cw_reply(s, habit.handle, 0, NULL), -ENOMEM);
    ck_assert_int_eq(cw_reply(s, habit.handle, 0, cw_packet_new(s, cw_mtu(s) - 20)), 0);
    bench_kick(b, 2);
    bench_run(b, CW_MS(2));
    one_reply(b, 0);
    bench_close(b);
}
END_TEST

/*
 * The answer goes back over the servers the request came by: every transit of the one is a transit of the other, in
 * reverse.
 */
START_TEST(answers_retrace_the_path)
{
    struct bench *b = calling((cw_dims){4, 4, 4}, true);
    cw_call_options options = {CW_CALL_INIT};
    cw_to to = to_server(b, 42);
    options.send.record_path = true;
    for (unsigned i = 0; i < 60; i++) {
        ck_assert_int_gt(call(b, 0, &to, &options), 0);
        bench_run(b, CW_MS(1));
        one_reply(b, 0);
        unsigned there = 0, back = 0;
        for (cw_server s = 0; s < b->torus.servers; s++) {
            const struct note *note = NULL;
            unsigned transits = bench_notes(b, s, NOTE_TRANSIT, &note);
            ck_assert(transits == 0 || transits == 2);
            there += transits / 2;
            back += transits / 2;
            if (transits == 2) {
                /* In by the link it went out by. */
                const struct probe *probe = bench_probe(b, s);
                cw_link came = probe->note[0].rx.in, left = probe->note[1].rx.in;
                ck_assert_uint_ne(came, left);
                ck_assert_uint_eq(probe->note[0].rx.hops + probe->note[1].rx.hops, 6);
            }
        }
        ck_assert_uint_eq(there, 5);
        ck_assert_uint_eq(back, 5);
        bench_forget_notes(b);
    }
    /* The path breaks before the answer goes: it is routed. */
    habit.later = true;
    to = to_server(b, 2);
    cw_coord way = torus_coord(&b->torus, 1);
    options.send.waypoints = 1;
    options.send.waypoint = &way;
    ck_assert_int_gt(call(b, 0, &to, &options), 0);
    bench_run(b, CW_MS(1));
    bench_kill(b, 1, true);
    bench_run(b, CW_MS(2));
    ck_assert_int_eq(cw_reply(bench_svc(b, 2), habit.handle, 0, NULL), 0);
    bench_kick(b, 2);
    bench_run(b, CW_MS(2));
    ck_assert_uint_eq(one_reply(b, 0)->rx.hops, 2);
    bench_close(b);
}
END_TEST

START_TEST(answered_on_the_way)
{
    struct bench *b = calling((cw_dims){1, 1, 8}, true);
    cw_to to = to_server(b, 3);
    habit.early = true;
    ck_assert_int_gt(call(b, 0, &to, NULL), 0);
    bench_run(b, CW_MS(1));
    ck_assert_uint_eq(one_reply(b, 0)->rx.src_process, 1);
    ck_assert_uint_eq(habit.requests, 1);
    ck_assert_uint_eq(bench_notes(b, 3, NOTE_PACKET, NULL), 0);
    bench_close(b);
}
END_TEST

/* Passing by opens rights and closes them: none is left behind on the way. */
START_TEST(transit_leaves_no_rights)
{
    struct bench *b = calling((cw_dims){1, 1, 8}, true);
    cw_to to = to_server(b, 3);
    ck_assert_int_gt(call(b, 0, &to, NULL), 0);
    bench_run(b, CW_MS(1));
    ck_assert_uint_eq(one_reply(b, 0)->rx.src_process, 3);
    for (cw_server s = 0; s < 8; s++) {
        ck_assert_uint_eq(expiry_count(&b->node[s]->nmu.responses.table), 0);
    }
    bench_close(b);
}
END_TEST

/* The root dies after the request arrived: the retry goes to its heir. */
START_TEST(a_call_to_a_key_survives_its_root)
{
    struct bench *b = calling((cw_dims){3, 3, 3}, false);
    uint64_t route = UINT64_MAX / 2;
    cw_server root = owner_root(&b->torus, route, &b->node[0]->told);
    cw_to to = to_route(route);
    cw_call_options options = {CW_CALL_INIT, .timeout = CW_MS(100), .retries = 5};
    ck_assert_uint_ne(root, 0);
    habit.ignore = 1;
    ck_assert_int_gt(call(b, 0, &to, &options), 0);
    bench_run(b, CW_MS(1));
    ck_assert_uint_eq(habit.requests, 1);
    bench_kill(b, root, true);
    bench_run(b, CW_MS(600));
    ck_assert_uint_ne(one_reply(b, 0)->rx.src_process, root);
    bench_close(b);
}
END_TEST

START_TEST(bad_calls)
{
    struct bench *b = calling((cw_dims){1, 1, 2}, false);
    cw_svc *s = bench_svc(b, 0);
    cw_to to = to_server(b, 1), nobody = {.kind = CW_TO_SERVER, .job = 5}, not_here = {.kind = CW_TO_SERVER, .job = 6};
    cw_packet *p = packet_of(b, 0, "x", 0);
    cw_call_options bad[] = {{.size = 3},
                             {CW_CALL_INIT, .timeout = {-1}},
                             {CW_CALL_INIT, .timeout = {INT64_MAX}},
                             {CW_CALL_INIT, .retries = 1001}};
    for (unsigned i = 0; i < 4; i++) {
        ck_assert_int_eq(cw_call(s, p, &to, &bad[i], probe_reply, NULL), -EINVAL);
    }
    ck_assert_int_eq(cw_call(s, p, &to, NULL, NULL, NULL), -EINVAL);
    ck_assert_int_eq(cw_call(s, p, NULL, NULL, probe_reply, NULL), -EINVAL);
    ck_assert_int_eq(cw_call(s, NULL, &to, NULL, probe_reply, NULL), -EINVAL);
    ck_assert_int_eq(cw_call(s, p, &nobody, NULL, probe_reply, NULL), -EACCES);
    ck_assert_int_eq(cw_call(s, p, &not_here, NULL, probe_reply, NULL), -ENOENT);
    ck_assert_int_eq(cw_call_cancel(s, 0), -ENOENT);
    ck_assert_int_eq(cw_call_cancel(s, -1), -ENOENT);
    ck_assert_int_eq(cw_call_cancel(s, INT64_MAX), -ENOENT);
    pkt_home_fail_nth(b->home, 1); /* the copy for another attempt */
    cw_call_options again = {CW_CALL_INIT, .retries = 1};
    ck_assert_int_eq(cw_call(s, p, &to, &again, probe_reply, NULL), -ENOMEM);
    cw_packet_free(s, p);
    ck_assert_uint_eq(expiry_count(&b->node[0]->calls.table), 0);
    ck_assert_uint_eq(bench_notes(b, 0, NOTE_REPLY, NULL), 0);
    bench_close(b);
}
END_TEST

/* However long the requester would wait, its right to an answer ends. */
START_TEST(a_right_has_an_end)
{
    struct bench *b = bench_open((cw_dims){1, 1, 2});
    bench_start_all(b);
    bench_settle(b);
    cw_to to = to_server(b, 1);
    const cw_call_options options = {CW_CALL_INIT, .timeout = CW_SEC(3000)};
    const struct response_table *rights = &b->node[1]->nmu.responses;
    memset(&habit, 0, sizeof habit);
    habit.later = true;
    b->hooks.on_packet = answer;
    ck_assert_int_gt(cw_call(bench_svc(b, 0), packet_of(b, 0, "x", 0), &to, &options, probe_reply, NULL), 0);
    bench_kick(b, 0);
    bench_run(b, CW_MS(1));
    ck_assert_uint_eq(expiry_count(&rights->table), 1);
    ck_assert_int_le(response_wake(rights).ns, cw_time_add(b->node[1]->now, CW_SEC(30)).ns);
    bench_close(b);
}
END_TEST

START_TEST(too_many)
{
    struct bench *b = bench_open((cw_dims){1, 1, 2});
    memset(&habit, 0, sizeof habit);
    b->config.queue_packets = NODE_CALLS;
    b->hooks.on_packet = answer;
    habit.later = true;
    bench_start_all(b);
    bench_settle(b);
    bench_forget_notes(b);
    cw_svc *s = bench_svc(b, 0);
    cw_to to = to_server(b, 1);
    cw_packet *p;
    int64_t number;
    unsigned calls = 0;
    while ((number = cw_call(s, p = packet_of(b, 0, "x", 0), &to, NULL, probe_reply, NULL)) > 0) {
        calls++;
    }
    ck_assert_int_eq(number, -ENOBUFS);
    cw_packet_free(s, p);
    ck_assert_uint_ge(calls, NODE_CALLS * 2 / 3);
    bench_kick(b, 0);
    bench_run(b, CW_MS(20));
    /* Beyond the quota requests arrive, but cannot be answered. */
    ck_assert_uint_eq(bench_notes(b, 1, NOTE_PACKET, NULL), calls);
    ck_assert_uint_eq(habit.requests, nmu_config_default().responses_each);
    ck_assert_uint_eq(expiry_count(&b->node[1]->nmu.responses.table), nmu_config_default().responses_each);
    bench_probe(b, 0)->count = 0;
    bench_run(b, CW_SEC(1));
    ck_assert_uint_eq(bench_notes(b, 0, NOTE_REPLY, NULL), calls);
    ck_assert_uint_eq(expiry_count(&b->node[1]->nmu.responses.table), 0);
    bench_close(b);
}
END_TEST

static unsigned ended[2];
static void count_end(cw_svc *s, void *state, void *arg, int status, cw_packet *reply, const cw_rx *rx)
{
    (void)state;
    (void)reply;
    (void)rx;
    unsigned *count = arg;
    (*count)++;
    ck_assert_int_eq(status, -ECANCELED);
    cw_to to = {.kind = CW_TO_SERVER, .job = PROBE_JOB, .server = {0, 0, 1}, .process = 1};
    cw_packet *p = cw_packet_new(s, 1);
    ck_assert_int_eq(cw_call(s, p, &to, NULL, count_end, arg), -ESHUTDOWN); /* it would never end */
    cw_packet_free(s, p);
}

START_TEST(closing_ends_all_calls)
{
    struct bench *b = calling((cw_dims){1, 1, 2}, false);
    cw_to to = to_server(b, 1);
    cw_call_options options = {CW_CALL_INIT, .retries = 2};
    for (unsigned i = 0; i < 50; i++) {
        ck_assert_int_gt(cw_call(bench_svc(b, 0), packet_of(b, 0, "x", 0), &to, &options, count_end, &ended[i % 2]), 0);
    }
    ck_assert_int_eq(node_service_remove(b->node[0], PROBE_JOB, b->now), 0);
    ck_assert_uint_eq(ended[0], 25);
    ck_assert_uint_eq(ended[1], 25);
    bench_kill(b, 0, false);
    bench_close(b);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(asked_and_answered),
    SUITE_TEST(to_itself_by_key_and_by_link),
    SUITE_TEST(retried_until_answered),
    SUITE_TEST(late_answers_find_no_call),
    SUITE_TEST(a_reply_that_failed_may_be_tried_again),
    SUITE_TEST(answers_retrace_the_path),
    SUITE_TEST(answered_on_the_way),
    SUITE_TEST(transit_leaves_no_rights),
    SUITE_TEST(a_call_to_a_key_survives_its_root),
    SUITE_TEST(bad_calls),
    SUITE_TEST(a_right_has_an_end),
    SUITE_TEST(too_many),
    SUITE_TEST(closing_ends_all_calls),
};
SUITE_MAIN("svc_calls", tests)
