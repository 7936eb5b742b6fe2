/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attached processes end at bad moments: while their packets are held or decided anew, while an upcall of theirs lends
 * a packet, in strict mode, without a record; and what they send to their own server, and to services that change.
 */
#include "guest_bench.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

/* ---- Held -------------------------------------------------------------------------------------------------------- */

/* A key whose servers, in the view of h, are some server and then h; that server in *first. */
static cw_key key_of_heir(struct bench *b, cw_server h, cw_server not, cw_server *first)
{
    cw_coord at[2];
    for (cw_server s = 0; s < b->torus.servers; s++) {
        for (uint64_t x = 0; x < 64 && s != h && s != not ; x++) {
            cw_key key = cw_key_at(bench_svc(b, h), torus_coord(&b->torus, s), x << 40);
            if (cw_servers_for_key(bench_svc(b, h), &key, 2, at) == 2 && torus_id(&b->torus, at[0]) == s &&
                torus_id(&b->torus, at[1]) == h) {
                *first = s;
                return key;
            }
        }
    }
    ck_abort_msg("no key has that heir");
}

/*
 * Server h inherits two keys. A guest w on it serves the first, whose packets from elsewhere are held; guest v on it
 * sends to the second, whose packets are held because its first server is being let in again. When all are decided
 * anew, the first that is delivered closes v, while packets of v are still to come.
 */
START_TEST(gone_while_its_packets_are_decided_anew)
{
    struct visitor v, w;
    draw_jobs();
    for (unsigned i = 0; i < 3; i++) {
        job[i].range[0].count = 9;
    }
    job[1].ranges = 2;
    job[1].range[1] = (struct job_range){30, 9, 0};
    struct bench *b = open_town((cw_dims){1, 3, 3});
    bench_start_all(b);
    bench_settle(b);
    cw_to one = {.kind = CW_TO_KEY, .job = A, .port = PORT}, two = one;
    one.key = cw_key_at(bench_svc(b, 0), torus_coord(&b->torus, 4), 0);
    cw_coord at[2];
    ck_assert_int_ge(cw_servers_for_key(bench_svc(b, 0), &one.key, 2, at), 2);
    cw_server h = torus_id(&b->torus, at[1]), late = 0, far = 0;
    two.key = key_of_heir(b, h, 4, &late);
    while (far == h || far == late || far == 4) {
        far++;
    }
    bench_kill(b, late, true);
    bench_run(b, CW_MS(200));
    bench_settle(b);
    ck_assert_int_eq(open_at(b, h, A, 10 + h, &v), 0);
    ck_assert_int_eq(open_at(b, h, A, 30 + h, &w), 0);
    ck_assert_int_eq(w.desk->keys(w.svc, PORT, true), 0);
    bench_start(b, late);
    bench_run(b, CW_MS(2));
    bench_kill(b, 4, true);
    bench_run(b, CW_MS(2));
    ck_assert_int_eq(say(b, bench_svc(b, far), &one, 1), 0);
    bench_kick(b, far);
    bench_run(b, CW_MS(1));
    for (unsigned i = 0; i < 300; i++) {
        if (v.svc != NULL && b->node[h]->held.packets > 0) {
            w.takes_along = &v;
        }
        if (v.svc != NULL) {
            (void)say(b, v.svc, &two, 1);
            bench_kick(b, h);
        }
        bench_run(b, CW_US(200));
    }
    ck_assert_ptr_null(v.svc);
    ck_assert_uint_eq(w.stranded, GUEST_PACKETS); /* it has no more room for what is held than for what waits */
    ck_assert_uint_eq(b->node[h]->guests.count, 1);
    bench_settle(b);
    bench_close(b);
}
END_TEST

/* ---- Lent and freed ---------------------------------------------------------------------------------------------- */

START_TEST(what_its_upcall_lends_stays_until_that_returns)
{
    for (unsigned keeps = 0; keeps < 2; keeps++) {
        struct bench *b = hosting();
        struct visitor v;
        cw_to there = to_process(b, 1, A, 11);
        ck_assert_int_eq(open_at(b, 1, A, 11, &v), 0);
        v.closes = true;
        v.keeps = keeps == 1;
        ck_assert_int_eq(say(b, bench_svc(b, 0), &there, 9), 0);
        pump(b);
        ck_assert(v.packets == 1 && b->node[1]->guests.count == 0);
        ck_assert_uint_eq(bench_svc(b, 1)->misuses, 0);
        ck_assert_uint_eq(b->node[1]->kept, keeps);
        ck_assert_uint_eq(pkt_home_out(b->home), 0);
        bench_close(b);
    }
}
END_TEST

START_TEST(its_host_is_blamed_for_what_it_does_later)
{
    struct visitor v;
    draw_jobs();
    struct bench *b = open_town((cw_dims){1, 1, 3});
    b->config.strict = true;
    bench_start_all(b);
    bench_settle(b);
    cw_to there = to_process(b, 1, A, 11);
    ck_assert_int_eq(open_at(b, 1, A, 11, &v), 0);
    v.closes = true;
    struct node *n = b->node[1];
    ck_assert_int_eq(say(b, bench_svc(b, 1), &there, 9), 0);
    bench_kick(b, 1);
    ck_assert_uint_eq(n->freed.count, 1);
    cw_packet_data(n->freed.of[n->freed.first].packet, NULL)[0] = 'y';
    bench_run(b, CW_MS(300));
    ck_assert_uint_eq(bench_svc(b, 1)->misuses, 1);
    bench_close(b);
}
END_TEST

/* ---- Records ----------------------------------------------------------------------------------------------------- */

START_TEST(without_a_record_it_ends)
{
    static uint8_t bytes[JOBS_BYTES];
    struct bench *b = hosting();
    struct visitor v, w;
    struct node *n = b->node[0];
    ck_assert_int_eq(open_at(b, 0, A, 10, &v), 0);
    ck_assert_int_eq(open_at(b, 1, B, 11, &w), 0);
    cw_to there = to_process(b, 0, A, 10), own = to_process(b, 1, B, 11);
    n->desk.drop(n, A);
    ck_assert_int_ge(node_job_put(n, bytes, plain_write(&job[1], bytes, sizeof bytes)), 0);
    pump(b); /* dropped and put in one breath: nothing has happened */
    ck_assert(v.ends == 0 && say(b, w.svc, &there, 1) == 0);
    pump(b);
    ck_assert_uint_eq(v.packets, 1);
    n->desk.drop(n, A);
    ck_assert_int_eq(say(b, v.svc, &own, 1), -EACCES);
    ck_assert_int_eq(say(b, w.svc, &there, 1), 0);
    pump(b);
    ck_assert(v.packets == 1 && v.ends == 1 && v.why == -ENOENT);
    ck_assert_uint_eq(w.ends, 0);
    n->desk.drop(n, B); /* nobody's here */
    bench_close(b);
}
END_TEST

START_TEST(keys_do_not_wait_on_one_that_may_not_be_here)
{
    struct bench *b = hosting();
    struct visitor to[2];
    for (unsigned i = 0; i < 2; i++) {
        ck_assert_int_eq(open_at(b, 1, A, 20 + i, &to[i]), 0);
        ck_assert_int_eq(to[i].desk->keys(to[i].svc, PORT, true), 0);
    }
    job[1].range[1].server = 2;
    put(b, &job[1]);
    ck_assert_uint_eq(to[0].ends, 1);
    for (unsigned k = 0; k < 16; k++) {
        cw_to key = {.kind = CW_TO_KEY, .job = A, .port = PORT};
        key.key.b[CW_KEY_BYTES - 8] = 0x80;
        key.key.b[CW_KEY_BYTES - 1] = (uint8_t)k;
        ck_assert_int_eq(say(b, bench_svc(b, 0), &key, 1), 0);
    }
    pump(b);
    ck_assert(to[0].packets == 0 && to[1].packets == 16);
    bench_close(b);
}
END_TEST

/* Each service that may still come has a place for its job. */
START_TEST(services_keep_their_places)
{
    for (unsigned more = 0; more < 2; more++) {
        struct visitor v;
        draw_jobs();
        job[0].grants = 1;
        struct bench *b = open_town((cw_dims){1, 1, 2});
        b->config.nmu_jobs = NODE_SERVICES + more; /* the probe, A, what A may reach, and 62 services */
        bench_start(b, 0);
        ck_assert_int_eq(open_at(b, 0, A, 10, &v), more == 1 ? 0 : -ENOSPC);
        ck_assert_uint_eq(nmu_jobs_left(&b->node[0]->nmu), more == 1 ? NODE_SERVICES - 2 : NODE_SERVICES - 1);
        bench_close(b);
    }
}
END_TEST

/* ---- Answers ----------------------------------------------------------------------------------------------------- */

START_TEST(an_answer_means_no_attachment)
{
    struct bench *b = hosting();
    struct visitor from, to;
    ck_assert_int_eq(open_at(b, 0, A, 10, &from), 0);
    ck_assert_int_eq(open_at(b, 1, B, 11, &to), 0);
    cw_to there = to_process(b, 1, B, 11);
    to.desk->mean(to.svc, EXT_GUEST_PLAIN, from.desk->life(from.svc) + 1);
    to.answers = true;
    ck_assert_int_gt(ask(b, &from, &there, NULL), 0);
    pump(b);
    ck_assert(from.replies == 1 && from.status == 0);
    bench_close(b);
}
END_TEST

/* A service that asks services is not refused while one of them is replaced; who asks a guest is. */
START_TEST(only_guests_are_refused)
{
    static const struct {
        cw_job job;
        cw_process process;
        int status;
    } asked[] = {{PROBE_JOB, 1, -ETIMEDOUT}, {B, 1, -ETIMEDOUT}, {B, 11, -ECONNREFUSED}};
    struct bench *b = hosting();
    struct visitor v;
    job[2].ranges = 2;
    job[2].range[1] = job[2].range[0];
    job[2].range[0] = (struct job_range){0, 3, 0}; /* as a service's */
    put(b, &job[2]);
    ck_assert_int_eq(node_service_remove(b->node[1], PROBE_JOB, b->now), 0);
    for (unsigned i = 0; i < sizeof asked / sizeof *asked; i++) {
        cw_to to = to_process(b, 1, asked[i].job, asked[i].process);
        cw_call_options options = {CW_CALL_INIT, .timeout = CW_MS(1), .retries = 1};
        cw_packet *p = packet_of(b, 0, "request", 0);
        const struct note *last;
        ck_assert_int_gt(cw_call(bench_svc(b, 0), p, &to, &options, probe_reply, NULL), 0);
        pump(b);
        ck_assert_uint_eq(bench_notes(b, 0, NOTE_REPLY, &last), i + 1);
        ck_assert_int_eq(last->status, asked[i].status);
    }
    ck_assert_int_eq(open_at(b, 0, A, 10, &v), 0);
    cw_to service = to_process(b, 1, PROBE_JOB, 1);
    ck_assert_int_gt(ask(b, &v, &service, NULL), 0);
    pump(b);
    ck_assert(v.replies == 1 && v.status == -ECONNREFUSED);
    bench_close(b);
}
END_TEST

/* What is said in place of processes that are not here takes no more room than one guest. */
START_TEST(nobody_has_the_room_of_one)
{
    enum { ASKED = 2 * GUEST_PACKETS };
    struct bench *b = hosting();
    struct visitor from, to;
    ck_assert_int_eq(open_at(b, 0, A, 10, &from), 0);
    ck_assert_int_eq(open_at(b, 1, B, 11, &to), 0);
    cw_to there = to_process(b, 1, B, 11);
    for (unsigned i = 0; i < ASKED; i++) {
        ck_assert_int_gt(ask(b, &from, &there, NULL), 0);
        if (i % 32 == 31) {
            pump(b);
        }
    }
    ck_assert_uint_eq(to.packets, ASKED);
    to.desk->close(to.svc);
    ck_assert_uint_eq(b->node[1]->turns.packets, GUEST_PACKETS);
    pump(b);
    ck_assert_uint_eq(from.replies, GUEST_PACKETS);
    bench_close(b);
}
END_TEST

/* ---- Room -------------------------------------------------------------------------------------------------------- */

START_TEST(a_service_is_told_of_the_room_of_one_that_goes)
{
    struct bench *b = hosting();
    struct visitor v;
    struct node *n = b->node[0];
    cw_svc *probe = bench_svc(b, 0);
    cw_to far = to_process(b, 1, B, 11);
    n->turns.packets_max = 60;
    ck_assert_int_eq(open_at(b, 0, A, 10, &v), 0);
    ck_assert_uint_gt(fill(b, v.svc, &far, 10), 0);
    ck_assert_uint_gt(fill(b, probe, &far, 10), 0);
    ck_assert(n->others.refused == place_bit(probe->index) && n->writable == 0);
    v.desk->close(v.svc);
    ck_assert(n->others.refused == 0 && n->writable == place_bit(probe->index));
    bench_close(b);
}
END_TEST

START_TEST(to_its_own_server_it_has_its_own_room)
{
    struct bench *b = hosting();
    struct visitor v, w;
    ck_assert_int_eq(open_at(b, 1, A, 20, &v), 0);
    ck_assert_int_eq(open_at(b, 1, A, 21, &w), 0);
    cw_to self = to_process(b, 1, A, 20), far = to_server(b, 0);
    ck_assert_uint_eq(fill(b, v.svc, &self, 1), GUEST_PACKETS);
    ck_assert_int_eq(say(b, v.svc, &far, 1), -EAGAIN);
    ck_assert_int_eq(say(b, w.svc, &self, 1), 0);
    ck_assert_int_eq(say(b, bench_svc(b, 1), &self, 1), 0);
    pump(b);
    ck_assert(v.packets == GUEST_PACKETS + 2 && v.writable >= 1 && w.writable == 0);
    ck_assert(v.svc->guest->here == 0 && v.svc->guest->here_bytes == 0);
    ck_assert_uint_eq(fill(b, v.svc, &far, 1), GUEST_PACKETS);
    bench_close(b);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(gone_while_its_packets_are_decided_anew),
    SUITE_TEST(what_its_upcall_lends_stays_until_that_returns),
    SUITE_TEST(its_host_is_blamed_for_what_it_does_later),
    SUITE_TEST(without_a_record_it_ends),
    SUITE_TEST(keys_do_not_wait_on_one_that_may_not_be_here),
    SUITE_TEST(services_keep_their_places),
    SUITE_TEST(an_answer_means_no_attachment),
    SUITE_TEST(only_guests_are_refused),
    SUITE_TEST(nobody_has_the_room_of_one),
    SUITE_TEST(a_service_is_told_of_the_room_of_one_that_goes),
    SUITE_TEST(to_its_own_server_it_has_its_own_room),
};
SUITE_MAIN("guest_ends", tests)
