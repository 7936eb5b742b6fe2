/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_reduce_deaths.c - a reduction of 3x3x3 servers to one in the simulator, links of 1 Gb/s and frames of 9,000
 * bytes, while servers die: those that are only on the way, in its first half, and then a member at half time, in a
 * reduction that goes on without. `--smoke` only shows that it runs.
 *
 *   bench_reduce_deaths [--smoke] [--megabytes N] [--folder DIRECTORY]
 *
 * N: of each vector, 750 when nothing is said. With --folder the rate of what the root has settled, over time, is
 * written to reduce_deaths_N.csv there, with a script for gnuplot.
 */
#include "ag_caller.h"
#include "curve.h"
#include "services/aggregate/aggregate.h"
#include "services/aggregate/dense/internal.h"
#include "services/aggregate/internal.h"
#include "simulator/world.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SERVERS = 27, DEATHS_MOST = 3, WIRES = 986 /* thousandths of a link's rate that blocks have */ };

static struct world *world;
static uint64_t bytes = 750000000;
static const char *folder; /* NULL: nothing is written */
static cw_span calm;       /* how long it takes when nobody dies */

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

/* Servers that die on the way: none is a neighbour of another one, or of the root. */
static const cw_server victims[DEATHS_MOST] = {13, 8, 20};

/* What the root knows of its attempts. */
struct look {
    uint64_t again; /* blocks that were dealt and not settled when an attempt ended */
    unsigned ahead, attempts;
};

static void look_at(void *context, cw_svc *svc, const void *exports)
{
    struct look *look = context;
    struct dense *d = ((struct aggregate *)cw_state(svc))->dense;
    (void)exports;
    for (struct list_node *n = list_first(&d->reducers); n != NULL; n = list_next(&d->reducers, n)) {
        const struct reducer *r = container_of(n, struct reducer, link);
        *look = (struct look){r->frontier.again, r->ahead, r->attempt};
    }
}

static void open_world(struct caller_run *r, unsigned flags, unsigned absent, const float *vector)
{
    static const struct world_service services[] = {{.table = &aggregate_service}, {.table = &caller_service}};
    struct world_config config = world_config_default();
    config.dims = (cw_dims){3, 3, 3};
    config.services = services;
    config.service_count = 2;
    config.grants = caller_grants;
    config.grant_count = CALLER_GRANTS;
    *r = (struct caller_run){.type = CW_NUMBER_FLOAT32, .combine = CW_COMBINE_SUM, .flags = flags, .name = "deaths"};
    r->elements = bytes / sizeof *vector;
    r->shared = (const uint8_t *)vector;
    r->forget = true;
    r->begin = (cw_time){CW_MS(300).ns};
    for (cw_server s = 0; s < SERVERS; s++) {
        r->members[0] |= UINT64_C(1) << s;
        r->call[s].at = r->begin;
        r->call[s].cancel = CW_NEVER;
    }
    for (unsigned i = 0; i < absent; i++) {
        r->members[0] &= ~(UINT64_C(1) << victims[i]);
        r->call[victims[i]].at = CW_NEVER;
    }
    for (cw_server s = SERVERS; s < CALLER_SERVERS; s++) {
        r->call[s].at = CW_NEVER;
    }
    if (world_open(&world, &config) != 0) {
        exit(1);
    }
    caller_plan.runs = 1;
    caller_plan.now = clock_now;
    caller_plan.context = world;
    world_start_all(world, CW_MS(1));
    run(CW_MS(300));
}

static FILE *begin_curve(unsigned count)
{
    char name[40];
    snprintf(name, sizeof name, "reduce_deaths_%u", count);
    return curve_begin(folder, name, "A sum to one server of 3x3x3, while servers on the way die",
                       "settled at the root");
}

static double rate(uint64_t of, cw_span in)
{
    return (double)of * 8 / (double)in.ns;
}

static void must_be_good(const struct caller_call *c)
{
    if (c->ends != 1 || c->status != 0) {
        fprintf(stderr, "ended %u times, with %d\n", c->ends, c->status);
        exit(1);
    }
}

/* So many die, one after the other, in the first half of the time that it takes when nobody does. */
static void on_the_way(unsigned count, const float *vector)
{
    struct caller_run *r = &caller_plan.run[0];
    const struct caller_call *root = &r->call[0];
    struct look look = {0};
    uint64_t had = 0, at_death = 0, again_from = 0;
    cw_time death = r->begin, next_row, again_at = {0};
    open_world(r, 0, count, vector);
    const cw_span step = CW_MS(1), row = {calm.ns / 100 + 1};
    unsigned gone = 0;
    FILE *curve = count > 0 ? begin_curve(count) : NULL;
    next_row = cw_time_add(r->begin, row);
    while (root->ends == 0 && world_now(world).ns < CW_SEC(600).ns) {
        run(step);
        cw_time now = world_now(world);
        (void)world_visit(world, 0, "aggregate", CW_AGGREGATE_API, look_at, &look);
        if (gone == count && again_at.ns == 0 && look.attempts > count && root->took > at_death) {
            again_at = now;
            again_from = root->took;
        }
        if (gone < count && cw_time_since(now, r->begin).ns >= calm.ns / 2 * (gone + 1) / (count + 1)) {
            world_kill(world, victims[gone++], false);
            death = now;
            at_death = root->took;
        }
        if (curve != NULL && cw_time_due(next_row, now)) {
            fprintf(curve, "%.2f,%.4f,%u\n", (double)cw_time_since(now, r->begin).ns / 1e6, rate(root->took - had, row),
                    gone);
            had = root->took;
            next_row = cw_time_add(next_row, row);
        }
    }
    must_be_good(root);
    cw_span took = cw_time_since(root->ended, r->begin);
    if (count == 0) {
        calm = took;
        printf("nobody dies                 %7.1f ms  %.3f Gb/s\n", (double)took.ns / 1e6, rate(bytes, took));
    } else {
        unsigned left = CW_LINK_COUNT - (count == 1 ? 1 : 2); /* disjoint ways to each server that lives */
        printf("%u on the way %s        %7.1f ms  the rest %.3f Gb/s, once it goes on %.3f (%.3f of the wires of %u "
               "links)  "
               "attempts %u\n                            dealt again %" PRIu64 " blocks, at most %u a death\n",
               count, count == 1 ? "dies" : "die ", (double)took.ns / 1e6,
               rate(bytes - at_death, cw_time_since(root->ended, death)),
               rate(bytes - again_from, cw_time_since(root->ended, again_at)),
               rate(bytes - again_from, cw_time_since(root->ended, again_at)) / (left * WIRES / 1e3), left,
               look.attempts, look.again, CW_LINK_COUNT * look.ahead);
    }
    if (curve != NULL && fclose(curve) != 0) {
        fprintf(stderr, "a curve cannot be written\n");
        exit(1);
    }
    world_close(world);
}

/* A member dies at half time: the sum of exactly the others, from the first block on. */
static void without(const float *vector)
{
    enum { LOST = 13 };
    struct caller_run *r = &caller_plan.run[0];
    const struct caller_call *root = &r->call[0];
    open_world(r, CW_REDUCE_WITHOUT, 0, vector);
    run((cw_span){calm.ns / 2});
    world_kill(world, LOST, false);
    while (root->ends == 0 && world_now(world).ns < CW_SEC(600).ns) {
        run(CW_MS(1));
    }
    must_be_good(root);
    if (root->count != SERVERS - 1 || (root->counted[0] >> LOST & 1) != 0) {
        fprintf(stderr, "the result is of %u servers\n", root->count);
        exit(1);
    }
    cw_span took = cw_time_since(root->ended, r->begin);
    printf("a member dies at half time  %7.1f ms  %.3f of the time without (goal 1.7)  the sum of the other %u\n",
           (double)took.ns / 1e6, (double)took.ns / (double)calm.ns, root->count);
    world_close(world);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--smoke") == 0) {
            bytes = 4000000;
        } else if (strcmp(argv[i], "--megabytes") == 0 && i + 1 < argc) {
            bytes = strtoull(argv[++i], NULL, 10) * 1000000;
        } else if (strcmp(argv[i], "--folder") == 0 && i + 1 < argc) {
            folder = argv[++i];
        } else {
            fprintf(stderr, "bench_reduce_deaths [--smoke] [--megabytes N] [--folder DIRECTORY]\n");
            return 2;
        }
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    float *vector = calloc(bytes, 1);
    if (vector == NULL || bytes < 1000000) {
        fprintf(stderr, "bench_reduce_deaths: --megabytes is from 1 on\n");
        return 2;
    }
    on_the_way(0, vector);
    on_the_way(1, vector);
    on_the_way(3, vector);
    without(vector);
    free(vector);
    return 0;
}
