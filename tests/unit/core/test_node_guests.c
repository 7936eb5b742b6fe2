/* SPDX-License-Identifier: Apache-2.0 */
#include "guest_bench.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

/* ---- Coming ------------------------------------------------------------------------------------------------------ */

START_TEST(who_may_be_here)
{
    struct bench *b = hosting();
    struct visitor v, w;
    cw_svc *host = bench_svc(b, 1), *out;
    ck_assert_int_eq(open_at(b, 1, A, 11, &v), 0);
    ck_assert(v.desk->process(v.svc) == 11 && v.desk->life(v.svc) != 0 && cw_job_of(v.svc) == A);
    ck_assert_int_eq(open_at(b, 1, A, 11, &w), -EBUSY);
    ck_assert_int_eq(open_at(b, 1, A, 10, &w), -EADDRNOTAVAIL); /* lives on server 0 */
    ck_assert_int_eq(open_at(b, 1, A, 99, &w), -EADDRNOTAVAIL);
    ck_assert_int_eq(open_at(b, 1, 4999, 1, &w), -ENOENT);
    ck_assert_int_eq(open_at(b, 1, PROBE_JOB, 1, &w), -EINVAL); /* a built-in service's, as all below 1024 */
    ck_assert_int_eq(open_at(b, 1, NODE_JOBS_LOADED - 1, 1, &w), -EINVAL);
    ck_assert_int_eq(open_at(b, 1, 0, 1, &w), -EINVAL);
    ck_assert_int_eq(open_at(b, 1, A, CW_PROCESS_ANY, &w), -EINVAL);
    const struct guest_table empty = {.on_packet = NULL};
    ck_assert_int_eq(v.desk->open(v.desk->node, host, A, 20, &empty, NULL, &out), -EINVAL);
    ck_assert_int_eq(v.desk->open(v.desk->node, v.svc, A, 20, &visiting, NULL, &out), -EINVAL);
    ck_assert_int_eq(v.desk->open(v.desk->node, NULL, A, 20, &visiting, NULL, &out), -EINVAL);
    uint32_t life = v.desk->life(v.svc);
    v.desk->close(v.svc);
    ck_assert_int_eq(open_at(b, 1, A, 11, &v), 0);
    ck_assert_uint_ne(v.desk->life(v.svc), life);
    /* A service of its job does not load beside it. */
    cw_service late = {CW_SERVICE_INIT, .name = "late", .job = A};
    late.on_packet = bench_svc(b, 1)->table->on_packet;
    ck_assert_int_eq(node_service_add(b->node[1], &late, b->now), -EEXIST);
    v.desk->close(NULL);
    v.desk->close(host);
    bench_close(b);
}
END_TEST

START_TEST(where_none_are_taken_there_is_no_desk)
{
    struct bench *b = bench_open((cw_dims){1, 1, 2});
    bench_start(b, 0);
    ck_assert_ptr_null(cw_find(bench_svc(b, 0), GUESTS_DESK_NAME, GUESTS_DESK_VERSION, NULL));
    ck_assert_uint_eq(guests_bytes(&b->node[0]->guests), 0);
    b->config.guests = GUESTS_MAX + 1;
    b->config.self = (cw_coord){0, 0, 1};
    b->config.incarnation = 1;
    ck_assert_int_eq(node_config_check(&b->config), -EINVAL);
    b->config.guests = GUESTS_MAX;
    ck_assert_int_eq(node_config_check(&b->config), 0);
    bench_close(b);
}
END_TEST

START_TEST(what_only_services_have)
{
    struct bench *b = hosting();
    struct visitor v;
    ck_assert_int_eq(open_at(b, 0, A, 10, &v), 0);
    ck_assert_ptr_null(cw_timer_start(v.svc, CW_MS(1), probe_timer, NULL));
    ck_assert_int_eq(cw_offload(v.svc, free, probe_timer, NULL, CW_US(1)), -EINVAL);
    ck_assert_ptr_null(cw_find(v.svc, GUESTS_DESK_NAME, GUESTS_DESK_VERSION, NULL));
    cw_poll_links(v.svc, CW_PLACE_MAIN, CW_LINKS_ALL);
    ck_assert_uint_eq(b->node[0]->wanted, 0);
    ck_assert_uint_eq(cw_mtu(v.svc), cw_mtu(bench_svc(b, 0)) - 12);
    cw_packet_free(v.svc, NULL);
    cw_packet *p = cw_packet_new(v.svc, 1), *theirs = packet_of(b, 0, "x", 0);
    uint64_t misuses = bench_svc(b, 0)->misuses;
    cw_packet_free(v.svc, theirs); /* not its own: its host is told */
    ck_assert_uint_eq(bench_svc(b, 0)->misuses, misuses + 1);
    cw_packet_free(v.svc, p);
    cw_packet_free(bench_svc(b, 0), theirs);
    bench_close(b);
}
END_TEST

/* ---- Speaking ---------------------------------------------------------------------------------------------------- */

START_TEST(each_speaks_in_its_own_name)
{
    struct bench *b = hosting();
    struct visitor from, to, same;
    ck_assert_int_eq(open_at(b, 0, A, 10, &from), 0);
    ck_assert_int_eq(open_at(b, 1, B, 11, &to), 0);
    ck_assert_int_eq(open_at(b, 0, B, 10, &same), 0);
    cw_to far = to_process(b, 1, B, 11), near = to_process(b, 0, B, 10), service = to_server(b, 1);
    cw_to link = far;
    link.kind = CW_TO_LINK;
    link.link = CW_LINK_ZP;
    ck_assert_int_eq(say(b, from.svc, &far, cw_mtu(from.svc)), 0);
    ck_assert_int_eq(say(b, from.svc, &far, cw_mtu(from.svc) + 1), -EMSGSIZE);
    ck_assert_int_eq(say(b, from.svc, &near, 2), 0);
    ck_assert_int_eq(say(b, from.svc, &service, 3), 0);
    pump(b);
    struct visitor *got[] = {&to, &same};
    for (unsigned i = 0; i < 2; i++) {
        ck_assert_uint_eq(got[i]->packets, 1);
        ck_assert(got[i]->rx.src_job == A && got[i]->rx.src_process == 10 && got[i]->rx.job == B);
        ck_assert(got[i]->rx.src_server.z == 0 && got[i]->rx.port == PORT && got[i]->rx.call == 0);
        ck_assert(got[i]->said.life == from.desk->life(from.svc) && got[i]->said.what == EXT_GUEST_PLAIN);
    }
    ck_assert_uint_eq(to.length, cw_mtu(from.svc));
    const struct note *note;
    ck_assert_uint_eq(bench_notes(b, 1, NOTE_PACKET, &note), 1);
    ck_assert(note->rx.src_job == A && note->rx.src_process == 10 && note->length == 3);
    ck_assert_int_eq(say(b, from.svc, &link, 4), 0);
    pump(b);
    ck_assert_int_eq(say(b, bench_svc(b, 2), &far, 5), 0);
    from.desk->mean(from.svc, EXT_GUEST_NOTIFY, 0);
    pump(b);
    ck_assert_uint_eq(to.packets, 3);
    ck_assert(to.rx.src_job == PROBE_JOB && to.rx.src_process == 2 && to.said.life == 0);
    ck_assert_int_eq(say(b, from.svc, &far, 6), 0);
    pump(b);
    ck_assert(to.packets == 4 && to.said.what == EXT_GUEST_NOTIFY);
    ck_assert_uint_eq(pkt_home_out(b->home), 0);
    bench_close(b);
}
END_TEST

START_TEST(asked_and_answered)
{
    struct bench *b = hosting();
    struct visitor from, to;
    ck_assert_int_eq(open_at(b, 0, A, 10, &from), 0);
    ck_assert_int_eq(open_at(b, 1, B, 11, &to), 0);
    cw_to there = to_process(b, 1, B, 11), service = to_server(b, 2);
    to.answers = true;
    ck_assert_int_gt(ask(b, &from, &there, NULL), 0);
    ck_assert_uint_eq(from.svc->guest->calls, 1);
    pump(b);
    ck_assert(to.packets == 1 && from.replies == 1 && from.status == 0);
    ck_assert(from.rx.src_job == B && from.rx.src_process == 11 && from.rx.requester_process == 10);
    /* A service asks a guest. */
    cw_packet *p = packet_of(b, 2, "request", 0);
    ck_assert_int_gt(cw_call(bench_svc(b, 2), p, &there, NULL, probe_reply, NULL), 0);
    pump(b);
    ck_assert(to.packets == 2 && bench_notes(b, 2, NOTE_REPLY, NULL) == 1);
    /* A guest asks a service, which does not answer: after three attempts it is told. */
    cw_call_options options = {CW_CALL_INIT, .timeout = CW_MS(1), .retries = 2};
    ck_assert_int_gt(ask(b, &from, &service, &options), 0);
    pump(b);
    ck_assert(from.replies == 2 && from.status == -ETIMEDOUT);
    ck_assert_uint_eq(bench_notes(b, 2, NOTE_PACKET, NULL), 3);
    int64_t call = ask(b, &from, &service, NULL);
    ck_assert_int_eq(cw_call_cancel(to.svc, call), -ENOENT);
    ck_assert_int_eq(cw_call_cancel(from.svc, call), 0);
    ck_assert(from.replies == 3 && from.status == -ECANCELED && from.svc->guest->calls == 0);
    /* A third party gets the answer. */
    struct visitor third;
    ck_assert_int_eq(open_at(b, 1, A, 20, &third), 0);
    cw_to told = to_process(b, 1, A, 20);
    options = (cw_call_options){CW_CALL_INIT, .reply_to = &told};
    p = cw_packet_new(from.svc, 1);
    call = cw_call(from.svc, p, &there, &options, NULL, NULL);
    ck_assert_int_gt(call, 0);
    pump(b);
    ck_assert(third.packets == 1 && third.rx.requester_process == 10 && third.rx.requester_call == call);
    bench_close(b);
}
END_TEST

START_TEST(who_is_not_here_is_refused)
{
    struct bench *b = hosting();
    struct visitor from, to;
    ck_assert_int_eq(open_at(b, 0, A, 10, &from), 0);
    cw_to there = to_process(b, 1, B, 11), key = {.kind = CW_TO_KEY, .job = B, .port = PORT};
    key.key.b[CW_KEY_BYTES - 8] = 0x80; /* server 1 of three */
    ck_assert_int_eq(say(b, from.svc, &there, 1), 0);
    ck_assert_int_gt(ask(b, &from, &there, NULL), 0);
    pump(b);
    ck_assert(from.replies == 1 && from.status == -ECONNREFUSED && from.rx.src_process == 11);
    ck_assert_uint_eq(node_drops(b->node[1], CW_DROP_NO_SERVICE), 2);
    ck_assert_int_gt(ask(b, &from, &key, NULL), 0);
    pump(b);
    ck_assert(from.replies == 2 && from.status == -ECONNREFUSED);
    /* The one that is meant has gone, and another has come. */
    ck_assert_int_eq(open_at(b, 1, B, 11, &to), 0);
    uint32_t life = to.desk->life(to.svc);
    from.desk->mean(from.svc, EXT_GUEST_PLAIN, life);
    ck_assert_int_eq(say(b, from.svc, &there, 1), 0);
    pump(b);
    ck_assert_uint_eq(to.packets, 1);
    to.desk->close(to.svc);
    ck_assert_int_eq(open_at(b, 1, B, 11, &to), 0);
    ck_assert_int_gt(ask(b, &from, &there, NULL), 0);
    pump(b);
    ck_assert(to.packets == 0 && from.replies == 3 && from.status == -ECONNREFUSED);
    from.desk->mean(from.svc, EXT_GUEST_PLAIN, 0);
    ck_assert_int_eq(say(b, from.svc, &there, 1), 0);
    pump(b);
    ck_assert_uint_eq(to.packets, 1);
    bench_close(b);
}
END_TEST

START_TEST(keys_go_to_one_who_serves_them)
{
    struct bench *b = hosting();
    struct visitor from, to[3];
    ck_assert_int_eq(open_at(b, 0, B, 10, &from), 0);
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_int_eq(open_at(b, 1, A, i == 0 ? 11 : 19 + i, &to[i]), 0);
        ck_assert_int_eq(to[i].desk->keys(to[i].svc, i == 0 ? PORT + 1 : PORT, true), 0);
    }
    for (unsigned k = 0; k < 32; k++) {
        cw_to key = {.kind = CW_TO_KEY, .job = A, .port = PORT};
        key.key.b[CW_KEY_BYTES - 8] = 0x80;
        key.key.b[CW_KEY_BYTES - 1] = (uint8_t)k;
        uint64_t route = UINT64_C(1) << 63 | k;
        unsigned i = guests_hash(20, route) > guests_hash(21, route) ? 1 : 2, before = to[i].packets;
        ck_assert_int_eq(say(b, from.svc, &key, 1), 0);
        pump(b);
        ck_assert_uint_eq(to[i].packets, before + 1);
        ck_assert(to[i].rx.kind == CW_TO_KEY && to[i].rx.key.b[CW_KEY_BYTES - 1] == k);
    }
    ck_assert(to[0].packets == 0 && to[1].packets + to[2].packets == 32 && to[1].packets > 0 && to[2].packets > 0);
    bench_close(b);
}
END_TEST

/* ---- Going ------------------------------------------------------------------------------------------------------- */

START_TEST(who_goes_leaves_nothing)
{
    struct bench *b = hosting();
    struct visitor from, to;
    ck_assert_int_eq(open_at(b, 0, A, 10, &from), 0);
    ck_assert_int_eq(open_at(b, 1, B, 11, &to), 0);
    cw_to there = to_process(b, 1, B, 11), back = to_process(b, 0, A, 10);
    to.keeps = true;
    ck_assert_int_gt(ask(b, &from, &there, NULL), 0);
    ck_assert_int_gt(ask(b, &from, &there, NULL), 0);
    pump(b);
    ck_assert(to.packets == 2 && to.svc->in_hand == 2 && from.replies == 0);
    ck_assert_int_gt(ask(b, &to, &back, NULL), 0);
    to.again = true;
    ck_assert_int_eq(to.desk->keys(to.svc, PORT, true), 0);
    to.desk->close(to.svc);
    ck_assert(to.replies == 1 && to.status == -ECANCELED);
    pump(b);
    ck_assert(from.replies == 2 && from.status == -ECONNRESET && from.rx.src_process == 11);
    ck_assert_uint_eq(expiry_count(&b->node[1]->nmu.responses.table), 0);
    ck_assert_uint_eq(nmu_speaker_of(node_nmu(b->node[1]), B, 11), UINT32_MAX);
    ck_assert_uint_eq(b->node[1]->guests.count, 0);
    ck_assert_uint_eq(pkt_home_out(b->home), 0);
    bench_close(b);
}
END_TEST

START_TEST(gone_in_its_own_upcalls)
{
    struct bench *b = hosting();
    struct visitor from, to;
    ck_assert_int_eq(open_at(b, 0, A, 10, &from), 0);
    ck_assert_int_eq(open_at(b, 1, B, 11, &to), 0);
    cw_to there = to_process(b, 1, B, 11);
    to.closes = from.closes = true;
    ck_assert_int_gt(ask(b, &from, &there, NULL), 0);
    pump(b);
    ck_assert(to.packets == 1 && from.replies == 1 && from.status == -ECONNRESET);
    ck_assert_uint_eq(b->node[0]->guests.count + b->node[1]->guests.count, 0);
    ck_assert_uint_eq(pkt_home_out(b->home), 0);
    bench_close(b);
}
END_TEST

START_TEST(a_host_takes_its_guests_along)
{
    struct bench *b = hosting();
    struct visitor v;
    ck_assert_int_eq(open_at(b, 0, A, 10, &v), 0);
    cw_to service = to_server(b, 1);
    ck_assert_int_gt(ask(b, &v, &service, NULL), 0);
    ck_assert_int_eq(node_service_remove(b->node[0], PROBE_JOB, b->now), 0);
    ck_assert(v.replies == 1 && v.status == -ECANCELED);
    ck_assert_uint_eq(b->node[0]->guests.count, 0);
    node_tick(b->node[0], b->now);
    ck_assert_uint_eq(expiry_count(&b->node[0]->calls.table), 0);
    b->now = cw_time_add(b->now, CW_MS(1));
    bench_close(b);
}
END_TEST

/* ---- Grants ------------------------------------------------------------------------------------------------------ */

START_TEST(judged_by_its_own_grants)
{
    struct bench *b = hosting();
    struct visitor from, to;
    ck_assert_int_eq(open_at(b, 0, A, 10, &from), 0);
    ck_assert_int_eq(open_at(b, 1, B, 11, &to), 0);
    cw_to there = to_process(b, 1, B, 11), wrong = to_process(b, 0, B, 11);
    ck_assert_int_eq(say(b, from.svc, &there, 1), 0);
    ck_assert_int_eq(say(b, from.svc, &wrong, 1), -EINVAL);
    job[1].grants = 2; /* no more to B */
    put(b, &job[1]);
    ck_assert_int_eq(say(b, from.svc, &there, 1), -EACCES);
    ck_assert_int_eq(say(b, bench_svc(b, 0), &there, 1), 0);
    const struct denied_row *row = denied_latest(&node_nmu(b->node[0])->denied, A);
    ck_assert(row != NULL && row->source_process == 10 && row->job == B && row->process == 11);
    job[1].grants = 3;
    put(b, &job[1]);
    ck_assert_int_eq(say(b, from.svc, &there, 1), 0);
    pump(b);
    ck_assert_uint_eq(to.packets, 3);
    ck_assert(from.ends == 0 && to.ends == 0);
    bench_close(b);
}
END_TEST

START_TEST(a_record_ends_it)
{
    for (unsigned what = 0; what < 3; what++) {
        struct bench *b = hosting();
        struct visitor v, w;
        cw_to there = to_process(b, 1, A, 11);
        ck_assert_int_eq(open_at(b, 1, A, 11, &v), 0);
        ck_assert_int_eq(open_at(b, 0, B, 10, &w), 0);
        ck_assert_int_gt(ask(b, &w, &there, NULL), 0);
        pump(b);
        v.closes = what == 1;
        job[1].generation += what == 0;
        job[1].range[0].server += what == 1;
        job[1].destroyed = what == 2;
        put(b, &job[1]);
        ck_assert_int_eq(v.why, what == 0 ? -ESTALE : what == 1 ? -EADDRNOTAVAIL : -ENOENT);
        ck_assert_uint_eq(v.ends, 1);
        put(b, &job[1]);
        pump(b);
        ck_assert(v.ends == 1 && w.ends == 0);
        if (what != 1) {
            cw_to own = to_process(b, 0, B, 10);
            ck_assert_int_lt(say(b, v.svc, &own, 1), 0);
            ck_assert_uint_eq(w.replies, 0);
        }
        if (what == 0) { /* still there by its number, and yet not */
            ck_assert_int_eq(say(b, w.svc, &there, 1), 0);
            pump(b);
            ck_assert_uint_eq(v.packets, 1);
            ck_assert_int_eq(cw_reply(v.svc, v.right, 0, NULL), -ESHUTDOWN);
            v.desk->close(v.svc);
            pump(b);
            ck_assert(w.replies == 1 && w.status == -ECONNRESET);
            ck_assert_int_eq(open_at(b, 1, A, 11, &v), 0);
        }
        bench_close(b);
    }
}
END_TEST

START_TEST(tables_that_are_written_anew_know_it)
{
    static const struct siphash_key key = {{1, 2}};
    draw_jobs();
    struct bench *b = open_town((cw_dims){1, 1, 3});
    struct visitor v, w;
    b->seal = &key;
    bench_start_all(b);
    bench_settle(b);
    ck_assert_int_eq(open_at(b, 0, A, 10, &v), 0);
    cw_to service = to_server(b, 1);
    ck_assert_int_eq(say(b, v.svc, &service, 1), 0);
    b->node[0]->nmu.tables.access.entry[v.svc->index].process = 12;
    ck_assert_int_eq(say(b, v.svc, &service, 1), -EACCES);
    ck_assert_int_eq(open_at(b, 0, B, 10, &w), -EAGAIN); /* until they are */
    bench_run(b, CW_MS(200));
    ck_assert_int_eq(open_at(b, 0, B, 10, &w), 0);
    b->node[0]->nmu.tables.access.entry[v.svc->index].process = 12;
    w.desk->close(w.svc); /* which finds it */
    ck_assert_int_eq(open_at(b, 0, B, 10, &w), -EAGAIN);
    bench_run(b, CW_MS(200));
    b->node[0]->nmu.tables.access.entry[v.svc->index].process = 12;
    ck_assert_int_eq(open_at(b, 0, B, 10, &w), -EAGAIN); /* found while it comes */
    bench_run(b, CW_MS(200));
    ck_assert_int_eq(say(b, v.svc, &service, 1), 0);
    ck_assert_uint_eq(b->node[0]->nmu.tables.access.entry[v.svc->index].generation, 3);
    bench_close(b);
}
END_TEST

/* ---- Waiting ----------------------------------------------------------------------------------------------------- */

START_TEST(it_waits_among_others)
{
    struct bench *b = hosting();
    struct visitor v, w;
    struct node *n = b->node[0];
    ck_assert_int_eq(open_at(b, 0, A, 10, &v), 0);
    ck_assert_int_eq(open_at(b, 0, B, 10, &w), 0);
    cw_to service = to_server(b, 1);
    ck_assert_uint_eq(fill(b, v.svc, &service, 100), GUEST_PACKETS);
    ck_assert(n->turns.packets == GUEST_PACKETS && v.svc->guest->queued == GUEST_PACKETS);
    ck_assert_uint_eq(place_packets(n, &bench_svc(b, 0)->main), 0);
    ck_assert_int_eq(say(b, w.svc, &service, 100), 0); /* another has room, and a service has */
    ck_assert_int_eq(say(b, bench_svc(b, 0), &service, 100), 0);
    v.desk->close(v.svc);
    ck_assert_uint_eq(n->turns.packets, 1);
    ck_assert_uint_eq(node_drops(n, CW_DROP_CLOSED), GUEST_PACKETS);
    ck_assert_int_eq(open_at(b, 0, A, 10, &v), 0);
    ck_assert_uint_eq(v.svc->guest->queued, 0);
    ck_assert_uint_eq(fill(b, v.svc, &service, 100), GUEST_PACKETS);
    pump(b);
    ck_assert_uint_ge(v.writable, 1);
    ck_assert_uint_eq(w.writable, 0);
    ck_assert_uint_eq(bench_notes(b, 1, NOTE_PACKET, NULL), GUEST_PACKETS + 2);
    ck_assert(n->turns.packets == 0 && v.svc->guest->queued == 0 && v.svc->guest->queued_bytes == 0);
    bench_close(b);
}
END_TEST

/* More than the turns take: whoever was refused is told, though none of its packets waits. */
START_TEST(all_who_were_refused_are_told)
{
    struct bench *b = hosting();
    static struct visitor v[LIMIT];
    struct node *n = b->node[1];
    unsigned sent = 0, none = 0;
    job[1].ranges = 0;
    for (unsigned i = 0; i < 3; i++) {
        job[1].range[job[1].ranges++] = (struct job_range){11 + i, 1, 1};
    }
    put(b, &job[1]);
    n->turns.packets_max = 90;
    cw_to there = to_server(b, 0);
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_int_eq(open_at(b, 1, A, 11 + i, &v[i]), 0);
        unsigned filled = fill(b, v[i].svc, &there, 50);
        sent += filled;
        none += filled == 0;
    }
    ck_assert(sent == 60 && none >= 1 && n->turns.packets == 60);
    pump(b);
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_uint_ge(v[i].writable, 1);
    }
    ck_assert_uint_eq(bench_notes(b, 0, NOTE_PACKET, NULL), sent);
    /* To ourselves. */
    cw_to self = to_process(b, 1, A, 11);
    unsigned before = v[1].writable, local = fill(b, v[1].svc, &self, 1);
    ck_assert_uint_eq(local, GUEST_PACKETS);
    v[1].desk->close(v[1].svc); /* what it has sent comes all the same */
    pump(b);
    ck_assert_uint_eq(v[0].packets, local);
    ck_assert_uint_eq(v[1].writable, before);
    bench_close(b);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(who_may_be_here),
    SUITE_TEST(where_none_are_taken_there_is_no_desk),
    SUITE_TEST(what_only_services_have),
    SUITE_TEST(each_speaks_in_its_own_name),
    SUITE_TEST(asked_and_answered),
    SUITE_TEST(who_is_not_here_is_refused),
    SUITE_TEST(keys_go_to_one_who_serves_them),
    SUITE_TEST(who_goes_leaves_nothing),
    SUITE_TEST(gone_in_its_own_upcalls),
    SUITE_TEST(a_host_takes_its_guests_along),
    SUITE_TEST(judged_by_its_own_grants),
    SUITE_TEST(a_record_ends_it),
    SUITE_TEST(tables_that_are_written_anew_know_it),
    SUITE_TEST(it_waits_among_others),
    SUITE_TEST(all_who_were_refused_are_told),
};
SUITE_MAIN("node_guests", tests)
