/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers for a third party (NMU 4.2), on whole nodes: figure 3 of the paper at its four time stamps, and what must not
 * be.
 */
#include "node_bench.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

/* Jobs A, B and C; the instance on server i is process i. */
enum { A = 1001, B = 1002, C = 1003, PHI = 5, OMEGA = 6, SERVERS = 4 };

/* What the latest packet for a job was, and how many there were. */
static struct {
    unsigned packets;
    cw_rx rx;
    cw_server at;
    uint8_t first;
} got[3];

static cw_verdict note_packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    (void)state;
    size_t length;
    const uint8_t *data = cw_packet_data(p, &length);
    unsigned i = cw_job_of(s) - A;
    got[i].packets++;
    got[i].rx = *rx;
    got[i].at = cw_server_id(s, cw_self(s));
    got[i].first = length > 0 ? data[0] : 0;
    return CW_DROP;
}

static void grant(struct bench *b, cw_job from, cw_job to, cw_process process, cw_port port)
{
    const struct book_grant g = {.from = from, .to = to, .port = port, .processes = {process, process}};
    ck_assert_int_eq(book_allow(b->book, &g), 0);
}

/* Three jobs on four servers; as the figure begins: A may reach B:2:PHI and C:3:OMEGA, the others nobody. */
static struct bench *three_jobs(void)
{
    static const char *const names[] = {"A", "B", "C"};
    struct bench *b = bench_open((cw_dims){1, 1, SERVERS});
    memset(got, 0, sizeof got);
    grant(b, A, B, 2, PHI);
    grant(b, A, C, 3, OMEGA);
    bench_start_all(b);
    for (cw_server s = 0; s < SERVERS; s++) {
        for (unsigned i = 0; i < 3; i++) {
            const cw_service t = {CW_SERVICE_INIT, .name = names[i], .job = A + i, .on_packet = note_packet};
            ck_assert_int_eq(node_service_add(b->node[s], &t, b->now), 0);
        }
    }
    bench_settle(b);
    return b;
}

static cw_svc *instance(struct bench *b, cw_job job, cw_server s)
{
    node_enter(b->node[s], b->now);
    return node_service_of(b->node[s], job);
}

static cw_to at(cw_job job, cw_process process, cw_port port)
{
    return (cw_to){
        .kind = CW_TO_SERVER, .job = job, .port = port, .process = process, .server = {0, 0, (uint8_t)process}};
}

/* The result of sending from one process to another. */
static int try(struct bench *b, cw_job from, cw_process process, const cw_to *to)
{
    cw_svc *s = instance(b, from, process);
    cw_packet *p = cw_packet_new(s, 1);
    int rc = cw_send(s, p, to, NULL);
    if (rc < 0) {
        cw_packet_free(s, p);
    }
    return rc;
}

static int64_t ask(struct bench *b, cw_process process, const cw_to *to, const cw_to *reply_to,
                   const cw_call_options *options)
{
    cw_svc *s = instance(b, A, process);
    cw_call_options with = options != NULL ? *options : (cw_call_options){CW_CALL_INIT};
    with.reply_to = reply_to;
    cw_packet *p = cw_packet_new(s, 1);
    cw_packet_data(p, NULL)[0] = '?';
    int64_t call = cw_call(s, p, to, &with, NULL, NULL);
    if (call < 0) {
        cw_packet_free(s, p);
    }
    bench_kick(b, process);
    return call;
}

static unsigned rights(const struct bench *b, cw_server s)
{
    return expiry_count(&node_nmu(b->node[s])->responses.table);
}

/* None of B and C may send anything, but by the right to answer. */
static void only_A_may(struct bench *b)
{
    const cw_to phi = at(B, 2, PHI), omega = at(C, 3, OMEGA), a = at(A, 1, PHI);
    ck_assert_int_eq(try(b, B, 2, &omega), -EACCES);
    ck_assert_int_eq(try(b, B, 2, &a), -EACCES);
    ck_assert_int_eq(try(b, C, 3, &phi), -EACCES);
    ck_assert_int_eq(try(b, C, 3, &a), -EACCES);
}

START_TEST(figure_3)
{
    struct bench *b = three_jobs();
    const cw_to phi = at(B, 2, PHI), omega = at(C, 3, OMEGA);
    only_A_may(b);
    /* 1: A:1 asks B:2:PHI, for C:3:OMEGA to be told; its NMU checks both. */
    int64_t call = ask(b, 1, &phi, &omega, NULL);
    ck_assert_int_gt(call, 0);
    ck_assert_uint_eq(expiry_count(&b->node[1]->calls.table), 0);
    ck_assert_uint_eq(rights(b, 2), 0);
    /* 2: the NMU of B:2 has an entry, and hands over its handle. */
    bench_run(b, CW_MS(1));
    ck_assert(got[B - A].packets == 1 && got[B - A].at == 2 && got[B - A].first == '?');
    cw_rx rx = got[B - A].rx;
    ck_assert(rx.src_job == A && rx.src_process == 1 && rx.port == PHI && rx.call != 0 && rx.requester_job == 0);
    ck_assert_uint_eq(rights(b, 2), 1);
    const struct response_right *right =
        response_find(&node_nmu(b->node[2])->responses, instance(b, B, 2)->index, rx.call);
    ck_assert_ptr_nonnull(right);
    ck_assert(right->requester.job == A && right->requester.process == 1 && right->requester.server == 1);
    ck_assert(right->request.job == C && right->request.process == 3 && right->request.port == OMEGA &&
              right->request.server.z == 3);
    only_A_may(b); /* a handle is no privilege */
    /* 3: B:2 answers by the handle, which is gone with that. */
    cw_svc *s = instance(b, B, 2);
    cw_packet *answer = cw_packet_new(s, 1);
    cw_packet_data(answer, NULL)[0] = '!';
    ck_assert_int_eq(cw_reply(s, rx.call, 7, answer), 0);
    ck_assert_uint_eq(rights(b, 2), 0);
    ck_assert_int_eq(cw_reply(s, rx.call, 0, NULL), -ENOENT);
    bench_kick(b, 2);
    only_A_may(b);
    /* 4: C:3 has it, from B:2, and knows that A:1 asked. */
    bench_run(b, CW_MS(1));
    ck_assert(got[C - A].packets == 1 && got[C - A].at == 3 && got[C - A].first == '!');
    rx = got[C - A].rx;
    ck_assert(rx.src_job == B && rx.src_process == 2 && rx.port == OMEGA && rx.call == 0);
    ck_assert(rx.requester_job == A && rx.requester_process == 1 && rx.requester_server.z == 1);
    ck_assert(rx.requester_call == call && rx.status == -7);
    only_A_may(b);
    ck_assert_uint_eq(got[0].packets, 0);
    bench_close(b);
}
END_TEST

/* Each of the two privileges is needed, and nothing is sent without. */
START_TEST(both_are_checked)
{
    struct bench *b = three_jobs();
    const cw_to phi = at(B, 2, PHI), omega = at(C, 3, OMEGA);
    const struct {
        cw_to to, told;
        int rc;
    } table[] = {
        {at(B, 2, PHI), at(C, 2, OMEGA), -EACCES},   {at(B, 2, PHI), at(C, 3, PHI), -EACCES},
        {at(B, 2, PHI), at(B, 2, OMEGA), -EACCES},   {at(B, 1, PHI), at(C, 3, OMEGA), -EACCES},
        {at(B, 2, OMEGA), at(C, 3, OMEGA), -EACCES},
    };
    uint64_t made = node_tally(b->node[1]).made;
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
        ck_assert_int_eq(ask(b, 1, &table[i].to, &table[i].told, NULL), table[i].rc);
    }
    cw_to wrong = omega;
    wrong.server.z = 2; /* process 3 does not live there */
    ck_assert_int_eq(ask(b, 1, &phi, &wrong, NULL), -EINVAL);
    wrong.server.z = SERVERS;
    ck_assert_int_eq(ask(b, 1, &phi, &wrong, NULL), -EINVAL);
    wrong = omega;
    wrong.job = 0;
    ck_assert_int_eq(ask(b, 1, &phi, &wrong, NULL), -EINVAL);
    wrong = omega;
    wrong.kind = CW_TO_KEY;
    ck_assert_int_eq(ask(b, 1, &phi, &wrong, NULL), -EINVAL);
    const cw_call_options again = {CW_CALL_INIT, .retries = 1};
    ck_assert_int_eq(ask(b, 1, &phi, &omega, &again), -EINVAL);
    ck_assert_int_eq(ask(b, 1, &phi, NULL, NULL), -EINVAL); /* who hears of it, then? */
    cw_call_options told = {CW_CALL_INIT, .reply_to = &omega};
    cw_svc *s = instance(b, A, 1);
    cw_packet *p = cw_packet_new(s, 1);
    ck_assert_int_eq(cw_call(s, p, &phi, &told, probe_reply, NULL), -EINVAL);
    cw_packet_free(s, p);
    ck_assert_uint_eq(node_tally(b->node[1]).made, made);
    bench_close(b);
}
END_TEST

static unsigned done_calls;
static cw_rx done_rx;
static void done(cw_svc *s, void *state, void *arg, int status, cw_packet *reply, const cw_rx *rx)
{
    (void)s, (void)state, (void)arg, (void)reply;
    ck_assert_int_eq(status, 0);
    done_calls++;
    done_rx = *rx;
}

/*
 * Two ways are three of which two are one: a requester that names itself needs no privilege for itself. And an earlier
 * API.
 */
START_TEST(the_requester_may_be_the_recipient)
{
    struct bench *b = three_jobs();
    const cw_to phi = at(B, 2, PHI), me = at(A, 1, 99);
    cw_call_options options = {CW_CALL_INIT, .reply_to = &me};
    done_calls = 0;
    for (unsigned i = 0; i < 2; i++) {
        cw_svc *s = instance(b, A, 1);
        if (i == 1) {
            options.size = offsetof(cw_call_options, reply_to);
            options.reply_to = (const cw_to *)1; /* is not there: not looked at */
        }
        int64_t call = cw_call(s, cw_packet_new(s, 1), &phi, &options, done, NULL);
        ck_assert_int_gt(call, 0);
        bench_kick(b, 1);
        bench_run(b, CW_MS(1));
        ck_assert_int_eq(cw_reply(instance(b, B, 2), got[B - A].rx.call, 0, NULL), 0);
        bench_kick(b, 2);
        bench_run(b, CW_MS(1));
        ck_assert_uint_eq(done_calls, i + 1);
        ck_assert(done_rx.port == (i == 0 ? 99 : PHI) && done_rx.requester_job == A && done_rx.requester_process == 1);
        ck_assert(done_rx.requester_call == call);
    }
    ck_assert_uint_eq(got[0].packets, 0);
    bench_close(b);
}
END_TEST

/* The answer does not walk back along the request's path: the recipient is elsewhere. */
START_TEST(a_recorded_path_leads_nowhere_else)
{
    struct bench *b = three_jobs();
    const cw_to phi = at(B, 2, PHI), omega = at(C, 3, OMEGA);
    const cw_call_options options = {CW_CALL_INIT, .send = {CW_SEND_INIT, .record_path = true}};
    ck_assert_int_gt(ask(b, 1, &phi, &omega, &options), 0);
    bench_run(b, CW_MS(1));
    ck_assert_int_eq(cw_reply(instance(b, B, 2), got[B - A].rx.call, 0, NULL), 0);
    bench_kick(b, 2);
    bench_run(b, CW_MS(1));
    ck_assert_uint_eq(got[C - A].packets, 1);
    ck_assert_uint_eq(got[C - A].rx.hops, 1);
    bench_close(b);
}
END_TEST

/* A right for a third party runs out as any does. */
START_TEST(the_right_runs_out)
{
    struct bench *b = three_jobs();
    const cw_to phi = at(B, 2, PHI), omega = at(C, 3, OMEGA);
    const cw_call_options options = {CW_CALL_INIT, .timeout = CW_MS(20)};
    ck_assert_int_gt(ask(b, 1, &phi, &omega, &options), 0);
    bench_run(b, CW_MS(10));
    ck_assert_uint_eq(rights(b, 2), 1);
    bench_run(b, CW_MS(20));
    ck_assert_uint_eq(rights(b, 2), 0);
    ck_assert_int_eq(cw_reply(instance(b, B, 2), got[B - A].rx.call, 0, NULL), -ENOENT);
    bench_close(b);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(figure_3),
    SUITE_TEST(both_are_checked),
    SUITE_TEST(the_requester_may_be_the_recipient),
    SUITE_TEST(a_recorded_path_leads_nowhere_else),
    SUITE_TEST(the_right_runs_out),
};
SUITE_MAIN("three_way", tests)
