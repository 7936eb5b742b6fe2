/* SPDX-License-Identifier: Apache-2.0 */
#include "services/trace/trace.h"

#include "base/bytes.h"
#include "base/quantity.h"
#include "base/words.h"
#include "keyspace/torus.h"
#include "services/reply/refuse.h"
#include "services/reply/servers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 *  0       4      5         6  8      12     16
 *  | magic | kind | reports |0 | call | hops | in a probe: filler; in an answer: reports of 16 bytes; network order
 *
 *  report  0  server x y z   3  in:4 out:4   4  wait:32   8  queued:32   12  0
 */
enum { AT_MAGIC = 0, AT_KIND = 4, AT_REPORTS = 5, AT_CALL = 8, AT_HOPS = 12, TRACE_BYTES = 16, REPORT_BYTES = 16 };
enum { PROBE = 1, ANSWER = 2 };
enum { RUNS_MAX = 8, REPORTS_MAX = 63 };
static const uint32_t magic = 0x43575472; /* "CWTr" */

struct run {
    cw_request *request; /* NULL: free */
    cw_timer *timer;
    cw_time sent;
    uint32_t call;
    bool rows;
    cw_to to;
};

struct trace {
    uint32_t calls;
    struct run run[RUNS_MAX];
};

/* ---- Reports ----------------------------------------------------------------------------------------------------- */

static void put_report(uint8_t *at, const cw_trace_hop *hop)
{
    at[0] = hop->server.x;
    at[1] = hop->server.y;
    at[2] = hop->server.z;
    at[3] = (uint8_t)(hop->in << 4 | hop->out);
    put_be32(at + 4, hop->wait_ns > UINT32_MAX ? UINT32_MAX : (uint32_t)hop->wait_ns);
    put_be32(at + 8, hop->queued);
    put_be32(at + 12, 0);
}

static cw_trace_hop get_report(const uint8_t *at)
{
    return (cw_trace_hop){
        .size = sizeof(cw_trace_hop),
        .server = {at[0], at[1], at[2]},
        .in = at[3] >> 4,
        .out = at[3] & 15,
        .wait_ns = get_be32(at + 4),
        .queued = get_be32(at + 8),
    };
}

static void tell_report(struct run *run, const char *leg, unsigned i, const cw_trace_hop *hop)
{
    if (run->rows) {
        cw_request_row(run->request);
    }
    run->rows = true;
    cw_request_text(run->request, "leg", leg);
    cw_request_int(run->request, "hop", i);
    tell_server(run->request, "server", hop->server);
    cw_request_text(run->request, "in", quantity_link_name(hop->in));
    cw_request_text(run->request, "out", quantity_link_name(hop->out));
    cw_request_int(run->request, "wait_ns", (int64_t)hop->wait_ns);
    cw_request_int(run->request, "queued", hop->queued);
}

/* ---- The far end ------------------------------------------------------------------------------------------------- */

/* Answers with the reports that the probe carries, in a packet that is traced itself. */
static void answer(cw_svc *s, cw_packet *probe, const uint8_t *data, const cw_rx *rx)
{
    uint8_t reports[REPORTS_MAX * REPORT_BYTES];
    cw_trace_hop hop = {.size = sizeof hop};
    unsigned count = 0;
    while (count < REPORTS_MAX && cw_packet_trace(probe, count, &hop) == 0) {
        put_report(reports + count * REPORT_BYTES, &hop);
        count++;
    }
    cw_packet *p = cw_packet_new(s, TRACE_BYTES + (size_t)count * REPORT_BYTES);
    if (p == NULL) {
        return; /* the sender hears nothing, and says so */
    }
    uint8_t *out = cw_packet_data(p, NULL);
    put_be32(out + AT_MAGIC, magic);
    out[AT_KIND] = ANSWER;
    out[AT_REPORTS] = (uint8_t)count;
    put_be32(out + AT_CALL, get_be32(data + AT_CALL));
    put_be32(out + AT_HOPS, rx->hops);
    memcpy(out + TRACE_BYTES, reports, (size_t)count * REPORT_BYTES);
    const cw_to to = {.kind = CW_TO_SERVER, .job = TRACE_JOB, .server = rx->src_server, .process = rx->src_process};
    const cw_send_options options = {CW_SEND_INIT, .trace = true};
    cw_send_or_drop(s, p, &to, &options);
}

/* ---- Our end ----------------------------------------------------------------------------------------------------- */

static void finish(cw_svc *s, struct run *run, int rc)
{
    cw_request *request = run->request;
    cw_timer_stop(s, run->timer);
    *run = (struct run){0};
    cw_request_done(request, rc);
}

static struct run *run_of(struct trace *trace, uint32_t call)
{
    for (unsigned i = 0; i < RUNS_MAX; i++) {
        if (trace->run[i].request != NULL && trace->run[i].call == call) {
            return &trace->run[i];
        }
    }
    return NULL;
}

static void answered(cw_svc *s, struct run *run, cw_packet *p, const uint8_t *data, const cw_rx *rx)
{
    cw_trace_hop hop = {.size = sizeof hop};
    unsigned there = data[AT_REPORTS], back = 0;
    uint32_t hops = get_be32(data + AT_HOPS);
    for (unsigned i = 0; i < there; i++) {
        hop = get_report(data + TRACE_BYTES + (size_t)i * REPORT_BYTES);
        tell_report(run, "there", i, &hop);
    }
    while (cw_packet_trace(p, back, &hop) == 0) {
        tell_report(run, "back", back, &hop);
        back++;
    }
    if (run->rows) {
        cw_request_row(run->request);
    }
    tell_server(run->request, "server", rx->src_server);
    cw_request_int(run->request, "rtt_ns", cw_time_since(cw_now(s), run->sent).ns);
    cw_request_int(run->request, "hops_there", hops);
    cw_request_int(run->request, "hops_back", rx->hops);
    /* Every server on the way reports, and the last one too. */
    cw_request_int(run->request, "complete", there == hops + 1 && back == rx->hops + 1);
    finish(s, run, 0);
}

static cw_verdict trace_packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    size_t length;
    const uint8_t *data = cw_packet_data(p, &length);
    if (length < TRACE_BYTES || get_be32(data + AT_MAGIC) != magic) {
        return CW_DROP;
    }
    if (data[AT_KIND] == PROBE) {
        answer(s, p, data, rx);
        return CW_FORWARD;
    }
    size_t reports = data[AT_REPORTS];
    struct run *run = data[AT_KIND] == ANSWER ? run_of(state, get_be32(data + AT_CALL)) : NULL;
    if (run == NULL || reports > REPORTS_MAX || length != TRACE_BYTES + reports * REPORT_BYTES) {
        return CW_DROP;
    }
    answered(s, run, p, data, rx);
    return CW_FORWARD;
}

/* The reports were in the packet and were lost with it: all that can be said is by which links it leaves here. */
static void tell_loss(cw_svc *s, const struct run *run)
{
    char server[TORUS_TEXT], links[CW_LINK_COUNT * 3 + 1] = "", text[240];
    cw_coord to = run->to.server;
    bool key = run->to.kind == CW_TO_KEY;
    if (key && cw_servers_for_key(s, &run->to.key, 1, &to) < 1) {
        return;
    }
    torus_format(to, server);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        if (cw_links_to(s, to) & cw_links_of(link)) {
            strcat(strcat(links, " "), quantity_link_name(link));
        }
    }
    snprintf(
        text, sizeof text,
        "no answer came in time: lost on the way to %s%s or back, with the reports of its way; it leaves here by%s "
        "(\"drops\" of the servers that way, \"trace\" to them)",
        server, key ? ", the key's root," : "", links[0] != '\0' ? links : " no link now");
    cw_request_text(run->request, "error", text);
}

static void timed_out(cw_svc *s, void *state, void *arg)
{
    (void)state;
    struct run *run = arg;
    run->timer = NULL;
    tell_loss(s, run);
    finish(s, run, -ETIMEDOUT);
}

/* ---- Commands ---------------------------------------------------------------------------------------------------- */

static int read_target(const cw_svc *s, cw_request *r, int argc, const char *const *argv, cw_to *to)
{
    if (argc < 2 || (strcmp(argv[0], "to") != 0 && strcmp(argv[0], "key") != 0)) {
        return refuse_request(r, "commands are to SERVER, key KEY; not: '%s'", argc < 1 ? "" : argv[0]);
    }
    if (argv[0][0] == 'k') {
        to->kind = CW_TO_KEY;
        to->key = read_key(s, argv[1]);
        return 0;
    }
    cw_coord server;
    int rc = read_server(s, r, argv[1], &server);
    if (rc < 0) {
        return rc;
    }
    *to = to_server(s, TRACE_JOB, 0, cw_server_id(s, server));
    return 0;
}

static int send_probe(cw_svc *s, struct run *run, const cw_to *to, size_t size)
{
    cw_packet *p = cw_packet_new(s, size);
    if (p == NULL) {
        return -ENOMEM;
    }
    uint8_t *data = cw_packet_data(p, NULL);
    put_be32(data + AT_MAGIC, magic);
    data[AT_KIND] = PROBE;
    put_be32(data + AT_CALL, run->call);
    const cw_send_options options = {CW_SEND_INIT, .trace = true};
    int rc = cw_send(s, p, to, &options);
    if (rc < 0) {
        cw_packet_free(s, p);
    }
    return rc;
}

static int trace_command(cw_svc *s, void *state, cw_request *r, int argc, const char *const *argv)
{
    struct trace *trace = state;
    struct run *run = trace->run;
    uint64_t timeout_us = 1000 * 1000, size = TRACE_BYTES;
    const struct words_option options[] = {
        {"timeout", 1, UINT64_C(3600) * 1000 * 1000, &timeout_us},
        {"size", TRACE_BYTES, cw_mtu(s), &size},
    };
    cw_to to = {.job = TRACE_JOB};
    int rc = read_target(s, r, argc, argv, &to);
    if (rc < 0) {
        return rc;
    }
    int words = 2 + words_options(argc - 2, argv + 2, options, sizeof options / sizeof *options);
    if (words < argc) {
        return refuse_option(r, argv[words], options, sizeof options / sizeof *options);
    }
    while (run < trace->run + RUNS_MAX && run->request != NULL) {
        run++;
    }
    if (run == trace->run + RUNS_MAX) {
        return -EBUSY;
    }
    *run = (struct run){.request = r, .sent = cw_now(s), .call = ++trace->calls, .to = to};
    run->timer = cw_timer_start(s, CW_US(timeout_us), timed_out, run);
    rc = run->timer == NULL ? -EAGAIN : send_probe(s, run, &to, (size_t)size);
    if (rc < 0) {
        cw_timer_stop(s, run->timer);
        *run = (struct run){0};
        return rc;
    }
    return 1;
}

static void trace_close(cw_svc *s, void *state)
{
    struct trace *trace = state;
    for (unsigned i = 0; i < RUNS_MAX; i++) {
        if (trace->run[i].request != NULL) {
            finish(s, &trace->run[i], -ECANCELED);
        }
    }
}

static const cw_command commands[] = {
    {"to", "SERVER [size=BYTES] [timeout=US]", "the way of a packet to a server and back, server by server"},
    {"key", "KEY [size=BYTES] [timeout=US]", "the way of a packet to the root of a key and back"},
    {NULL, NULL, NULL},
};

const cw_service trace_service = {
    CW_SERVICE_INIT,
    .name = "trace",
    .version = "1.0",
    .job = TRACE_JOB,
    .state_size = sizeof(struct trace),
    .close = trace_close,
    .on_packet = trace_packet,
    .on_command = trace_command,
    .commands = commands,
};
