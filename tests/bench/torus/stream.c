/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.so - a service that sends a steady stream to one server, and says how much of a stream arrived here and for
 * how long nothing did.
 *
 *   start to=X,Y,Z [size=BYTES] [rate=PACKETS/S] [burst=N]    N packets every N / rate seconds
 *   stop, stats, reset
 *   mark                                                      the longest gap begins anew; nothing else does
 */
#include "cubeway/service.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JOB = 4097, RECORD = 8, RATE_MAX = 10 * 1000 * 1000, BURST_MAX = 1024 };

struct stream {
    cw_to to;
    unsigned long size, rate, burst;
    cw_timer *timer;
    cw_time next;
    int64_t sent, refused, received, bytes, gap_ns, gap_at_ns, hops;
    cw_time last;
};

static void send_one(cw_svc *s, struct stream *t)
{
    cw_packet *p = cw_packet_new_padded(s, RECORD, t->size - RECORD);
    if (p == NULL) {
        t->refused++;
        return;
    }
    memcpy(cw_packet_data(p, NULL), &t->sent, RECORD);
    if (cw_send(s, p, &t->to, NULL) < 0) {
        cw_packet_free(s, p);
        t->refused++;
        return;
    }
    t->sent++;
}

static void tick(cw_svc *s, void *state, void *arg)
{
    (void)arg;
    struct stream *t = state;
    cw_span beat = CW_NS((int64_t)(t->burst * 1000000000 / t->rate));
    cw_time now = cw_now(s);
    for (unsigned long i = 0; i < t->burst; i++) {
        send_one(s, t);
    }
    t->next = cw_time_add(t->next, beat);
    if (cw_time_before(t->next, now)) {
        t->next = now; /* late: bursts that were missed are not sent afterwards */
    }
    t->timer = cw_timer_start(s, cw_time_since(t->next, now), tick, NULL);
}

static void stop(cw_svc *s, struct stream *t)
{
    cw_timer_stop(s, t->timer);
    t->timer = NULL;
}

static int start(cw_svc *s, struct stream *t, int argc, const char *const *argv)
{
    unsigned long size = 1024, rate = 1000, burst = 1;
    cw_coord c = {0};
    bool known = false;
    for (int i = 1; i < argc; i++) {
        known |= sscanf(argv[i], "to=%3hhu,%3hhu,%3hhu", &c.x, &c.y, &c.z) == 3;
        (void)sscanf(argv[i], "size=%lu", &size);
        (void)sscanf(argv[i], "rate=%lu", &rate);
        (void)sscanf(argv[i], "burst=%lu", &burst);
    }
    if (!known || !cw_server_valid(s, c) || size < RECORD || size > cw_mtu(s) || rate < 1 || rate > RATE_MAX ||
        burst < 1 || burst > BURST_MAX) {
        return -EINVAL;
    }
    stop(s, t);
    t->to = (cw_to){.kind = CW_TO_SERVER, .job = JOB, .server = c, .process = cw_server_id(s, c)};
    t->size = size;
    t->rate = rate;
    t->burst = burst;
    t->next = cw_now(s);
    t->timer = cw_timer_start(s, CW_NS(0), tick, NULL);
    return t->timer != NULL ? 0 : -ENOMEM;
}

static cw_verdict stream_packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    struct stream *t = state;
    cw_time now = cw_now(s);
    if (t->received > 0 && cw_time_since(now, t->last).ns > t->gap_ns) {
        t->gap_ns = cw_time_since(now, t->last).ns;
        t->gap_at_ns = t->last.ns;
    }
    t->last = now;
    t->received++;
    t->hops += rx->hops;
    size_t length;
    (void)cw_packet_data(p, &length);
    t->bytes += (int64_t)(length + cw_packet_pad(p));
    return CW_FORWARD;
}

static int stream_command(cw_svc *s, void *state, cw_request *r, int argc, const char *const *argv)
{
    struct stream *t = state;
    const char *word = argc > 0 ? argv[0] : "";
    if (strcmp(word, "start") == 0) {
        return start(s, t, argc, argv);
    }
    if (strcmp(word, "stop") == 0) {
        stop(s, t);
        return 0;
    }
    if (strcmp(word, "reset") == 0) {
        t->sent = t->refused = t->received = t->bytes = t->gap_ns = t->gap_at_ns = t->hops = 0;
        return 0;
    }
    if (strcmp(word, "mark") == 0) {
        t->gap_ns = t->gap_at_ns = 0;
        return 0;
    }
    if (strcmp(word, "stats") == 0) {
        cw_request_int(r, "sent", t->sent);
        cw_request_int(r, "refused", t->refused);
        cw_request_int(r, "received", t->received);
        cw_request_int(r, "bytes", t->bytes);
        cw_request_int(r, "hops", t->hops);
        cw_request_int(r, "gap", t->gap_ns);
        cw_request_int(r, "gap_at", t->gap_at_ns);
        cw_request_int(r, "mtu", (int64_t)cw_mtu(s));
        return 0;
    }
    return -EINVAL;
}

static const cw_service stream_service = {
    CW_SERVICE_INIT,
    .name = "stream",
    .version = "1.0",
    .job = JOB,
    .state_size = sizeof(struct stream),
    .on_packet = stream_packet,
    .on_command = stream_command,
};

const cw_service *cw_service_entry(void)
{
    return &stream_service;
}
