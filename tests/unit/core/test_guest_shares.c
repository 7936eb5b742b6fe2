/* SPDX-License-Identifier: Apache-2.0 */
#include "node_bench.h"
#include "suite.h"

#include <errno.h>

/* On one full link: a job with many attached processes, a job with one, and a service: a third each. */
enum { MANY = 5000, ONE, GUESTS = 101, PAD = 1000, SMALL = 200, SPAN_MS = 200 };

static const uint8_t *record_of(void *context, cw_job which, size_t *size)
{
    static uint8_t bytes[8192];
    const struct job_record head = {.job = which, .version = 1, .generation = 1, .name = "job"};
    struct job_record_writer w;
    (void)context;
    job_record_begin(&w, bytes, sizeof bytes, &head);
    if (which == PROBE_JOB) {
        job_record_put_range(&w, &(struct job_range){0, 2, 0});
    }
    for (cw_process p = 0; which == MANY && p < GUESTS - 1; p++) { /* all of them on server 0 */
        job_record_put_range(&w, &(struct job_range){p, 1, 0});
    }
    if (which == ONE) {
        job_record_put_range(&w, &(struct job_range){7, 1, 0});
    }
    job_record_put_grant(&w, PROBE_JOB, NULL, 0, NULL, 0);
    return job_record_finish(&w, size) == WIRE_OK ? bytes : NULL;
}

static struct bench *b;
static uint64_t bytes[3];
static cw_svc *guest[GUESTS];
static uint64_t of_each[GUESTS];

static cw_verdict count(cw_svc *s, cw_packet *p, const cw_rx *rx)
{
    size_t length;
    (void)s;
    cw_packet_data(p, &length);
    /* As the link's turns count: with the packet's head. */
    uint64_t all = length + cw_packet_pad(p) + PACKET_HEAD_BYTES + (rx->src_job == PROBE_JOB ? 0 : 12);
    bytes[rx->src_job == MANY ? 0 : rx->src_job == ONE ? 1 : 2] += all;
    of_each[rx->src_job == MANY ? rx->src_process : GUESTS - 1] += all;
    return CW_DROP;
}

static void fill(cw_svc *s, size_t pad)
{
    cw_to to = to_server(b, 1);
    for (int rc = 0; rc == 0;) {
        cw_packet *p = cw_packet_new_padded(s, 1, pad);
        rc = cw_send(s, p, &to, NULL);
        if (rc < 0) {
            ck_assert_int_eq(rc, -EAGAIN);
            cw_packet_free(s, p);
        }
    }
}

static cw_verdict nothing(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    (void)s, (void)state, (void)p, (void)rx;
    return CW_DROP;
}

static void more(cw_svc *s, void *state)
{
    (void)state;
    fill(s, cw_job_of(s) == ONE ? SMALL : PAD);
}

static void again(cw_svc *s, void *state, void *arg)
{
    (void)state;
    fill(s, PAD);
    ck_assert_ptr_nonnull(cw_timer_start(s, CW_US(100), again, arg));
}

START_TEST(a_third_each)
{
    static const struct guest_table table = {.on_packet = nothing, .on_writable = more};
    b = bench_open((cw_dims){1, 1, 2});
    b->records = (struct nmu_source){NULL, record_of};
    b->config.guests = GUESTS;
    b->config.nmu_jobs = 2 * NODE_SERVICES;
    b->hooks.on_packet = count;
    bench_start_all(b);
    bench_settle(b);
    bench_cut(b, 0, CW_LINK_ZP, true); /* of two cables between them one is left */
    bench_settle(b);
    cw_svc *host = bench_svc(b, 0);
    const struct guests_desk *desk = cw_find(host, GUESTS_DESK_NAME, GUESTS_DESK_VERSION, NULL);
    for (cw_process p = 0; p < GUESTS; p++) {
        bool one = p == GUESTS - 1;
        ck_assert_int_eq(desk->open(desk->node, host, one ? ONE : MANY, one ? 7 : p, &table, NULL, &guest[p]), 0);
    }
    fill(guest[GUESTS - 1], SMALL);
    for (unsigned i = 0; i < GUESTS; i++) {
        more(guest[i], NULL);
    }
    again(host, NULL, NULL);
    bench_kick(b, 0);
    bench_run(b, CW_MS(20));
    for (unsigned i = 0; i < 3; i++) {
        bytes[i] = 0;
    }
    for (unsigned i = 0; i < GUESTS; i++) {
        of_each[i] = 0;
    }
    bench_run(b, CW_MS(SPAN_MS));
    uint64_t all = bytes[0] + bytes[1] + bytes[2], least = UINT64_MAX, most = 0;
    ck_assert_uint_gt(all, b->bits_per_second / 8 * SPAN_MS / 1000 * 8 / 10);
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_msg(bytes[i] * 100 > all * 98 / 3 && bytes[i] * 100 < all * 102 / 3, "%u: %.4f", i,
                      (double)bytes[i] / (double)all);
    }
    for (unsigned i = 0; i < GUESTS - 1; i++) {
        least = of_each[i] < least ? of_each[i] : least;
        most = of_each[i] > most ? of_each[i] : most;
    }
    printf("of 100 processes of a job the least had %llu bytes, the most %llu\n", (unsigned long long)least,
           (unsigned long long)most);
    ck_assert_uint_gt(least, 0);
    bench_close(b);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(a_third_each)};
SUITE_MAIN("guest_shares", tests)
