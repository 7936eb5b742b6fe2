/* SPDX-License-Identifier: Apache-2.0 */
#include "jobs.h"
#include "node_bench.h"
#include "suite.h"
#include "wire/frame.h"

#include <errno.h>

enum { OTHER = 2000 };

/* Two servers on a cable; who may send what is what the test puts. */
static struct bench *lawless(void)
{
    struct bench *b = bench_open((cw_dims){1, 1, 2});
    b->records = (struct nmu_source){NULL, NULL};
    bench_start_all(b);
    bench_settle(b);
    return b;
}

static struct plain_job plain(cw_job job, uint64_t version)
{
    return (struct plain_job){.job = job, .version = version, .generation = 1, .ranges = 1, .range = {{0, 2, 0}}};
}

static int put(struct bench *b, cw_server s, const struct plain_job *job)
{
    static uint8_t bytes[JOBS_BYTES];
    return node_job_put(b->node[s], bytes, plain_write(job, bytes, sizeof bytes));
}

START_TEST(without_a_record_nothing_is_allowed)
{
    struct bench *b = lawless();
    cw_to to = to_server(b, 1), key = to_route(0), link = to;
    link.kind = CW_TO_LINK;
    link.link = CW_LINK_ZP;
    uint32_t out = pkt_home_out(b->home);
    ck_assert_int_eq(send_text(b, 0, "x", &to, NULL), -EACCES);
    ck_assert_int_eq(send_text(b, 0, "x", &key, NULL), -EACCES);
    ck_assert_int_eq(send_text(b, 0, "x", &link, NULL), -EACCES);
    ck_assert_uint_eq(pkt_home_out(b->home), out);
    cw_packet *p = packet_of(b, 0, "x", 0);
    ck_assert_int_eq(cw_packet_address(bench_svc(b, 0), p, &to, NULL), -EACCES);
    ck_assert_int_eq(cw_call(bench_svc(b, 0), p, &to, NULL, probe_reply, NULL), -EACCES);
    cw_send_or_drop(bench_svc(b, 0), p, &to, NULL);
    ck_assert_uint_eq(node_drops(b->node[0], CW_DROP_DENIED), 1);
    ck_assert_uint_eq(b->watched[NODE_QUEUED], 0);
    const struct denied *denied = &node_nmu(b->node[0])->denied;
    ck_assert_uint_eq(denied->total, 6);
    uint32_t from = 0;
    uint64_t times = 0;
    for (const struct denied_row *row; (row = denied_next(denied, &from)) != NULL; times += row->times) {
        ck_assert(row->source_job == PROBE_JOB && row->source_process == 0 && row->job == PROBE_JOB && row->port == 7);
        ck_assert(row->key ? row->times == 1 : row->times == 5 && row->process == 1);
    }
    ck_assert_uint_eq(times, 6);
    bench_close(b);
}
END_TEST

START_TEST(a_record_allows_what_it_names)
{
    struct bench *b = lawless();
    struct plain_job job = plain(PROBE_JOB, 1);
    cw_to to = to_server(b, 1), back = to_server(b, 0), other = to_server(b, 1), key = to_route(0);
    job.grants = 1;
    job.grant[0] = (struct plain_grant){.job = PROBE_JOB, .spans = 1, .span = {{1, 1}}, .ports = 1, .port = {7}};
    ck_assert_int_eq(put(b, 0, &job), 1);
    ck_assert_int_eq(put(b, 0, &job), 0);
    other.port = 8;
    ck_assert_int_eq(send_text(b, 0, "x", &to, NULL), 0);
    ck_assert_int_eq(send_text(b, 0, "x", &other, NULL), -EACCES);
    ck_assert_int_eq(send_text(b, 0, "x", &back, NULL), -EACCES); /* itself */
    ck_assert_int_eq(send_text(b, 0, "x", &key, NULL), -EACCES);  /* not all processes */
    ck_assert_int_eq(send_text(b, 1, "x", &back, NULL), -EACCES); /* there it is not known */
    to.server = back.server;
    ck_assert_int_eq(send_text(b, 0, "x", &to, NULL), -EINVAL); /* process 1 does not live on server 0 */
    bench_run(b, CW_MS(1));
    const struct note *note;
    ck_assert_uint_eq(bench_notes(b, 1, NOTE_PACKET, &note), 1);
    ck_assert(note->rx.src_job == PROBE_JOB && note->rx.src_process == 0);
    job.version = 2;
    job.grants = 0;
    to = to_server(b, 1);
    ck_assert_int_eq(put(b, 0, &job), 1);
    ck_assert_int_eq(send_text(b, 0, "x", &to, NULL), -EACCES);
    job.version = 1;
    ck_assert_int_eq(put(b, 0, &job), -ESTALE);
    ck_assert_int_eq(node_job_put(b->node[0], (const uint8_t *)"none", 4), -EBADMSG);
    bench_close(b);
}
END_TEST

/* Unknown jobs are forbidden first; who may send to one that is not here learns that. */
START_TEST(who_may_not_learns_nothing)
{
    struct bench *b = lawless();
    struct plain_job job = plain(PROBE_JOB, 1), other = plain(OTHER, 1);
    cw_to to = to_server(b, 1);
    to.job = OTHER;
    ck_assert_int_eq(send_text(b, 0, "x", &to, NULL), -EACCES);
    job.grants = 1;
    job.grant[0] = (struct plain_grant){.job = OTHER, .all_processes = true, .all_ports = true};
    ck_assert_int_eq(put(b, 0, &other), 0); /* nobody needs it yet */
    ck_assert_int_eq(put(b, 0, &job), 1);
    ck_assert_int_eq(send_text(b, 0, "x", &to, NULL), -EACCES);
    ck_assert_int_eq(put(b, 0, &other), 1);
    ck_assert_int_eq(send_text(b, 0, "x", &to, NULL), -ENOENT);
    bench_close(b);
}
END_TEST

/* ---- The desk ---------------------------------------------------------------------------------------------------- */

static struct {
    struct book *book;
    const struct nmu_desk *desk;
    const void *thing, *none, *older;
    cw_svc *peer;
    int open_sends;
} seen;
static int thing;

static int clerk_open(cw_svc *s, void *state)
{
    (void)state;
    seen.peer = s;
    seen.desk = cw_find(s, NMU_DESK_NAME, NMU_DESK_VERSION, &seen.peer);
    seen.thing = cw_find(s, "thing", 3, NULL);
    seen.older = cw_find(s, "thing", 2, NULL);
    seen.none = cw_find(s, "nothing", 3, NULL);
    cw_packet *p = cw_packet_new(s, 4);
    cw_to to = {.kind = CW_TO_SERVER, .job = cw_job_of(s), .server = cw_self(s)};
    to.process = cw_server_id(s, to.server);
    seen.open_sends = cw_send(s, p, &to, NULL);
    if (seen.open_sends < 0) {
        cw_packet_free(s, p);
    }
    return 0;
}

static cw_verdict clerk_packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    (void)s;
    (void)state;
    (void)p;
    (void)rx;
    return CW_DROP;
}

static cw_service clerk_table(cw_job job)
{
    cw_service t = {CW_SERVICE_INIT, .name = "clerk", .version = "1", .job = job};
    t.open = clerk_open;
    t.on_packet = clerk_packet;
    return t;
}

static struct node *alone(struct bench *b, const struct node_object *objects, struct nmu_source records)
{
    struct node *n;
    struct node_env env = {.packets = b->home, .neighbours = b->neighbours, .objects = objects, .records = records};
    b->config.incarnation = 1;
    b->config.alone = true;
    ck_assert_int_eq(node_open(&n, &b->config, &env), 0);
    return n;
}

START_TEST(built_in_services_find_what_the_host_offers)
{
    const struct node_object objects[] = {{"thing", 3, &thing}, {NULL, 0, NULL}};
    struct bench *b = bench_open((cw_dims){1, 1, 1});
    struct node *n = alone(b, objects, (struct nmu_source){NULL, NULL});
    cw_service t = clerk_table(1023);
    ck_assert_int_eq(node_service_add(n, &t, b->now), 0);
    ck_assert_ptr_eq(seen.thing, &thing);
    ck_assert_ptr_null(seen.peer);
    ck_assert_ptr_null(seen.none);
    ck_assert_ptr_null(seen.older);
    ck_assert_ptr_nonnull(seen.desk);
    ck_assert_int_eq(seen.open_sends, -EACCES);
    ck_assert_ptr_eq(seen.desk->nmu(seen.desk->node), node_nmu(n));
    ck_assert(seen.desk->in_reach(seen.desk->node, 0)); /* itself */
    ck_assert(!seen.desk->in_reach(seen.desk->node, 1));
    ck_assert(seen.desk->serving(seen.desk->node));
    ck_assert_int_eq(node_service_remove(n, 1023, b->now), 0);
    /* A service that is loaded does not; one whose exports would be taken for an object does not load. */
    t = clerk_table(1024);
    ck_assert_int_eq(node_service_add(n, &t, b->now), 0);
    ck_assert_ptr_null(seen.thing);
    ck_assert_ptr_null(seen.desk);
    t = clerk_table(1025);
    t.name = "thing";
    t.exports = &thing;
    t.exports_version = 3;
    ck_assert_int_eq(node_service_add(n, &t, b->now), -EEXIST);
    t.exports_version = 4;
    ck_assert_int_eq(node_service_add(n, &t, b->now), 0);
    t.name = NMU_DESK_NAME;
    t.job = 1026;
    t.exports_version = NMU_DESK_VERSION;
    ck_assert_int_eq(node_service_add(n, &t, b->now), -EEXIST);
    node_close(n, b->now);
    bench_close(b);
}
END_TEST

/*
 * Before a service can say a word its record has been looked for: first where the service that has records says, then
 * at the host's.
 */
START_TEST(records_are_there_before_who_speaks)
{
    struct bench *b = bench_open((cw_dims){1, 1, 1});
    struct node *n = alone(b, NULL, b->records);
    bench_allow(b, 5, 5);
    bench_allow(b, 5, 6);
    cw_service t = clerk_table(5);
    ck_assert_int_eq(node_service_add(n, &t, b->now), 0);
    ck_assert_int_eq(seen.open_sends, 0);
    ck_assert_uint_eq(nmu_job(node_nmu(n), 5)->version, 1);
    ck_assert_ptr_nonnull(nmu_job(node_nmu(n), 6)); /* is reachable, so that its record is needed, and was found */
    ck_assert_uint_eq(nmu_job(node_nmu(n), 6)->version, 1);
    ck_assert_int_eq(node_service_remove(n, 5, b->now), 0);
    ck_assert_ptr_null(nmu_job(node_nmu(n), 5));
    ck_assert_ptr_null(nmu_job(node_nmu(n), 6));
    node_close(n, b->now);
    bench_close(b);
}
END_TEST

static uint8_t newer[JOBS_BYTES];
static size_t newer_size;
static const uint8_t *newer_record(void *context, cw_job job, size_t *size)
{
    (void)context;
    *size = newer_size;
    return job == 5 || job == 9 ? newer : NULL;
}

START_TEST(a_service_may_be_the_source)
{
    struct bench *b = bench_open((cw_dims){1, 1, 1});
    struct node *n = alone(b, NULL, b->records);
    cw_service t = clerk_table(4);
    cw_job missing[2] = {0, 0};
    bench_allow(b, 5, 5);
    ck_assert_int_eq(node_service_add(n, &t, b->now), 0);
    const struct nmu_desk *desk = seen.desk;
    ck_assert_uint_eq(desk->missing(desk->node, missing, 2), 1); /* its own: it is in nobody's book */
    ck_assert_uint_eq(missing[0], 4);
    ck_assert_uint_eq(desk->missing(desk->node, NULL, 0), 1);
    /* Version 3 of job 5 has no grants any more. */
    struct plain_job job = plain(5, 3);
    job.range[0].count = 1;
    newer_size = plain_write(&job, newer, sizeof newer);
    const struct nmu_source source = {NULL, newer_record};
    desk->source(desk->node, &source);
    t = clerk_table(5);
    t.name = "five";
    ck_assert_int_eq(node_service_add(n, &t, b->now), 0);
    ck_assert_int_eq(seen.open_sends, -EACCES);
    ck_assert_uint_eq(nmu_job(desk->nmu(desk->node), 5)->version, 3);
    /* Dropped, an older one may follow. */
    desk->drop(desk->node, 5);
    ck_assert_uint_eq(nmu_job(desk->nmu(desk->node), 5)->version, 0);
    ck_assert_int_eq(desk->put(desk->node, newer, newer_size), 1);
    /* What a source gives for another job than it was asked for is not taken. */
    t = clerk_table(9);
    t.name = "nine";
    ck_assert_int_eq(node_service_add(n, &t, b->now), 0);
    ck_assert_uint_eq(nmu_job(desk->nmu(desk->node), 9)->version, 0);
    job.job = 4;
    newer_size = plain_write(&job, newer, sizeof newer);
    ck_assert_int_eq(desk->put(desk->node, newer, newer_size), 1);
    desk->source(desk->node, NULL);
    ck_assert_uint_eq(desk->missing(desk->node, missing, 2), 1);
    ck_assert_uint_eq(missing[0], 9);
    node_close(n, b->now);
    bench_close(b);
}
END_TEST

/*
 * The record that the service has does not fit: the one that the node was started with, which granted more, does not
 * come back.
 */
START_TEST(what_does_not_fit_gives_no_older_one_its_place)
{
    struct bench *b = bench_open((cw_dims){1, 1, 1});
    b->config.nmu_grants = 2;
    struct node *n = alone(b, NULL, b->records);
    bench_allow(b, 5, 5);
    cw_service t = clerk_table(4);
    ck_assert_int_eq(node_service_add(n, &t, b->now), 0);
    const struct nmu_desk *desk = seen.desk;
    struct plain_job job = plain(5, 3);
    job.range[0].count = 1;
    job.grants = 1;
    job.grant[0] = (struct plain_grant){.job = 5, .all_processes = true, .ports = 3, .port = {1, 2, 3}};
    newer_size = plain_write(&job, newer, sizeof newer);
    const struct nmu_source source = {NULL, newer_record};
    desk->source(desk->node, &source);
    t = clerk_table(5);
    t.name = "five";
    ck_assert_int_eq(node_service_add(n, &t, b->now), 0);
    ck_assert_int_eq(seen.open_sends, -EACCES);
    ck_assert_uint_eq(nmu_job(desk->nmu(desk->node), 5)->version, 0);
    desk->source(desk->node, NULL); /* now nobody knows better */
    ck_assert_uint_eq(nmu_job(desk->nmu(desk->node), 5)->version, 1);
    node_close(n, b->now);
    bench_close(b);
}
END_TEST

/* ---- Privileges that end ----------------------------------------------------------------------------------------- */

static struct plain_job free_job(uint64_t version)
{
    struct plain_job job = plain(PROBE_JOB, version);
    job.grants = 1;
    job.grant[0] = (struct plain_grant){.job = PROBE_JOB, .all_processes = true, .all_ports = true};
    return job;
}

/* An attempt that comes after the privilege has gone is not made: the call ends. */
START_TEST(a_retry_is_asked_for_anew)
{
    struct bench *b = lawless();
    struct plain_job job = free_job(1);
    cw_to to = to_server(b, 1);
    const cw_call_options options = {CW_CALL_INIT, .timeout = CW_MS(10), .retries = 5};
    ck_assert_int_eq(put(b, 0, &job), 1);
    ck_assert_int_gt(cw_call(bench_svc(b, 0), packet_of(b, 0, "?", 0), &to, &options, probe_reply, NULL), 0);
    bench_run(b, CW_MS(15)); /* two attempts */
    job = plain(PROBE_JOB, 2);
    ck_assert_int_eq(put(b, 0, &job), 1);
    bench_run(b, CW_MS(100));
    const struct note *note;
    ck_assert_uint_eq(bench_notes(b, 1, NOTE_PACKET, NULL), 2);
    ck_assert_uint_eq(bench_notes(b, 0, NOTE_REPLY, &note), 1);
    ck_assert_int_eq(note->status, -EACCES);
    bench_close(b);
}
END_TEST

static cw_packet *addressed;
static cw_packet *give_addressed(cw_svc *s, cw_link link)
{
    (void)s;
    (void)link;
    cw_packet *p = addressed;
    addressed = NULL;
    return p;
}

START_TEST(a_packet_addressed_earlier_is_asked_for_anew)
{
    struct bench *b = bench_open((cw_dims){1, 1, 2});
    b->records = (struct nmu_source){NULL, NULL};
    b->hooks.next_packet = give_addressed;
    bench_start_all(b);
    bench_settle(b);
    struct plain_job job = free_job(1);
    cw_to to = to_server(b, 1);
    ck_assert_int_eq(put(b, 0, &job), 1);
    for (unsigned revoked = 0; revoked < 2; revoked++) {
        addressed = packet_of(b, 0, "x", 0);
        ck_assert_int_eq(cw_packet_address(bench_svc(b, 0), addressed, &to, NULL), 0);
        if (revoked) {
            job = plain(PROBE_JOB, 2);
            ck_assert_int_eq(put(b, 0, &job), 1);
        }
        cw_poll_links(bench_svc(b, 0), CW_PLACE_MAIN, CW_LINKS_ALL);
        bench_kick(b, 0);
        bench_run(b, CW_MS(1));
        ck_assert_ptr_null(addressed);
        ck_assert_uint_eq(node_drops(b->node[0], CW_DROP_DENIED), revoked);
        ck_assert_uint_eq(bench_notes(b, 1, NOTE_PACKET, NULL), 1);
    }
    bench_close(b);
}
END_TEST

static uint32_t right;
static cw_verdict keep_right(cw_svc *s, cw_packet *p, const cw_rx *rx)
{
    (void)s;
    (void)p;
    right = rx->call;
    return CW_DROP;
}

/* Answers need no privilege; those of a job that is destroyed meanwhile are none. */
START_TEST(rights_to_answer_end_with_their_job)
{
    struct bench *b = lawless();
    struct plain_job job = free_job(1), gone = plain(PROBE_JOB, 1);
    cw_to to = to_server(b, 1);
    b->hooks.on_packet = keep_right;
    ck_assert_int_eq(put(b, 0, &job), 1);
    for (unsigned destroyed = 0; destroyed < 2; destroyed++) {
        ck_assert_int_gt(cw_call(bench_svc(b, 0), packet_of(b, 0, "?", 0), &to, NULL, probe_reply, NULL), 0);
        bench_kick(b, 0);
        bench_run(b, CW_MS(1));
        ck_assert_uint_ne(right, 0);
        gone.destroyed = destroyed;
        ck_assert_int_eq(put(b, 1, &gone), 1);
        gone.version++;
        ck_assert_int_eq(cw_reply(bench_svc(b, 1), right, 0, NULL), destroyed ? -ENOENT : 0);
        bench_kick(b, 1);
    }
    bench_run(b, CW_SEC(2));
    ck_assert_uint_eq(bench_notes(b, 0, NOTE_REPLY, NULL), 2);
    bench_close(b);
}
END_TEST

/* Whoever asked is gone with its server: the right ends there and then, not with its time. */
START_TEST(rights_to_answer_end_with_the_requesters_server)
{
    struct bench *b = lawless();
    struct plain_job job = free_job(1);
    cw_to to = to_server(b, 1);
    b->hooks.on_packet = keep_right;
    ck_assert_int_eq(put(b, 0, &job), 1);
    const cw_call_options patient = {CW_CALL_INIT, .timeout = CW_SEC(60)};
    ck_assert_int_gt(cw_call(bench_svc(b, 0), packet_of(b, 0, "?", 0), &to, &patient, probe_reply, NULL), 0);
    bench_kick(b, 0);
    bench_run(b, CW_MS(1));
    ck_assert_uint_eq(b->node[1]->nmu.responses.table.taken, 1);
    bench_kill(b, 0, true);
    bench_run(b, CW_SEC(1)); /* it has left the view */
    ck_assert_uint_eq(b->node[1]->nmu.responses.table.taken, 0);
    ck_assert_int_eq(cw_reply(bench_svc(b, 1), right, 0, NULL), -ENOENT);
    bench_close(b);
}
END_TEST

/* ---- Fenced ------------------------------------------------------------------------------------------------------ */

static cw_packet *give_one(cw_svc *s, cw_link link)
{
    cw_to to = {.kind = CW_TO_LINK, .job = PROBE_JOB, .link = link};
    to.process = s->node->env.neighbours[s->node->self * CW_LINK_COUNT + link];
    cw_packet *p = cw_packet_new(s, 4);
    if (cw_packet_address(s, p, &to, NULL) < 0) {
        cw_packet_free(s, p);
        return NULL;
    }
    return p;
}

/* Data packets among what the node gives for all its links now. */
static unsigned data_out(struct bench *b, cw_server s)
{
    unsigned data = 0;
    for (unsigned i = 0; i < 20 * CW_LINK_COUNT; i++) {
        struct cw_packet *frame = node_tx_pull(b->node[s], (cw_link)(i % CW_LINK_COUNT), b->now);
        struct frame_head head;
        struct frame_walk walk;
        struct frame_slice slice;
        if (frame != NULL) {
            ck_assert_int_eq(frame_decode(frame->data, (size_t)frame->length + frame->pad, &head, &walk), WIRE_OK);
            while (frame_next(frame->data, &walk, &slice)) {
                data += packet_kind_of(frame->data + slice.at) != PACKET_CONTROL;
            }
            pkt_release(frame);
        }
    }
    return data;
}

/* With packets of every kind queued: once the lease is over, whatever entry comes first, nothing of any job leaves. */
START_TEST(a_fenced_server_lets_nothing_in)
{
    for (unsigned late = 0; late < 2; late++) {
        struct bench *b = bench_open((cw_dims){1, 1, 4});
        b->hooks.next_packet = give_one;
        bench_start_all(b);
        bench_settle(b);
        cw_svc *s = bench_svc(b, 0);
        cw_to to = to_server(b, 2), link = to_server(b, 1);
        link.kind = CW_TO_LINK;
        link.link = CW_LINK_ZP;
        for (unsigned i = 0; i < 8; i++) {
            cw_to key = to_route(UINT64_MAX / 4 * (i % 4) + i);
            cw_send_or_drop(s, packet_of(b, 0, "server", 0), &to, NULL);
            cw_send_or_drop(s, packet_of(b, 0, "link", 0), &link, NULL);
            cw_send_or_drop(s, packet_of(b, 0, "key", 0), &key, NULL);
        }
        cw_poll_links(s, CW_PLACE_MAIN, CW_LINKS_ALL);
        if (late == 0) {
            ck_assert_uint_gt(data_out(b, 0), 20); /* so it would have been */
        } else {
            b->now =
                cw_time_add(b->now, CW_MS(100)); /* nobody has heard of it, nor it of anybody, for longer than `dead` */
            ck_assert_uint_eq(data_out(b, 0), 0);
            ck_assert(!ls_serving(b->node[0]->ls, b->now));
            cw_packet *p = packet_of(b, 0, "late", 0);
            ck_assert_int_eq(cw_send(bench_svc(b, 0), p, &to, NULL), -ENETUNREACH);
            ck_assert_int_eq(cw_send(bench_svc(b, 0), p, &link, NULL), -ENETUNREACH);
            cw_packet_free(bench_svc(b, 0), p);
            ck_assert_uint_eq(data_out(b, 0), 0);
        }
        bench_close(b);
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(without_a_record_nothing_is_allowed),
    SUITE_TEST(a_record_allows_what_it_names),
    SUITE_TEST(who_may_not_learns_nothing),
    SUITE_TEST(built_in_services_find_what_the_host_offers),
    SUITE_TEST(records_are_there_before_who_speaks),
    SUITE_TEST(a_service_may_be_the_source),
    SUITE_TEST(what_does_not_fit_gives_no_older_one_its_place),
    SUITE_TEST(a_retry_is_asked_for_anew),
    SUITE_TEST(a_packet_addressed_earlier_is_asked_for_anew),
    SUITE_TEST(rights_to_answer_end_with_their_job),
    SUITE_TEST(rights_to_answer_end_with_the_requesters_server),
    SUITE_TEST(a_fenced_server_lets_nothing_in),
};
SUITE_MAIN("node_nmu", tests)
