/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_streams.c - sorted runs in a simulated torus of 27 servers, links of 1 Gb/s and frames of 9,000 bytes, so that
 * figures are those of the protocol and the same on every machine: the rate at which sorted records come to the root,
 * beside the bound of its six links. Mapping, sorting and writing are not counted. `--smoke` only shows that it runs.
 *
 *   bench_streams [--smoke] [--records N]      N: of each server, 200,000 when nothing is said
 */
#include "base/prng.h"
#include "fake_result.h"
#include "nmu/book.h"
#include "services/aggregate/aggregate.h"
#include "services/aggregate/dense/dense.h"
#include "services/aggregate/sorted/record.h"
#include "simulator/world.h"
#include "stream_disk.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SERVERS = 27, KEY = 16, LINE = KEY + 12, PARTITIONS = 96 };

static struct world *world;
static struct stream_disk disks[SERVERS];
static struct node_object objects[SERVERS][3];

static void run(cw_span span)
{
    if (world_run(world, cw_time_add(world_now(world), span)) != 0) {
        fprintf(stderr, "%s\n", world_violation(world) != NULL ? world_violation(world)->text : "stopped");
        exit(1);
    }
}

static const struct node_object *objects_of(void *context, cw_server s)
{
    (void)context;
    return objects[s];
}

static const char *option_of(void *context, const char *service, const char *name)
{
    (void)context;
    (void)service;
    return strcmp(name, "data") == 0 ? "/data" : strcmp(name, "memory") == 0 ? "1G" : NULL;
}

static void open_world(void)
{
    static const struct world_service services[] = {{.table = &aggregate_service}};
    static const struct book_grant grants[] = {
        {.from = AGGREGATE_JOB, .to = AGGREGATE_JOB, .port = AGGREGATE_PORT_STREAM, .all_processes = true},
        {.from = AGGREGATE_JOB, .to = AGGREGATE_JOB, .port = AGGREGATE_PORT_STREAM_CALL, .all_processes = true}};
    struct world_config config = world_config_default();
    config.dims = (cw_dims){3, 3, 3};
    config.services = services;
    config.service_count = 1;
    config.grants = grants;
    config.grant_count = 2;
    config.option = option_of;
    config.objects = objects_of;
    for (cw_server s = 0; s < SERVERS; s++) {
        stream_disk_open(&disks[s]);
        objects[s][0] = (struct node_object){VECTORS_HOST_NAME, VECTORS_HOST_VERSION, &disks[s].results};
        objects[s][1] = (struct node_object){SPOOL_HOST_NAME, SPOOL_HOST_VERSION, &disks[s].spool};
    }
    if (world_open(&world, &config) != 0) {
        exit(1);
    }
    world_start_all(world, CW_MS(1));
    run(CW_MS(200));
}

static int by_text(const void *a, const void *b)
{
    return memcmp(a, b, KEY);
}

/* The bytes of a server's records in blocks: what it would send alone. */
static uint64_t block_bytes(char (*keys)[LINE], uint64_t records)
{
    static uint8_t bytes[RECORD_BLOCK];
    uint64_t sum = 0;
    qsort(keys, records, LINE, by_text);
    for (uint32_t p = 0; p < PARTITIONS; p++) {
        struct record_writer w;
        record_writer_init(&w, bytes, sizeof bytes);
        for (uint64_t i = 0; i < records; i++) {
            const cw_bytes key = {(const uint8_t *)keys[i], KEY}, one = {(const uint8_t *)"1", 1};
            if (record_partition(key, PARTITIONS) == p && record_write(&w, key, one) < 0) {
                sum += w.used;
                record_writer_init(&w, bytes, sizeof bytes);
                i--;
            }
        }
        sum += w.used;
    }
    return sum;
}

/* Gives every server a file of lines; those of all servers are the same, or no two are. Gives its bytes in blocks. */
static uint64_t fill(uint64_t records, bool same)
{
    char(*lines)[LINE] = calloc(records, LINE);
    char *text = malloc(records * LINE);
    uint64_t bytes = 0;
    for (cw_server s = 0; s < SERVERS; s++) {
        size_t length = 0;
        for (uint64_t i = 0; i < records; i++) {
            snprintf(lines[i], LINE, "%016" PRIx64, prng_mix(same ? 1 : s + 1, i));
            length += (size_t)sprintf(text + length, "%s\t1\n", lines[i]);
        }
        stream_disk_put(&disks[s], "in", text, length);
        bytes = s == 0 ? block_bytes(lines, records) : bytes;
    }
    free(lines);
    free(text);
    return bytes;
}

static void streams(const char *what, uint64_t records, bool same)
{
    static struct fake_result r, look;
    struct node_request_sink sink = {&r, fake_result_row, fake_result_int, fake_result_text, fake_result_done};
    struct node_request_sink eye = {&look, fake_result_row, fake_result_int, fake_result_text, fake_result_done};
    const char *const words[] = {"run", "from=in", "to=1,1,1:out", "map=kv"}, *const status[] = {"status"};
    cw_time began = {0}, ended = {0};
    open_world();
    uint64_t bytes = fill(records, same);
    fake_result_init(&r);
    if (world_command(world, 13, "aggregate", 4, words, &sink) != 0) {
        exit(1);
    }
    while (!r.done) {
        run(CW_US(20));
        fake_result_init(&look);
        if (ended.ns == 0 && world_command(world, 13, "aggregate", 1, status, &eye) == 0 && look.rows > 1) {
            const char *state = fake_text(&look, 1, "state");
            began = began.ns == 0 && strcmp(state, "runs") == 0 ? world_now(world) : began;
            ended = strcmp(state, "result is written") == 0 ? world_now(world) : ended;
        }
    }
    if (r.rc != 0 || began.ns == 0 || ended.ns == 0) {
        fprintf(stderr, "%s: it ended with %d\n", what, r.rc);
        exit(1);
    }
    double took = (double)cw_time_since(ended, began).ns, in = (double)bytes * (same ? 1 : SERVERS - 1) * 8;
    printf("%-28s %" PRIu64 " records of each, %.1f MB in blocks: %.2f Gb/s of 6.000, %.2f ms\n", what, records,
           (double)bytes / 1e6, in / took, took / 1e6);
    fflush(stdout);
    world_close(world);
    for (cw_server s = 0; s < SERVERS; s++) {
        stream_disk_close(&disks[s]);
    }
}

int main(int argc, char **argv)
{
    uint64_t records = 200000;
    for (int i = 1; i < argc; i++) {
        records = strcmp(argv[i], "--smoke") == 0 ? 2000 : records;
        if (strcmp(argv[i], "--records") == 0 && i + 1 < argc) {
            records = strtoull(argv[++i], NULL, 10);
        }
    }
    streams("27 to one, all keys equal", records, true);
    streams("27 to one, no two equal", records / 10, false);
    return 0;
}
