/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_streams.c - sorted runs in a simulated torus of 27 servers, links of 1 Gb/s and frames of 9,000 bytes, so that
 * figures are those of the protocol and the same on every machine: the rate at which sorted records come to one root,
 * or to a root on each server, beside the goal and the bound of the links. Mapping, sorting and writing are not
 * counted. `--smoke` only shows that it runs.
 *
 *   bench_streams [--smoke] [--records N] [--only K] [--path auto|trees|shortest|direct] [--trace]
 *   bench_streams --paths [--records N]       to each, six shares of keys that all have, by all three paths: as CSV
 *
 *   N: of each server, 200,000 when nothing is said (no two keys equal, and --paths: 20,000); 1,650,000 are 30 MB. K:
 *   the K-th figure alone. --trace: also how busy the links are, every half of a millisecond
 */
#include "base/prng.h"
#include "core/queue/pkt.h"
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

enum { SERVERS = 27, DESK = 13, KEY = 16, LINE = KEY + 12, PARTITIONS = 96 };

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
    return strcmp(name, "data") == 0     ? "/data"
           : strcmp(name, "spool") == 0  ? "/spool"
           : strcmp(name, "memory") == 0 ? "4G"
                                         : NULL;
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

/* Gives every server a file of lines, of whose keys all servers have so many percent. Gives its bytes in blocks. */
static uint64_t fill(uint64_t records, unsigned same)
{
    char(*lines)[LINE] = calloc(records, LINE);
    char *text = malloc(records * LINE);
    uint64_t bytes = 0;
    for (cw_server s = 0; s < SERVERS; s++) {
        size_t length = 0;
        for (uint64_t i = 0; i < records; i++) {
            snprintf(lines[i], LINE, "%016" PRIx64, prng_mix(i % 100 < same ? 1 : s + 2, i));
            length += (size_t)sprintf(text + length, "%s\t1\n", lines[i]);
        }
        stream_disk_put(&disks[s], "in", text, length);
        bytes = s == 0 ? block_bytes(lines, records) : bytes;
    }
    free(lines);
    free(text);
    return bytes;
}

/* Has this server a root that collects? */
static bool collects(cw_server s)
{
    static struct fake_result look;
    struct node_request_sink eye = {&look, fake_result_row, fake_result_int, fake_result_text, fake_result_done};
    const char *const status[] = {"status"};
    bool some = false;
    fake_result_init(&look);
    if (world_command(world, s, "aggregate", 1, status, &eye) != 0) {
        exit(1);
    }
    for (unsigned i = 0; i < look.rows && fake_has(&look, i, "role"); i++) {
        const char *role = fake_text(&look, i, "role"), *state = fake_text(&look, i, "state");
        some = some || (strcmp(role, "root") == 0 && (strcmp(state, "runs") == 0 || strcmp(state, "announced") == 0));
    }
    return some;
}

/* --trace: how busy the links are, in steps. */
static bool trace;
static uint64_t small_frames, large_frames;

static void on_frame(void *context, cw_server s, cw_link link, const struct cw_packet *frame, cw_time now,
                     const struct wire_flight *flight)
{
    enum { SMALL = 1000 };
    (void)context;
    (void)s;
    (void)link;
    (void)now;
    (void)flight;
    small_frames += frame->length < SMALL;
    large_frames += frame->length >= SMALL;
}

static void trace_step(cw_span span)
{
    static uint64_t before[SERVERS * CW_LINK_COUNT];
    uint64_t all = 0, least = UINT64_MAX, most = 0;
    double full = (double)span.ns / 8;
    unsigned roots = 0;
    for (unsigned i = 0; i < SERVERS * CW_LINK_COUNT; i++) {
        uint64_t now = world_wire(world, i / CW_LINK_COUNT, (cw_link)(i % CW_LINK_COUNT))->bytes;
        uint64_t sent = now - before[i];
        before[i] = now;
        all += sent;
        least = sent < least ? sent : least;
        most = sent > most ? sent : most;
    }
    for (cw_server s = 0; s < SERVERS; s++) {
        roots += collects(s);
    }
    printf("# %8.2f ms: links %.3f busy, %.3f to %.3f; %" PRIu64 " small and %" PRIu64 " large frames; %u roots\n",
           (double)world_now(world).ns / 1e6, (double)all / full / SERVERS / CW_LINK_COUNT, (double)least / full,
           (double)most / full, small_frames, large_frames, roots);
    small_frames = large_frames = 0;
}

static bool any_collects(bool each)
{
    bool some = false;
    for (cw_server s = 0; s < SERVERS && !some; s++) {
        some = (each || s == DESK) && collects(s);
    }
    return some;
}

/* Nanoseconds from the first attempt to the last partition. */
static double time_of(bool each, const char *path)
{
    static struct fake_result r;
    struct node_request_sink sink = {&r, fake_result_row, fake_result_int, fake_result_text, fake_result_done};
    char by[24];
    const char *const words[] = {"run", "from=in", each ? "to=each:out" : "to=1,1,1:out", "map=kv", by};
    snprintf(by, sizeof by, "path=%s", path);
    cw_time began = {0}, ended = {0};
    fake_result_init(&r);
    if (world_command(world, DESK, "aggregate", 5, words, &sink) != 0) {
        exit(1);
    }
    static const struct world_watch watch = {.frame = on_frame};
    if (trace) {
        world_watch(world, &watch);
    }
    for (unsigned steps = 1; !r.done; steps++) {
        run(CW_US(20));
        bool busy = any_collects(each);
        began = began.ns == 0 && busy ? world_now(world) : began;
        ended = busy ? world_now(world) : ended;
        if (trace && busy && steps % 25 == 0) {
            trace_step(CW_US(500));
        }
    }
    if (r.rc != 0 || began.ns == 0 || ended.ns == 0) {
        fprintf(stderr, "it ended with %d\n", r.rc);
        exit(1);
    }
    return (double)cw_time_since(ended, began).ns;
}

struct figure {
    const char *what;
    bool each, same;
    const char *goal, *bound;
};

static void close_world(void)
{
    world_close(world);
    for (cw_server s = 0; s < SERVERS; s++) {
        stream_disk_close(&disks[s]);
    }
}

/*
 * The rate: of the records of one server by the time, as for a reduction; with no two keys equal, that at which a root
 * takes records of others.
 */
static void streams(const struct figure *f, uint64_t records, const char *path)
{
    open_world();
    uint64_t bytes = fill(records, f->same ? 100 : 0);
    double took = time_of(f->each, path);
    double in = (double)bytes * 8 * (f->same ? 1 : f->each ? (SERVERS - 1.0) / SERVERS : SERVERS - 1);
    printf("%-40s %8" PRIu64 " records of each, %5.1f MB in blocks: %.2f Gb/s, goal %s, bound %s; %.2f ms\n", f->what,
           records, (double)bytes / 1e6, in / took, f->goal, f->bound, took / 1e6);
    fflush(stdout);
    close_world();
}

/* Time of all records of one server in Gb/s, by path and share of equal keys. */
static void paths(uint64_t records)
{
    static const char *const path[] = {"trees", "shortest", "direct", "auto"};
    static const unsigned same[] = {0, 20, 40, 60, 80, 100};
    printf("# percent of keys that all have, different keys of all over those of each, Gb/s of one server's records\n"
           "equal,s,trees,shortest,direct,auto\n");
    for (unsigned k = 0; k < sizeof same / sizeof *same; k++) {
        printf("%u,%.3f", same[k], (same[k] / 100.0 + (1 - same[k] / 100.0) * SERVERS) / SERVERS);
        for (unsigned i = 0; i < sizeof path / sizeof *path; i++) {
            open_world();
            uint64_t bytes = fill(records, same[k]);
            printf(",%.3f", (double)bytes * 8 / time_of(true, path[i]));
            fflush(stdout);
            close_world();
        }
        putchar('\n');
    }
}

int main(int argc, char **argv)
{
    static const struct figure figures[] = {
        {"27 to one, all keys equal", false, true, "5.6", "6.000"},
        {"27 to one, no two equal", false, false, "none", "6.000"},
        {"27 to each, all keys equal", true, true, "5.7", "6.231"},
        {"27 to each, no two equal", true, false, "2.75", "2.889"},
    };
    const char *path = "auto";
    uint64_t records = 0;
    bool smoke = false, by_paths = false;
    unsigned only = 0;
    for (int i = 1; i < argc; i++) {
        smoke = smoke || strcmp(argv[i], "--smoke") == 0;
        by_paths = by_paths || strcmp(argv[i], "--paths") == 0;
        trace = trace || strcmp(argv[i], "--trace") == 0;
        if (i + 1 < argc && strcmp(argv[i], "--records") == 0) {
            records = strtoull(argv[++i], NULL, 10);
        } else if (i + 1 < argc && strcmp(argv[i], "--only") == 0) {
            only = (unsigned)strtoul(argv[++i], NULL, 10);
        } else if (i + 1 < argc && strcmp(argv[i], "--path") == 0) {
            path = argv[++i];
        }
    }
    if (by_paths) {
        paths(records != 0 ? records : 20000);
        return 0;
    }
    for (unsigned i = 0; i < sizeof figures / sizeof *figures; i++) {
        uint64_t ordinary = smoke ? 500 : figures[i].same ? 200000 : 20000;
        if (only == 0 || only == i + 1) {
            streams(&figures[i], records != 0 ? records : ordinary, path);
        }
    }
    return 0;
}
