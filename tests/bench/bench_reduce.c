/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_reduce.c - reductions in a simulated torus of 1 Gb/s links and frames of 9,000 bytes, so that figures are those
 * of the protocol and the same on every machine: the rate at which a vector of each server becomes one, beside the
 * bound of the root's links and what the wires carry of it. `--smoke` only shows that all of it runs.
 *
 *   bench_reduce [--smoke] [--megabytes N]      N: of each vector, 750 when nothing is said
 */
#include "ag_caller.h"
#include "keyspace/torus.h"
#include "nmu/book.h"
#include "services/aggregate/aggregate.h"
#include "services/aggregate/dense/dense.h"
#include "simulator/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct world *world;
static uint64_t megabytes = 750;

static cw_time clock_now(void *context)
{
    return world_now(context);
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
    static const struct world_service services[] = {{.table = &aggregate_service}, {.table = &caller_service}};
    static const struct book_grant grants[] = {
        {.from = AGGREGATE_JOB, .to = AGGREGATE_JOB, .port = 0, .all_processes = true},
        {.from = AGGREGATE_JOB, .to = AGGREGATE_JOB, .port = 1, .all_processes = true}};
    struct world_config config = world_config_default();
    config.dims = dims;
    config.services = services;
    config.service_count = 2;
    config.grants = grants;
    config.grant_count = 2;
    if (world_open(&world, &config) != 0) {
        exit(1);
    }
    caller_plan.now = clock_now;
    caller_plan.context = world;
    world_start_all(world, CW_MS(1));
}

/* Reductions of all servers to these roots, all at once. */
static void reduce(const char *what, cw_dims dims, unsigned roots, const cw_server *root, uint64_t bytes)
{
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
        for (cw_server s = 0; s < CALLER_SERVERS; s++) {
            bool there = s < (cw_server)dims.x * dims.y * dims.z;
            r->members[s / 64] |= (uint64_t)there << s % 64;
            r->call[s].at = there ? begin : CW_NEVER;
            r->call[s].cancel = CW_NEVER;
        }
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
    printf("%-34s %4llu MB  %6.3f Gb/s  %.3f of the wires (5.916)  attempts %u", what,
           (unsigned long long)(bytes / 1000000), sum, sum / 5.916, caller_plan.run[0].call[root[0]].attempts);
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
        if (strcmp(argv[i], "--megabytes") == 0 && i + 1 < argc) {
            megabytes = strtoull(argv[++i], NULL, 10);
        }
    }
    static const cw_server three[] = {0, 13, 26}, corner[] = {0};
    uint64_t bytes = (smoke ? 3 : megabytes) * 1000000;
    reduce("27 to one", (cw_dims){3, 3, 3}, 1, corner, bytes);
    reduce("27 to one, three at once", (cw_dims){3, 3, 3}, 3, three, bytes / 3);
    if (!smoke) {
        reduce("512 to one", (cw_dims){8, 8, 8}, 1, corner, bytes / 25);
    }
    return 0;
}
