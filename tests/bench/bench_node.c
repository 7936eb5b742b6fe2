/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_node.c - what a packet costs a node: passing through (node_rx and node_tx_pull), passing before a service that
 * watches, arriving, leaving, sharing a frame with others. Everything warm, one core. Beside them two raw limits of the
 * same run: copying the bytes once, and decoding and writing the heads without a node. Median of alternating rounds.
 */
#include "core/node.h"
#include "nmu/book.h"
#include "wire/frame.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 9, BATCH = 32, RING = 4, JOB = 7, WATCHER = 8, SMALL_FRAME = 20 };

struct bench {
    struct node *node[RING];
    cw_server neighbours[RING * CW_LINK_COUNT];
    struct book *book;
    struct pkt_home *home;
    cw_time now;
    cw_job job;
    uint32_t payload;
    struct cw_packet *frame[BATCH];
    uint8_t copy[BATCH][9000];
    uint64_t sink;
};

static void stop(const char *why)
{
    fprintf(stderr, "bench_node: %s\n", why);
    exit(1);
}

/* ---- A ring of four servers, its cables without delay ------------------------------------------------------------ */

/* The service of server 1, as which the bench sends. */
static cw_svc *instance;
static int open_service(cw_svc *s, void *state)
{
    (void)state;
    instance = cw_server_id(s, cw_self(s)) == 1 && cw_job_of(s) == JOB ? s : instance;
    return 0;
}

static cw_verdict packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    (void)s;
    (void)state;
    (void)p;
    return rx->where == CW_TRANSIT ? CW_FORWARD : CW_DROP;
}

static void pump(struct bench *b)
{
    for (bool moved = true; moved;) {
        moved = false;
        for (unsigned s = 0; s < RING; s++) {
            struct cw_packet *frame;
            for (cw_link link = CW_LINK_ZP; link <= CW_LINK_ZM; link++) {
                while ((frame = node_tx_pull(b->node[s], link, b->now)) != NULL) {
                    node_rx(b->node[b->neighbours[s * CW_LINK_COUNT + link]], cw_link_opposite(link), frame, b->now);
                    moved = true;
                }
            }
        }
    }
}

static void run(struct bench *b, unsigned ms)
{
    for (unsigned i = 0; i < ms; i++) {
        b->now = cw_time_add(b->now, CW_MS(1));
        for (unsigned s = 0; s < RING; s++) {
            node_tick(b->node[s], b->now);
        }
        pump(b);
    }
}

static void bench_open(struct bench *b)
{
    const struct pkt_home_config home = {
        .small_bytes = 192 + PKT_HEADROOM, .large_bytes = 9000 + PKT_HEADROOM, .packets_max = 4096};
    struct torus torus;
    struct node_config config = node_config_default();
    config.dims = (cw_dims){1, 1, RING};
    config.mtu = 9000;
    if (torus_init(&torus, config.dims) < 0 || pkt_home_open(&b->home, &home) < 0) {
        stop("no memory");
    }
    torus_neighbours_fill(&torus, b->neighbours);
    const struct book_grant own = {.from = JOB, .to = JOB, .any_port = true, .all_processes = true};
    if (book_open(&b->book, RING) < 0 || book_allow(b->book, &own) < 0) {
        stop("no book");
    }
    for (unsigned s = 0; s < RING; s++) {
        const struct node_env env = {
            .packets = b->home, .neighbours = b->neighbours, .seed = s, .records = {b->book, book_record}};
        config.self = torus_coord(&torus, s);
        config.incarnation = s + 1;
        cw_service service = {CW_SERVICE_INIT, .name = "bench", .job = JOB};
        service.open = open_service;
        service.on_packet = packet;
        if (node_open(&b->node[s], &config, &env) < 0 || node_service_add(b->node[s], &service, b->now) < 0) {
            stop("no node");
        }
        service.name = "watcher";
        service.job = WATCHER;
        service.on_path = CW_PATH_ALL;
        if (node_service_add(b->node[s], &service, b->now) < 0) {
            stop("no service");
        }
    }
    for (unsigned s = 0; s < RING; s++) {
        node_carrier(b->node[s], CW_LINK_ZP, true, b->now);
        node_carrier(b->node[s], CW_LINK_ZM, true, b->now);
    }
    run(b, 500);
    if (ls_committed(node_linkstate(b->node[1]))->members != RING || !ls_serving(node_linkstate(b->node[1]), b->now)) {
        stop("the ring does not settle");
    }
}

/* ---- Frames from server 0 to server 1 ---------------------------------------------------------------------------- */

/* Writes a packet from server 0 to server `to`, which has made one hop. Its bytes. */
static uint32_t write_packet(const struct bench *b, uint8_t *out, unsigned to)
{
    struct packet_head head = {.kind = PACKET_SERVER, .hop_limit = 60, .hops = 1, .job = b->job, .source_job = b->job};
    head.length = (uint16_t)(PACKET_HEAD_BYTES + b->payload);
    head.to.server.z = (uint8_t)to;
    packet_encode(&head, out);
    return head.length;
}

static void stamp(struct bench *b, struct cw_packet *frame, uint8_t packets)
{
    struct frame_head head = {.packets = packets};
    ls_stamp(node_linkstate(b->node[0]), CW_LINK_ZP, &head);
    frame_encode(&head, frame->data);
}

static struct cw_packet *new_frame(struct bench *b, unsigned packets, unsigned to)
{
    struct cw_packet *frame = pkt_take(b->home, 9000);
    if (frame == NULL) {
        stop("no packet");
    }
    frame->length = FRAME_HEAD_BYTES;
    for (unsigned i = 0; i < packets; i++) {
        frame->length += write_packet(b, frame->data + frame->length, to);
    }
    stamp(b, frame, (uint8_t)packets);
    return frame;
}

/* ---- The works: BATCH frames each, and how many packets that is -------------------------------------------------- */

static unsigned do_copy(struct bench *b)
{
    for (unsigned i = 0; i < BATCH; i++) {
        memcpy(b->copy[i], b->frame[i]->data, b->frame[i]->length);
        __asm__ volatile("" : : "r"(b->copy[i]) : "memory");
    }
    return BATCH;
}

static unsigned do_heads(struct bench *b)
{
    for (unsigned i = 0; i < BATCH; i++) {
        struct cw_packet *f = b->frame[i];
        struct frame_head head;
        struct frame_walk walk;
        struct frame_slice slice;
        if (frame_decode(f->data, f->length, &head, &walk) != WIRE_OK || !frame_next(f->data, &walk, &slice) ||
            packet_decode(f->data + slice.at, slice.size, &f->head, &f->exts) != WIRE_OK) {
            stop("bad frame");
        }
        f->data[slice.at + PACKET_AT_HOP_LIMIT] = 60;
        f->data[slice.at + PACKET_AT_HOPS] = 1;
        packet_hop(f->data + slice.at);
        stamp(b, f, 1);
    }
    return BATCH;
}

/* In by -z, out by +z of server 1; the same buffers go round, their heads written anew. */
static unsigned do_transit(struct bench *b)
{
    for (unsigned i = 0; i < BATCH; i++) {
        struct cw_packet *f = b->frame[i];
        stamp(b, f, 1);
        f->data[FRAME_HEAD_BYTES + PACKET_AT_HOP_LIMIT] = 60;
        f->data[FRAME_HEAD_BYTES + PACKET_AT_HOPS] = 1;
        b->sink += node_rx(b->node[1], CW_LINK_ZM, f, b->now);
        b->frame[i] = node_tx_pull(b->node[1], CW_LINK_ZP, b->now);
        if (b->frame[i] == NULL) {
            stop("a packet is gone");
        }
    }
    return BATCH;
}

static unsigned do_watched(struct bench *b)
{
    b->job = WATCHER;
    for (unsigned i = 0; i < BATCH; i++) {
        write_packet(b, b->frame[i]->data + FRAME_HEAD_BYTES, 2);
    }
    unsigned packets = do_transit(b);
    b->job = JOB;
    for (unsigned i = 0; i < BATCH; i++) {
        write_packet(b, b->frame[i]->data + FRAME_HEAD_BYTES, 2);
    }
    return packets;
}

static unsigned do_deliver(struct bench *b)
{
    for (unsigned i = 0; i < BATCH; i++) {
        struct cw_packet *f = new_frame(b, 1, 1);
        node_rx(b->node[1], CW_LINK_ZM, f, b->now);
    }
    return BATCH;
}

static unsigned do_send(struct bench *b)
{
    const cw_to to = {.kind = CW_TO_LINK, .job = JOB, .link = CW_LINK_ZP, .process = 2};
    for (unsigned i = 0; i < BATCH; i++) {
        cw_packet *p = cw_packet_new(instance, b->payload);
        if (p == NULL || cw_send(instance, p, &to, NULL) < 0) {
            stop("not sent");
        }
        pkt_release(node_tx_pull(b->node[1], CW_LINK_ZP, b->now));
    }
    return BATCH;
}

/* Packets to a job that no grant names: what a flood of them costs the processor of the server that sends it. */
static unsigned do_refused(struct bench *b)
{
    const cw_to to = {.kind = CW_TO_LINK, .job = JOB + 1000, .link = CW_LINK_ZP, .process = 2};
    for (unsigned i = 0; i < BATCH; i++) {
        cw_packet *p = cw_packet_new(instance, b->payload);
        if (p == NULL || cw_send(instance, p, &to, NULL) != -EACCES) {
            stop("not refused");
        }
        cw_packet_free(instance, p);
    }
    return BATCH;
}

/* Frames of twenty packets: apart on the way in, together on the way out. */
static unsigned do_gathered(struct bench *b)
{
    struct cw_packet *out;
    for (unsigned i = 0; i < BATCH; i++) {
        node_rx(b->node[1], CW_LINK_ZM, new_frame(b, SMALL_FRAME, 2), b->now);
    }
    while ((out = node_tx_pull(b->node[1], CW_LINK_ZP, b->now)) != NULL) {
        pkt_release(out);
    }
    return BATCH * SMALL_FRAME;
}

static const struct {
    const char *name;
    unsigned (*run)(struct bench *b);
    uint32_t payload_most;
} works[] = {
    {"copy of the frame", do_copy, 9000},    {"heads only, no node", do_heads, 9000}, {"transit", do_transit, 9000},
    {"transit, watched", do_watched, 9000},  {"delivery", do_deliver, 9000},          {"send", do_send, 9000},
    {"transit, gathered", do_gathered, 400}, {"refused send", do_refused, 9000},
};
enum { WORKS = sizeof works / sizeof *works };

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

static double ns_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* True when the work is to be run: all of them, or what the raw limits are compared with. */
static bool is_wanted(unsigned work, uint32_t payload, const char *only)
{
    return payload <= works[work].payload_most && (only == NULL || work < 2 || strcmp(works[work].name, only) == 0);
}

static void measure(struct bench *b, uint32_t payload, unsigned repeats, const char *only)
{
    static double took[WORKS][ROUNDS];
    b->payload = payload;
    b->job = JOB;
    for (unsigned i = 0; i < BATCH; i++) {
        b->frame[i] = new_frame(b, 1, 2);
    }
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned w = 0; w < WORKS; w++) {
            if (!is_wanted(w, payload, only)) {
                continue;
            }
            uint64_t packets = 0;
            double start = ns_now();
            for (unsigned i = 0; i < repeats; i++) {
                packets += works[w].run(b);
            }
            took[w][round] = (ns_now() - start) / (double)packets;
        }
    }
    printf("payload of %u bytes, a packet:\n", payload);
    for (unsigned w = 0; w < WORKS; w++) {
        qsort(took[w], ROUNDS, sizeof(double), by_value);
    }
    for (unsigned w = 0; w < WORKS; w++) {
        double ns = took[w][ROUNDS / 2];
        if (is_wanted(w, payload, only)) {
            printf("  %-20s %7.1f ns   x copy %6.2f   x heads %5.2f   %6.2f M/s\n", works[w].name, ns,
                   ns / took[0][ROUNDS / 2], ns / took[1][ROUNDS / 2], 1000 / ns);
        }
    }
    for (unsigned i = 0; i < BATCH; i++) {
        pkt_release(b->frame[i]);
    }
}

int main(int argc, char **argv)
{
    static struct bench b;
    bool smoke = argc > 1 && strcmp(argv[1], "--smoke") == 0;
    const char *only = argc > 1 && !smoke ? argv[1] : NULL;
    bench_open(&b);
    static const uint32_t payloads[] = {32, 600, 1400, 8900};
    for (unsigned i = 0; i < sizeof payloads / sizeof *payloads; i++) {
        measure(&b, payloads[i], smoke ? 3 : 4000, only);
    }
    printf("a node of this ring: %zu bytes\n", node_bytes(b.node[1]));
    for (unsigned s = 0; s < RING; s++) {
        node_close(b.node[s], b.now);
    }
    pkt_home_close(b.home);
    book_close(b.book);
    return b.sink == 1;
}
