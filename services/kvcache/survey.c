/* SPDX-License-Identifier: Apache-2.0 */
/*
 * survey.c - one question to the cache of every server in view, for operators. Each server answers once, or is reported
 * as silent.
 */
#include "services/kvcache/survey.h"

#include "services/kvcache/report.h"
#include "services/reply/servers.h"

#include <stdlib.h>

enum { ASKED_MOST = 64, ATTEMPT_MS = 100, RETRIES = 9 };

struct survey {
    struct kvcache *k;
    enum kv_kind kind;
    cw_server next; /* to be asked */
    unsigned calls; /* under way */
    bool inside;    /* go() is at work */
    survey_row_fn row;
    void (*done)(void *arg);
    void *arg;
};

struct survey_call {
    struct survey *survey;
    cw_server server;
};

void survey_take(struct kvcache *k, const struct asker *asker, const struct kv_ask *ask)
{
    uint8_t bytes[SURVEY_BYTES];
    struct kv_answer answer = {.state = KV_DONE, .value = bytes};
    answer.length = ask->kind == KV_ASK_STATS ? report_stats(k, bytes) : report_hot(k, bytes);
    rpc_answer(k, asker, &answer);
}

static void go(struct survey *v);

static void on_reply(cw_svc *s, void *state, void *arg, int status, cw_packet *reply, const cw_rx *rx)
{
    (void)s;
    (void)state;
    (void)rx;
    struct survey_call *call = arg;
    struct survey *v = call->survey;
    struct kv_answer answer;
    size_t size = 0;
    const uint8_t *bytes = status == 0 && reply != NULL ? cw_packet_data(reply, &size) : NULL;
    bool good = bytes != NULL && kv_answer_decode(bytes, size, &answer) && answer.state == KV_DONE;
    v->row(v->arg, call->server, good ? answer.value : NULL, good ? answer.length : 0);
    v->calls--;
    free(call);
    go(v);
}

static void ask_one(struct survey *v, cw_server to_whom)
{
    cw_svc *s = v->k->svc;
    struct kv_ask ask = {.kind = v->kind, .from = v->k->instance};
    ask.r = (struct kv_request){KV_REQUEST_INIT, .op = KV_GET, .job = KVCACHE_JOB};
    struct survey_call *call = malloc(sizeof *call);
    cw_packet *p = call != NULL ? cw_packet_new(s, kv_ask_size(&ask)) : NULL;
    int64_t rc = -1;
    if (p != NULL) {
        kv_ask_encode(&ask, cw_packet_data(p, NULL));
        *call = (struct survey_call){v, to_whom};
        const cw_to to = to_server(s, KVCACHE_JOB, KV_PORT, to_whom);
        const cw_call_options options = {CW_CALL_INIT, .timeout = CW_MS(ATTEMPT_MS), .retries = RETRIES};
        rc = cw_call(s, p, &to, &options, on_reply, call);
    }
    if (rc < 0) {
        cw_packet_free(s, p);
        free(call);
        v->row(v->arg, to_whom, NULL, 0);
        return;
    }
    v->calls++;
}

static void ask_here(struct survey *v)
{
    uint8_t bytes[SURVEY_BYTES];
    size_t length = v->kind == KV_ASK_STATS ? report_stats(v->k, bytes) : report_hot(v->k, bytes);
    v->row(v->arg, v->k->self, bytes, length);
}

static void go(struct survey *v)
{
    struct kvcache *k = v->k;
    if (v->inside) {
        return;
    }
    v->inside = true;
    while (v->next < k->servers && v->calls < ASKED_MOST) {
        cw_server s = v->next++;
        if (s == k->self) {
            ask_here(v);
        } else if (cw_reachable(k->svc, cw_server_coord(k->svc, s))) {
            ask_one(v, s);
        }
    }
    v->inside = false;
    if (v->calls == 0) {
        v->done(v->arg);
        free(v);
    }
}

int survey_begin(struct kvcache *k, enum kv_kind kind, survey_row_fn row, void (*done)(void *arg), void *arg)
{
    struct survey *v = malloc(sizeof *v);
    if (v == NULL) {
        return -1;
    }
    *v = (struct survey){.k = k, .kind = kind, .row = row, .done = done, .arg = arg};
    go(v);
    return 0;
}
