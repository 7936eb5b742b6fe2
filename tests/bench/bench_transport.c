/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_transport.c - the transport in a simulated torus of 1 Gb/s links, so that figures are those of the protocol and
 * the same on every machine: bulk against what the wires could carry, shares of transfers that meet, queues, and small
 * messages against cw_call().
 */
#include "fake_result.h"
#include "keyspace/torus.h"
#include "nmu/book.h"
#include "services/ping/ping.h"
#include "services/transport/transport.h"
#include "simulator/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct world *world;
static bool smoke;

static void run(cw_span span)
{
    if (world_run(world, cw_time_add(world_now(world), span)) != 0) {
        fprintf(stderr, "%s\n", world_violation(world) != NULL ? world_violation(world)->text : "stopped");
        exit(1);
    }
}

static void open_world(cw_dims dims, uint16_t mtu, uint64_t seed)
{
    static const struct world_service services[] = {{.table = &ping_service}, {.table = &transport_service}};
    struct world_config config = world_config_default();
    config.dims = dims;
    config.seed = seed;
    config.node.mtu = mtu;
    config.services = services;
    config.service_count = 2;
    static const struct book_grant grants[] = {
        {.from = PING_JOB, .to = PING_JOB, .all_processes = true},
        {.from = TRANSPORT_JOB, .to = TRANSPORT_JOB, .all_processes = true},
    };
    config.grants = grants;
    config.grant_count = 2;
    if (world_open(&world, &config) != 0) {
        exit(1);
    }
    world_start_all(world, CW_MS(1));
    unsigned servers = world_torus(world)->servers;
    for (int i = 0; i < 500 && (world_active(world) < servers || world_agreeing(world) < servers); i++) {
        run(CW_MS(10));
    }
}

static void begin(cw_coord from, const char *service, const char *line, struct fake_result *r)
{
    static struct node_request_sink sinks[16];
    static unsigned used;
    struct fake_words words = fake_words_of(line);
    struct node_request_sink *sink = &sinks[used++ % 16];
    *sink = (struct node_request_sink){r, fake_result_row, fake_result_int, fake_result_text, fake_result_done};
    fake_result_init(r);
    if (world_command(world, torus_id(world_torus(world), from), service, words.argc, words.argv, sink) != 0) {
        exit(1);
    }
}

static void finish(struct fake_result *r)
{
    for (int i = 0; i < 1000000 && !r->done; i++) {
        run(CW_US(200));
    }
    if (r->rc != 0 || !r->done) {
        fprintf(stderr, "a command failed: %d %s\n", r->rc, r->rows > 0 ? fake_text(r, r->rows - 1, "error") : "");
        exit(1);
    }
}

/* Bytes that one link of 1 Gb/s carries of messages in a second, with all heads and gaps. */
static double carried(unsigned mtu)
{
    double part = mtu - 8 - 32 - 48; /* heads of frame, packet, data */
    return 1e9 / 8 * part / (mtu + 38);
}

static double worst_queue;

static size_t queued(void)
{
    size_t most = 0;
    for (cw_server s = 0; s < world_torus(world)->servers; s++) {
        size_t here = node_packets_inside(world_node(world, s));
        most = here > most ? here : most;
    }
    return most;
}

static void bulk(cw_dims dims, const char *to, unsigned links, unsigned mtu)
{
    struct fake_result r;
    char line[64];
    open_world(dims, (uint16_t)mtu, 1);
    snprintf(line, sizeof line, "bulk %s %s", to, smoke ? "3M" : "60M");
    begin((cw_coord){0, 0, 0}, "transport", line, &r);
    worst_queue = 0;
    double sum = 0;
    unsigned looks = 0;
    while (!r.done) {
        run(CW_US(200));
        double q = (double)queued();
        worst_queue = q > worst_queue ? q : worst_queue;
        sum += q;
        looks++;
    }
    finish(&r);
    double rate = (double)fake_int(&r, 0, "bits_per_s") / 8;
    printf("%-8s %5u B frames, %u links: %6.3f Gb/s, %.3f of the wires, repeated %lld (needless %lld), "
           "worst server's queue: mean %.1f, most %.0f packets\n",
           to, mtu, links, rate * 8 / 1e9, rate / (carried(mtu) * links), (long long)fake_int(&r, 0, "repeated"),
           (long long)fake_int(&r, 0, "needless"), looks > 0 ? sum / looks : 0, worst_queue);
    world_close(world);
}

/*
 * Transfers from ever further away that share the last link to one server. Each begins when the rates of those before
 * it have become steady.
 */
static void share(unsigned flows, unsigned mtu)
{
    static struct fake_result r[4];
    int64_t packets[2][4];
    open_world((cw_dims){9, 1, 1}, (uint16_t)mtu, 2);
    for (unsigned i = 0; i < flows; i++) {
        begin((cw_coord){(uint8_t)(1 + i), 0, 0}, "transport", "bulk 0,0,0 2G", &r[i]);
        run(CW_MS(20));
    }
    run(CW_MS(smoke ? 20 : 100));
    worst_queue = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (unsigned i = 0; i < flows; i++) {
            struct fake_result s;
            begin((cw_coord){(uint8_t)(1 + i), 0, 0}, "transport", "stats", &s);
            packets[pass][i] = fake_int(&s, 0, "packets") - fake_int(&s, 0, "acks");
        }
        for (int i = 0; pass == 0 && i < (smoke ? 20 : 300); i++) {
            run(CW_MS(1));
            double q = (double)queued();
            worst_queue = q > worst_queue ? q : worst_queue;
        }
    }
    double most = 0, least = 1e18, sum = 0, squares = 0;
    for (unsigned i = 0; i < flows; i++) {
        double count = (double)(packets[1][i] - packets[0][i]);
        most = count > most ? count : most;
        least = count < least ? count : least;
        sum += count;
        squares += count * count;
    }
    printf(
        "%u transfers through one link, %u B frames: least/most %.2f, Jain %.3f, worst server's queue: %.0f packets\n",
        flows, mtu, least / most, sum * sum / (flows * squares), worst_queue);
    world_close(world);
}

static void small(const char *to)
{
    struct fake_result echo, ping;
    char line[64];
    open_world((cw_dims){3, 3, 3}, 9000, 3);
    snprintf(line, sizeof line, "echo %s bytes=64 count=1", to);
    begin((cw_coord){0, 0, 0}, "transport", line, &echo);
    finish(&echo);
    double first = (double)fake_int(&echo, 0, "mean_ns");
    snprintf(line, sizeof line, "echo %s bytes=64 count=%d", to, smoke ? 20 : 1000);
    struct fake_result before, after;
    begin((cw_coord){0, 0, 0}, "transport", "stats", &before);
    begin((cw_coord){0, 0, 0}, "transport", line, &echo);
    finish(&echo);
    begin((cw_coord){0, 0, 0}, "transport", "stats", &after);
    double packets = (double)(fake_int(&after, 0, "packets") - fake_int(&before, 0, "packets")) / (smoke ? 20 : 1000);
    snprintf(line, sizeof line, "to %s count=%d interval=50 size=64", to, smoke ? 20 : 1000);
    begin((cw_coord){0, 0, 0}, "ping", line, &ping);
    finish(&ping);
    double call = (double)fake_int(&ping, ping.rows - 1, "rtt_mean_ns");
    double mean = (double)fake_int(&echo, 0, "mean_ns");
    printf("64 bytes there and back, %s: transport %.0f ns, cw_call %.0f ns, ratio %.3f; first contact %.0f ns; "
           "packets of the asker "
           "per request: %.2f\n",
           to, mean, call, call > 0 ? mean / call : 0, first, packets);
    world_close(world);
}

int main(int argc, char **argv)
{
    smoke = argc > 1 && strcmp(argv[1], "--smoke") == 0;
    const cw_dims cube = {3, 3, 3}, ring = {15, 1, 1};
    bulk(cube, "1,0,0", 1, 9000);
    bulk(cube, "1,1,0", 2, 9000);
    bulk(cube, "1,1,1", 3, 9000);
    bulk(cube, "1,1,1", 3, 1500);
    bulk(ring, "7,0,0", 1, 9000);
    bulk(ring, "7,0,0", 1, 1500);
    share(2, 9000);
    share(4, 9000);
    share(2, 1500);
    share(4, 1500);
    small("1,0,0");
    small("1,1,1");
    return 0;
}
