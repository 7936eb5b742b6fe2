/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_query.c - questions to all servers of a simulated torus of 1 Gb/s links: from the command to the answer, and
 * what a question every 100 ms takes of the busiest link. `--smoke` only shows that all of it runs.
 *
 *   bench_query [--smoke]
 */
#include "base/base64.h"
#include "base/prng.h"
#include "fake_result.h"
#include "keyspace/torus.h"
#include "nmu/book.h"
#include "services/aggregate/aggregate.h"
#include "services/aggregate/dense/dense.h"
#include "services/aggregate/query/host.h"
#include "simulator/world.h"

enum { ROUNDS = 9, SERVERS_MOST = 512, LINES = 3000, PIECE = 40000 };

static struct world *world;
static struct torus torus;

static void each(void *context, cw_coord self, const struct figures_visit *visit)
{
    (void)context;
    visit->counter(visit->context, "bench", "id", torus_id(&torus, self));
}

static const struct node_object *objects(void *context, cw_server s)
{
    static const struct figures_host host = {.size = sizeof host, .each = each};
    static const struct node_object all[] = {{FIGURES_HOST_NAME, FIGURES_HOST_VERSION, &host}, {NULL, 0, NULL}};
    (void)context;
    (void)s;
    return all;
}

static void run(cw_span span)
{
    if (world_run(world, cw_time_add(world_now(world), span)) != 0) {
        fprintf(stderr, "%s\n", world_violation(world) != NULL ? world_violation(world)->text : "stopped");
        exit(1);
    }
}

static void open_world(cw_dims dims)
{
    static const struct world_service services[] = {{.table = &aggregate_service}};
    static const struct book_grant grants[] = {
        {.from = AGGREGATE_JOB, .to = AGGREGATE_JOB, .port = AGGREGATE_PORT_QUERY, .all_processes = true}};
    struct world_config config = world_config_default();
    config.dims = dims;
    config.services = services;
    config.service_count = 1;
    config.grants = grants;
    config.grant_count = 1;
    config.objects = objects;
    if (torus_init(&torus, dims) != 0 || world_open(&world, &config) != 0) {
        exit(1);
    }
    world_start_all(world, CW_MS(1));
    run(CW_MS(300));
}

static void command(cw_server s, const char *const *words, int count, struct fake_result *r)
{
    struct node_request_sink sink = {r, fake_result_row, fake_result_int, fake_result_text, fake_result_done};
    fake_result_init(r);
    if (world_command(world, s, "aggregate", count, words, &sink) != 0) {
        exit(1);
    }
}

/* Every server gets lines, some of which are everywhere. */
static void feed_all(void)
{
    static struct fake_result r;
    static char text[PIECE], data[8 + PIECE * 2];
    for (cw_server s = 0; s < torus.servers; s++) {
        size_t used = 0;
        for (unsigned i = 0; i < LINES && used + 16 < sizeof text; i++) {
            used += (size_t)snprintf(text + used, sizeof text - used, "%u\n",
                                     (unsigned)(prng_mix(i % 2 ? s : 7, i) % (i % 3 ? 1000 : 1000000)));
        }
        memcpy(data, "data=", 5);
        base64_encode((const uint8_t *)text, used, data + 5);
        const char *const words[] = {"query", "feed", "lines", "keep_ms=3600000", data};
        command(s, words, 5, &r);
        if (r.rc != 0) {
            exit(1);
        }
    }
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Asks once, and lets time pass until the answer is there. Gives how long that took. */
static int64_t ask(cw_server from, const char *line)
{
    static struct fake_result r;
    const struct fake_words words = fake_words_of(line);
    command(from, words.argv, words.argc, &r);
    for (unsigned i = 0; i < 20000 && !r.done; i++) {
        run(CW_US(100));
    }
    if (!r.done || r.rc != 0 || fake_int(&r, 0, "answered") != (int64_t)torus.servers) {
        fprintf(stderr, "%s: not answered by all\n", line);
        exit(1);
    }
    return fake_int(&r, 0, "took_ns");
}

static void latency(const char *what, const char *line, unsigned rounds)
{
    int64_t took[ROUNDS];
    for (unsigned i = 0; i < rounds; i++) {
        took[i] = ask((cw_server)(i * 37) % torus.servers, line);
        run(CW_MS(2));
    }
    qsort(took, rounds, sizeof *took, by_size);
    printf("%4u servers  %-28s median %8.1f us, least %.1f, most %.1f; %u hops each way\n", torus.servers, what,
           (double)took[rounds / 2] / 1e3, (double)took[0] / 1e3, (double)took[rounds - 1] / 1e3,
           torus_diameter(&torus));
    fflush(stdout);
}

static uint64_t sent[SERVERS_MOST * CW_LINK_COUNT]; /* bytes by link, in frames with data */

static void count_frame(void *context, cw_server s, cw_link link, const struct cw_packet *frame, cw_time now,
                        const struct wire_flight *flight)
{
    (void)context;
    (void)now;
    (void)flight;
    sent[s * CW_LINK_COUNT + link] += frame->length;
}

/* What the busiest link carries more than without questions, as a share of 1 Gb/s. */
static void traffic(const char *what, const char *line, unsigned rounds)
{
    static uint64_t quiet[SERVERS_MOST * CW_LINK_COUNT];
    uint64_t most = 0;
    world_watch(world, &(struct world_watch){.frame = count_frame});
    memset(sent, 0, sizeof sent);
    run(CW_MS(100 * (int64_t)rounds));
    memcpy(quiet, sent, sizeof quiet);
    memset(sent, 0, sizeof sent);
    cw_time next = world_now(world);
    for (unsigned i = 0; i < rounds; i++) {
        (void)ask(0, line);
        next = cw_time_add(next, CW_MS(100));
        run(cw_time_since(next, world_now(world)));
    }
    for (size_t i = 0; i < torus.servers * CW_LINK_COUNT; i++) {
        uint64_t more = sent[i] > quiet[i] ? sent[i] - quiet[i] : 0;
        most = more > most ? more : most;
    }
    printf("%4u servers  %-28s every 100 ms: %.4f %% of the busiest link\n", torus.servers, what,
           (double)most * 8 / (1e9 * 0.1 * rounds) * 100);
    fflush(stdout);
}

static void all(cw_dims dims, bool smoke)
{
    unsigned rounds = smoke ? 1 : ROUNDS;
    open_world(dims);
    feed_all();
    latency("sum of a counter", "query sum bench.id", rounds);
    latency("quantile of a feed", "query quantile lines p=0.99", rounds);
    latency("distinct of a feed", "query distinct lines", rounds);
    latency("top 10 of a feed", "query top lines k=10", rounds);
    traffic("sum of a counter", "query sum bench.id", smoke ? 2 : 10);
    traffic("top 10 of a feed", "query top lines k=10", smoke ? 2 : 10);
    world_close(world);
}

int main(int argc, char **argv)
{
    bool smoke = argc > 1 && strcmp(argv[1], "--smoke") == 0;
    all((cw_dims){3, 3, 3}, smoke);
    if (!smoke) {
        all((cw_dims){8, 8, 8}, false);
    }
    return 0;
}
