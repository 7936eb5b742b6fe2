/* SPDX-License-Identifier: Apache-2.0 */
#include "guest_bench.h"

#include "suite.h"

#include <errno.h>
#include <string.h>

/* ---- Records: all jobs may do everything, unless a test says otherwise ------------------------------------------- */

struct plain_job job[3];
static const cw_job all[] = {PROBE_JOB, A, B};

static const uint8_t *record_of(void *context, cw_job which, size_t *size)
{
    static uint8_t bytes[JOBS_BYTES];
    (void)context;
    for (unsigned i = 0; i < 3; i++) {
        if (job[i].job == which) {
            *size = plain_write(&job[i], bytes, sizeof bytes);
            return bytes;
        }
    }
    return NULL;
}

/* Processes 10.. of A and B live on servers 0.., as process s does of the probe; 20 and 21 of A on server 1, too. */
void draw_jobs(void)
{
    memset(job, 0, sizeof job);
    for (unsigned i = 0; i < 3; i++) {
        job[i] = (struct plain_job){.job = all[i], .version = 1, .generation = 3, .ranges = 1, .grants = 3};
        job[i].range[0] = (struct job_range){i == 0 ? 0 : 10, 3, 0};
        for (unsigned k = 0; k < 3; k++) {
            job[i].grant[k] = (struct plain_grant){.job = all[k], .all_processes = true, .all_ports = true};
        }
    }
    job[1].ranges = 3;
    job[1].range[1] = (struct job_range){20, 1, 1};
    job[1].range[2] = (struct job_range){21, 1, 1};
}

void put(struct bench *b, struct plain_job *changed)
{
    static uint8_t bytes[JOBS_BYTES];
    changed->version++;
    for (cw_server s = 0; s < b->torus.servers; s++) {
        ck_assert_int_ge(node_job_put(b->node[s], bytes, plain_write(changed, bytes, sizeof bytes)), 0);
        bench_kick(b, s);
    }
}

/* ---- Guests that note -------------------------------------------------------------------------------------------- */

static cw_verdict on_packet(cw_svc *svc, void *state, cw_packet *p, const cw_rx *rx)
{
    struct visitor *v = state;
    ck_assert(svc == v->svc && rx->where == CW_ARRIVED);
    v->packets++;
    v->rx = *rx;
    v->said = v->desk->said(p);
    cw_packet_data(p, &v->length);
    v->right = rx->call;
    if (v->answers && rx->call != 0) {
        ck_assert_int_eq(cw_reply(svc, rx->call, 0, NULL), 0);
    }
    if (v->takes_along != NULL) {
        for (const struct cw_packet *next = svc->node->trying; next != NULL; next = next->next) {
            v->stranded += next->speaker == v->takes_along->svc->index;
        }
        v->desk->close(v->takes_along->svc);
        v->takes_along->svc = NULL;
        v->takes_along = NULL;
    }
    if (v->closes) {
        v->desk->close(svc);
        v->desk->close(svc);
        memset(cw_packet_data(p, NULL), 'x', v->length); /* lent until this returns, all the same */
    }
    return v->keeps ? CW_TAKE : v->closes ? CW_FORWARD : CW_DROP;
}

static void on_writable(cw_svc *svc, void *state)
{
    struct visitor *v = state;
    ck_assert_ptr_eq(svc, v->svc);
    v->writable++;
}

static void on_end(cw_svc *svc, void *state, int why)
{
    struct visitor *v = state;
    v->ends++;
    v->why = why;
    if (v->closes) {
        v->desk->close(svc);
    }
}

static void on_reply(cw_svc *svc, void *state, void *arg, int status, cw_packet *reply, const cw_rx *rx)
{
    struct visitor *v = state;
    ck_assert(svc == v->svc && arg == v && (rx == NULL) == (reply == NULL));
    v->replies++;
    v->status = status;
    if (rx != NULL) {
        v->rx = *rx;
    }
    if (v->closes) {
        v->desk->close(svc);
    }
    if (v->again) {
        cw_to to = {.kind = CW_TO_SERVER, .job = A, .process = 10};
        ck_assert_ptr_null(cw_packet_new(svc, 1));
        ck_assert_int_eq(cw_send(svc, NULL, &to, NULL), -EINVAL);
    }
}

const struct guest_table visiting = {.on_packet = on_packet, .on_writable = on_writable, .on_end = on_end};

int open_at(struct bench *b, cw_server s, cw_job who, cw_process process, struct visitor *v)
{
    cw_svc *host = bench_svc(b, s);
    *v = (struct visitor){.desk = cw_find(host, GUESTS_DESK_NAME, GUESTS_DESK_VERSION, NULL)};
    return v->desk->open(v->desk->node, host, who, process, &visiting, v, &v->svc);
}

struct bench *open_town(cw_dims dims)
{
    struct bench *b = bench_open(dims);
    b->records = (struct nmu_source){NULL, record_of};
    b->config.guests = LIMIT;
    b->config.nmu_jobs = 2 * NODE_SERVICES;
    return b;
}

struct bench *hosting(void)
{
    draw_jobs();
    struct bench *b = open_town((cw_dims){1, 1, 3});
    bench_start_all(b);
    bench_settle(b);
    bench_forget_notes(b);
    return b;
}

cw_to to_process(struct bench *b, cw_server s, cw_job who, cw_process process)
{
    return (cw_to){
        .kind = CW_TO_SERVER, .job = who, .port = PORT, .server = torus_coord(&b->torus, s), .process = process};
}

int say(struct bench *b, cw_svc *svc, const cw_to *to, size_t length)
{
    node_enter(svc->node, b->now);
    cw_packet *p = cw_packet_new(svc, length);
    ck_assert_ptr_nonnull(p);
    int rc = cw_send(svc, p, to, NULL);
    if (rc < 0) {
        cw_packet_free(svc, p);
    }
    return rc;
}

int64_t ask(struct bench *b, struct visitor *v, const cw_to *to, const cw_call_options *options)
{
    node_enter(v->svc->node, b->now);
    cw_packet *p = cw_packet_new(v->svc, 5);
    int64_t rc = cw_call(v->svc, p, to, options, on_reply, v);
    if (rc < 0) {
        cw_packet_free(v->svc, p);
    }
    return rc;
}

void pump(struct bench *b)
{
    for (cw_server s = 0; s < b->torus.servers; s++) {
        bench_kick(b, s);
    }
    bench_run(b, CW_MS(5));
}

unsigned fill(struct bench *b, cw_svc *svc, const cw_to *to, size_t length)
{
    unsigned sent = 0;
    while (say(b, svc, to, length) == 0) {
        sent++;
    }
    return sent;
}
