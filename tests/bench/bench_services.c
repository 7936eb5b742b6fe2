/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What bench itself costs for a packet, beside the same traffic on the same host with no service in between: ns a
 * packet sent or received, medians of alternating rounds. `--smoke` only shows that all of it runs.
 */
#include "services/bench/bench.h"

#include "base/bytes.h"
#include "fake_host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 9, SIZE = 8900, RING = 64 };

static cw_svc *host;
static const struct bench_api *api;
static cw_packet *ring[RING];
static volatile uint64_t sink;

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Sent by the service: an eighth of the packets' number in us of its time, at a packet each 125 ns. */
static uint64_t send_by_service(uint64_t ops)
{
    uint64_t before = host->swallowed;
    const struct bench_plan plan = {.mode = BENCH_ALL, .rate = UINT64_C(8) * SIZE * 8 * 1000 * 1000, .size = SIZE};
    if (api->start(host, &plan) < 0) {
        abort();
    }
    fake_run(host, CW_NS(ops * 125));
    api->stop(host);
    return host->swallowed - before;
}

/* The same calls of the host, and nothing else. */
static uint64_t send_bare(uint64_t ops)
{
    cw_to to = {.kind = CW_TO_SERVER, .job = BENCH_JOB};
    for (uint64_t i = 0; i < ops; i++) {
        cw_packet *p = cw_packet_new_padded(host, BENCH_RECORD_BYTES, SIZE - BENCH_RECORD_BYTES);
        to.process = 1 + (cw_server)cw_random_below(host, 511);
        to.server = cw_server_coord(host, to.process);
        if (cw_send(host, p, &to, NULL) < 0) {
            abort();
        }
    }
    return ops;
}

static cw_verdict bare_packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    (void)s;
    (void)state;
    size_t length;
    sink += *cw_packet_data(p, &length) + rx->hops;
    return CW_FORWARD;
}

/* Takes packets that are kept: lent for the upcall, and ours again. */
static uint64_t receive(cw_svc *s, const cw_service *table, uint64_t ops)
{
    static uint32_t numbers[512];
    static uint32_t run;
    static cw_time sent;
    run += table == &bench_service;
    memset(numbers, 0, sizeof numbers);
    for (uint64_t i = 0; i < ops; i++) {
        cw_packet *p = ring[i % RING];
        cw_server source = 1 + (cw_server)((i * 2654435761u) % 511);
        cw_rx rx = {.size = sizeof rx, .where = CW_ARRIVED, .in = CW_LINK_XP, .hops = 3, .src_process = source};
        put_be32(p->data, 0x43574265);
        put_be32(p->data + 4, run);
        put_be32(p->data + 8, source);
        put_be32(p->data + 12, numbers[source]++);
        put_be64(p->data + 16, (uint64_t)sent.ns);
        p->data[24] = BENCH_ALL;
        p->data[25] = 1;
        sink += table->on_packet(s, s->state, p, &rx);
    }
    return ops;
}

static uint64_t receive_by_service(uint64_t ops)
{
    return receive(host, &bench_service, ops);
}

static uint64_t receive_bare(uint64_t ops)
{
    static const cw_service bare = {CW_SERVICE_INIT, .name = "bare", .job = 1024, .on_packet = bare_packet};
    return receive(host, &bare, ops);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double ns_per_op(uint64_t (*side)(uint64_t), uint64_t ops)
{
    double start = now_ns();
    uint64_t done = side(ops);
    return (now_ns() - start) / (double)done;
}

static void compare(const char *what, uint64_t (*ours)(uint64_t), uint64_t (*peer)(uint64_t), uint64_t ops)
{
    double a[ROUNDS], b[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        a[i] = ns_per_op(ours, ops);
        b[i] = ns_per_op(peer, ops);
    }
    qsort(a, ROUNDS, sizeof *a, ascending);
    qsort(b, ROUNDS, sizeof *b, ascending);
    double x = a[ROUNDS / 2], y = b[ROUNDS / 2];
    printf("%-10s %10.1f %10.1f %12.1f %8.2f\n", what, x, y, x - y, x / y);
}

int main(int argc, char **argv)
{
    bool smoke = argc == 2 && strcmp(argv[1], "--smoke") == 0;
    uint64_t ops = smoke ? 1000 : 2000 * 1000;
    host = fake_open(&bench_service, (cw_dims){8, 8, 8}, (cw_coord){0, 0, 0});
    host->swallow = true;
    api = bench_service.exports;
    for (int i = 0; i < RING; i++) {
        static const uint8_t zeros[BENCH_RECORD_BYTES];
        ring[i] = fake_packet(host, zeros, sizeof zeros, SIZE - sizeof zeros);
    }
    printf("bench, 512 servers, ns a packet\n%-10s %10s %10s %12s %8s\n", "", "service", "bare host", "difference",
           "ratio");
    compare("send", send_by_service, send_bare, ops);
    compare("receive", receive_by_service, receive_bare, ops);
    struct bench_stats stats;
    api->stats(host, &stats);
    printf("received %llu, lost %llu, duplicated %llu, malformed %llu\n", (unsigned long long)stats.received,
           (unsigned long long)stats.lost, (unsigned long long)stats.duplicated, (unsigned long long)stats.malformed);
    for (int i = 0; i < RING; i++) {
        fake_free(ring[i]);
    }
    return fake_close(host) == 0 && stats.lost + stats.duplicated + stats.malformed == 0 ? 0 : 1;
}
