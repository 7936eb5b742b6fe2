/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_reduce.c - reductions in a simulated torus of 1 Gb/s links and frames of 9,000 bytes, so that figures are those
 * of the protocol and the same on every machine: the rate at which a vector of each server becomes one, beside the
 * bound of the root's links and what the wires carry of it. `--smoke` only shows that all of it runs.
 *
 *   bench_reduce [--smoke] [--megabytes N] [--megabits M] [--frame F] [--only WHAT]
 *
 * N: of each vector, 750 when nothing is said; M: of the links in a second, 1000; F: the length of frames in bytes;
 * WHAT: the name of the row that is wanted. The wires beside a rate are those of frames of 9,000
 * bytes: 5.916 is 6 links of 1 Gb/s.
 */
#include "ag_caller.h"
#include "keyspace/torus.h"
#include "nmu/book.h"
#include "services/aggregate/aggregate.h"
#include "services/multicast/multicast.h"
#include "simulator/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct world *world;
static uint64_t megabytes = 750, megabits = 1000, frame; /* 0: of the usual length */
static const char *only = "";                            /* nothing: all rows */

static cw_time clock_now(void *context)
{
    return world_now(context);
}

static bool wanted(const char *what)
{
    return *only == 0 || strcmp(what, only) == 0;
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
    static const struct world_service services[] = {
        {.table = &multicast_service}, {.table = &aggregate_service}, {.table = &caller_service}};
    struct world_config config = world_config_default();
    config.dims = dims;
    config.wire.bits_per_second = megabits * 1000000;
    config.node.mtu = frame > 0 ? (uint16_t)frame : config.node.mtu;
    config.services = services;
    config.service_count = 3;
    config.grants = caller_grants;
    config.grant_count = CALLER_GRANTS;
    if (world_open(&world, &config) != 0) {
        exit(1);
    }
    caller_plan.now = clock_now;
    caller_plan.context = world;
    world_start_all(world, CW_MS(1));
}

static void everybody(struct caller_run *r, cw_dims dims, cw_time begin)
{
    for (cw_server s = 0; s < CALLER_SERVERS; s++) {
        bool there = s < (cw_server)dims.x * dims.y * dims.z;
        r->members[s / 64] |= (uint64_t)there << s % 64;
        r->call[s].at = there ? begin : CW_NEVER;
        r->call[s].cancel = CW_NEVER;
    }
}

/* The instant at which the last one was told; the bench ends when one was told something bad. */
static cw_time wait_for(const char *what, const struct caller_run *r, cw_dims dims)
{
    cw_time last = {0};
    for (cw_server s = 0; s < (cw_server)dims.x * dims.y * dims.z; s++) {
        const struct caller_call *c = &r->call[s];
        while (c->ends == 0 && world_now(world).ns < CW_SEC(600).ns) {
            run(CW_MS(1));
        }
        if (c->ends == 0 || c->status != 0) {
            fprintf(stderr, "%s: ended %u times, with %d\n", what, c->ends, c->status);
            exit(1);
        }
        last = cw_time_max(last, c->ended);
    }
    return last;
}

/* One result at all servers. The bound is that of a reduction and a broadcast, one after the other. */
static void to_all(const char *what, cw_dims dims, uint64_t bytes)
{
    if (!wanted(what)) {
        return;
    }
    float *vector = calloc(bytes, 1);
    cw_time begin = {CW_MS(300).ns};
    struct caller_run *r = &caller_plan.run[0];
    caller_plan.runs = 1;
    *r = (struct caller_run){.type = CW_NUMBER_FLOAT32, .combine = CW_COMBINE_SUM, .flags = CW_REDUCE_TO_ALL};
    snprintf(r->name, sizeof r->name, "all");
    r->elements = bytes / sizeof *vector;
    r->shared = (const uint8_t *)vector;
    r->forget = true;
    everybody(r, dims, begin);
    open_world(dims);
    double rate = (double)bytes * 8 / (double)cw_time_since(wait_for(what, r, dims), begin).ns;
    printf("%-34s %4llu MB  %7.4f Gb/s  %.3f of the wires (2.958)  attempts %u\n", what,
           (unsigned long long)(bytes / 1000000), rate, rate / 2.958 / (double)megabits * 1000, r->call[0].attempts);
    fflush(stdout);
    world_close(world);
    free(r->call[0].out);
    free(vector);
}

/* Each with a share for each: beside the bound of 6 N / (N - 1) links, which the wires carry 0.986 of. */
static void collect(const char *what, cw_dims dims, enum caller_kind kind, uint64_t bytes)
{
    if (!wanted(what)) {
        return;
    }
    unsigned n = (unsigned)dims.x * dims.y * dims.z;
    double wires = 6.0 * n / (n - 1) * 0.986;
    float *vector = calloc(bytes, 1);
    cw_time begin = {CW_MS(300).ns};
    struct caller_run *r = &caller_plan.run[0];
    caller_plan.runs = 1;
    *r = (struct caller_run){.kind = kind, .type = CW_NUMBER_FLOAT32, .combine = CW_COMBINE_SUM};
    snprintf(r->name, sizeof r->name, "each");
    r->elements = bytes / sizeof *vector / (kind == CALLER_ALLGATHER ? n : 1);
    r->shared = (const uint8_t *)vector;
    everybody(r, dims, begin);
    open_world(dims);
    double rate = (double)bytes * 8 / (double)cw_time_since(wait_for(what, r, dims), begin).ns;
    printf("%-34s %4llu MB  %7.4f Gb/s  %.3f of the wires (%.3f)\n", what, (unsigned long long)(bytes / 1000000), rate,
           rate / wires, wires);
    fflush(stdout);
    world_close(world);
    for (unsigned s = 0; s < n; s++) {
        free(r->call[s].out);
    }
    free(vector);
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* From the call, which all make at the same instant, to the end at the last of them. */
static void latency(const char *what, cw_dims dims, uint64_t elements)
{
    if (!wanted(what)) {
        return;
    }
    enum { ROUNDS = 9 };
    int64_t took[ROUNDS];
    caller_plan.runs = ROUNDS;
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct caller_run *r = &caller_plan.run[i];
        *r = (struct caller_run){.type = CW_NUMBER_UINT64, .combine = CW_COMBINE_SUM, .flags = CW_REDUCE_TO_ALL};
        snprintf(r->name, sizeof r->name, "%u", i);
        r->elements = elements;
        r->begin = (cw_time){CW_MS(300 + 10 * (int64_t)i).ns};
        everybody(r, dims, r->begin);
    }
    open_world(dims);
    for (unsigned i = 0; i < ROUNDS; i++) {
        const struct caller_run *r = &caller_plan.run[i];
        took[i] = cw_time_since(wait_for(what, r, dims), r->begin).ns;
    }
    qsort(took, ROUNDS, sizeof *took, by_size);
    printf("%-34s median %.1f us, least %.1f, most %.1f; %u hops each way\n", what, (double)took[ROUNDS / 2] / 1e3,
           (double)took[0] / 1e3, (double)took[ROUNDS - 1] / 1e3, dims.x / 2 + dims.y / 2 + dims.z / 2);
    fflush(stdout);
    world_close(world);
}

/* Reductions of all servers to these roots, all at once. */
static void reduce(const char *what, cw_dims dims, unsigned roots, const cw_server *root, uint64_t bytes)
{
    if (!wanted(what)) {
        return;
    }
    float *vector = calloc(bytes, 1);
    cw_time begin = {CW_MS(300).ns};
    caller_plan.runs = roots;
    for (unsigned i = 0; i < roots; i++) {
        struct caller_run *r = &caller_plan.run[i];
        *r = (struct caller_run){.root = root[i], .type = CW_NUMBER_FLOAT32, .combine = CW_COMBINE_SUM};
        snprintf(r->name, sizeof r->name, "%u", i);
        r->elements = bytes / sizeof *vector;
        r->shared = (const uint8_t *)vector;
        r->forget = true;
        everybody(r, dims, begin);
    }
    open_world(dims);
    double least = 1e9, most = 0, sum = 0;
    for (unsigned i = 0; i < roots; i++) {
        struct caller_run *r = &caller_plan.run[i];
        const struct caller_call *c = &r->call[r->root];
        while (c->ends == 0 && world_now(world).ns < CW_SEC(600).ns) {
            run(CW_MS(1));
        }
        if (c->ends == 0 || c->status != 0) {
            fprintf(stderr, "%s: ended %u times, with %d\n", what, c->ends, c->status);
            exit(1);
        }
        double rate = (double)bytes * 8 / (double)cw_time_since(c->ended, begin).ns;
        least = rate < least ? rate : least;
        most = rate > most ? rate : most;
        sum += rate;
    }
    printf("%-34s %4llu MB  %7.4f Gb/s  %.3f of the wires (5.916)  attempts %u", what,
           (unsigned long long)(bytes / 1000000), sum, sum / 5.916 / (double)megabits * 1000,
           caller_plan.run[0].call[root[0]].attempts);
    if (roots > 1) {
        printf("  least / most %.3f", least / most);
    }
    printf("\n");
    fflush(stdout);
    world_close(world);
    free(vector);
}

int main(int argc, char **argv)
{
    bool smoke = false;
    for (int i = 1; i < argc; i++) {
        smoke = smoke || strcmp(argv[i], "--smoke") == 0;
        if (strcmp(argv[i], "--only") == 0 && i + 1 < argc) {
            only = argv[++i];
        } else if (strcmp(argv[i], "--megabytes") == 0 && i + 1 < argc) {
            megabytes = strtoull(argv[++i], NULL, 10);
        } else if (strcmp(argv[i], "--megabits") == 0 && i + 1 < argc) {
            megabits = strtoull(argv[++i], NULL, 10);
        } else if (strcmp(argv[i], "--frame") == 0 && i + 1 < argc) {
            frame = strtoull(argv[++i], NULL, 10);
        }
    }
    static const cw_server three[] = {0, 13, 26}, corner[] = {0};
    uint64_t bytes = (smoke ? 1 : megabytes) * 1000000;
    reduce("27 to one", (cw_dims){3, 3, 3}, 1, corner, bytes);
    reduce("27 to one, three at once", (cw_dims){3, 3, 3}, 3, three, bytes / 3);
    to_all("27 to all", (cw_dims){3, 3, 3}, bytes);
    collect("27: reduce-scatter", (cw_dims){3, 3, 3}, CALLER_REDUCE_SCATTER, bytes / 3);
    collect("27: allgather", (cw_dims){3, 3, 3}, CALLER_ALLGATHER, bytes / 3);
    latency("27: barrier", (cw_dims){3, 3, 3}, 0);
    latency("27: 8 bytes to all", (cw_dims){3, 3, 3}, 1);
    if (!smoke) {
        latency("512: barrier", (cw_dims){8, 8, 8}, 0);
        latency("512: 8 bytes to all", (cw_dims){8, 8, 8}, 1);
        to_all("512 to all", (cw_dims){8, 8, 8}, bytes / 25);
        reduce("512 to one", (cw_dims){8, 8, 8}, 1, corner, bytes / 25);
    }
    return 0;
}
