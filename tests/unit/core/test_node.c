/* SPDX-License-Identifier: Apache-2.0 */
#include "node_bench.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

/* The linker sends the node's allocations here: the one that is due fails. */
static unsigned fail_in;
void *__real_calloc(size_t count, size_t size);
void *__real_malloc(size_t size);
void *__real_aligned_alloc(size_t align, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size);

static bool fails(void)
{
    return fail_in > 0 && --fail_in == 0;
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_aligned_alloc(size_t align, size_t size)
{
    return fails() ? NULL : __real_aligned_alloc(align, size);
}

static void reply(cw_svc *s, void *state, void *arg, int status, cw_packet *p, const cw_rx *rx)
{
    (void)s;
    (void)state;
    (void)arg;
    (void)p;
    (void)rx;
    ck_assert_int_eq(status, -ECANCELED);
}

static cw_verdict drop(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    (void)s;
    (void)state;
    (void)p;
    (void)rx;
    return CW_DROP;
}

/* Everything of a service that allocates. */
static void use(cw_svc *s)
{
    cw_to to = {.kind = CW_TO_SERVER, .job = 5};
    cw_timer_stop(s, cw_timer_start(s, CW_MS(1), probe_timer, NULL));
    cw_packet *p = cw_packet_new(s, 4);
    if (p != NULL && cw_call(s, p, &to, NULL, reply, NULL) < 0) {
        cw_packet_free(s, p);
    }
}

/*
 * A node is opened, given a service that is used, and closed, with each allocation failing in turn. (No assertion
 * meanwhile: Check allocates.)
 */
START_TEST(every_allocation_may_fail)
{
    struct bench *b = bench_open((cw_dims){1, 1, 2});
    struct node_env env = {
        .packets = b->home, .neighbours = b->neighbours, .seed = 1, .records = {b->book, book_record}};
    const cw_service service = {CW_SERVICE_INIT, .name = "s", .job = 5, .on_packet = drop, .state_size = 100};
    bench_allow(b, 5, 5);
    b->config.incarnation = 1;
    b->config.alone = true;
    unsigned opened = 0, added = 0, nth = 0;
    for (bool failed = true; failed; nth++) {
        struct node *n = NULL;
        fail_in = nth + 1;
        int open = node_open(&n, &b->config, &env);
        int add = open == 0 ? node_service_add(n, &service, b->now) : -ENOMEM;
        if (add == 0) {
            use(node_service_of(n, 5));
        }
        failed = fail_in == 0;
        fail_in = 0;
        ck_assert(open == 0 || (open == -ENOMEM && n == NULL));
        ck_assert(add == 0 || add == -ENOMEM);
        if (open == 0) {
            ck_assert((node_service_of(n, 5) != NULL) == (add == 0));
            node_close(n, b->now);
        }
        opened += open == 0;
        added += add == 0;
    }
    ck_assert_uint_gt(nth, 10);
    ck_assert(nth > opened && opened > added && added > 1);
    bench_close(b);
}
END_TEST

START_TEST(config_is_checked)
{
    struct bench *b = bench_open((cw_dims){2, 2, 2});
    struct node_env env = {.packets = b->home, .neighbours = b->neighbours, .seed = 1};
    struct node_config good = b->config;
    good.incarnation = 1;
    for (unsigned bad = 0; bad < 13; bad++) {
        struct node *n = NULL;
        struct node_config config = good;
        switch (bad) {
        case 0:
            config.dims.x = 0;
            break;
        case 1:
            config.self.z = 2;
            break;
        case 2:
            config.mtu = 1499;
            break;
        case 3:
            config.mtu = 9001;
            break;
        case 4:
            config.hop_limit = 0;
            break;
        case 5:
            config.incarnation = 0;
            break;
        case 6:
            config.timers.hold = config.timers.dead;
            break;
        case 7:
            config.queue_bytes = config.mtu - 1u; /* a full packet would be refused for ever */
            break;
        case 9:
            config.nmu_jobs = 62; /* services alone are 63 */
            break;
        case 10:
            config.nmu_jobs = 32768;
            break;
        case 11:
            config.nmu_grants = 0;
            break;
        case 12:
            config.nmu_grants = (1 << 20) + 1;
            break;
        default:
            config.hop_limit = 2;
            break;
        }
        ck_assert_int_eq(node_open(&n, &config, &env), bad == 8 ? -ERANGE : -EINVAL);
        ck_assert_ptr_null(n);
    }
    bench_close(b);
}
END_TEST

START_TEST(alone_it_serves_itself)
{
    struct bench *b = bench_open((cw_dims){1, 1, 1});
    b->config.alone = true;
    bench_start(b, 0);
    bench_settle(b);
    cw_to to = to_server(b, 0);
    ck_assert_int_eq(send_text(b, 0, "me", &to, NULL), 0);
    to = to_route(12345);
    ck_assert_int_eq(send_text(b, 0, "key", &to, NULL), 0);
    bench_run(b, CW_MS(1));
    ck_assert_uint_eq(bench_notes(b, 0, NOTE_PACKET, NULL), 2);
    ck_assert_uint_eq(node_self(b->node[0]), 0);
    bench_close(b);
}
END_TEST

START_TEST(two_meet_and_talk)
{
    struct bench *b = bench_open((cw_dims){1, 1, 2});
    bench_start_all(b);
    bench_settle(b);
    bench_forget_notes(b);
    cw_to to = to_server(b, 1);
    ck_assert_int_eq(send_text(b, 0, "hello", &to, NULL), 0);
    bench_run(b, CW_MS(1));
    const struct note *note = NULL;
    ck_assert_uint_eq(bench_notes(b, 1, NOTE_PACKET, &note), 1);
    ck_assert_uint_eq(note->length, 5);
    ck_assert_int_eq(memcmp(note->first, "hello", 5), 0);
    ck_assert_uint_eq(note->rx.hops, 1);
    ck_assert_uint_eq(note->rx.where, CW_ARRIVED);
    ck_assert_uint_eq(note->rx.kind, CW_TO_SERVER);
    ck_assert_uint_eq(note->rx.src_process, 0);
    ck_assert_uint_eq(note->rx.src_job, PROBE_JOB);
    ck_assert_uint_eq(note->rx.port, 7);
    ck_assert_uint_eq(note->rx.call, 0);
    ck_assert(note->rx.in == CW_LINK_ZP || note->rx.in == CW_LINK_ZM);
    bench_close(b);
}
END_TEST

/* Closing with packets in every place there is: all come home, each counted. */
START_TEST(closing_drops_what_is_inside)
{
    struct bench *b = bench_open((cw_dims){3, 3, 3});
    bench_start_all(b);
    bench_settle(b);
    cw_to to = to_server(b, 13), self = to_server(b, 0);
    for (unsigned i = 0; i < 100; i++) {
        ck_assert_int_eq(cw_send(bench_svc(b, 0), packet_of(b, 0, "x", 1000), &to, NULL), 0);
        ck_assert_int_eq(cw_send(bench_svc(b, 0), packet_of(b, 0, "y", 0), &self, NULL), 0);
    }
    ck_assert_uint_eq(node_packets_inside(b->node[0]), 200);
    bench_kill(b, 0, true);
    ck_assert_uint_eq(b->dropped[CW_DROP_CLOSED], 200);
    bench_close(b);
}
END_TEST

/* A service that sends as it closes: the packet goes nowhere, and was made all the same. */
static void last_words(cw_svc *s, void *state)
{
    (void)state;
    const cw_to to = {.kind = CW_TO_SERVER, .job = 5};
    cw_send_or_drop(s, cw_packet_new(s, 4), &to, NULL);
}

START_TEST(what_is_made_while_it_closes_is_counted)
{
    struct bench *b = bench_open((cw_dims){1, 1, 2});
    const cw_service service = {CW_SERVICE_INIT, .name = "s", .job = 5, .on_packet = drop, .close = last_words};
    bench_start_all(b);
    bench_settle(b);
    ck_assert_int_eq(node_service_add(b->node[0], &service, b->now), 0);
    struct node_tally before = node_tally(b->node[0]);
    uint64_t closed = b->dropped[CW_DROP_CLOSED];
    struct node_tally after = node_close(b->node[0], b->now);
    b->node[0] = NULL;
    ck_assert_uint_eq(b->dropped[CW_DROP_CLOSED], closed + 1);
    ck_assert_uint_eq(after.made, before.made + 1);
    ck_assert_uint_eq(after.delivered, before.delivered);
    bench_close(b);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(every_allocation_may_fail),    SUITE_TEST(config_is_checked),
    SUITE_TEST(alone_it_serves_itself),       SUITE_TEST(two_meet_and_talk),
    SUITE_TEST(closing_drops_what_is_inside), SUITE_TEST(what_is_made_while_it_closes_is_counted),
};
SUITE_MAIN("node", tests)
