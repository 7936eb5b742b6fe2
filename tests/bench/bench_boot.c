/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_boot.c - how long a server thinks about the graph of its torus: solving it with ports labelled, with ports not
 * labelled, with one pair of cables swapped, a plane of newcomers; and verifying. Beside them two raw limits of the
 * same run: copying the graph, and following each cable once. Medians of alternating rounds.
 */
#include "base/prng.h"
#include "boot/solve.h"
#include "boot/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 7 };

enum job { COPY, CABLES, LABELLED, SHAPE, LABELLED_SWAPPED, SHAPE_SWAPPED, PLANE, VERIFY, JOBS };
static const char *const names[JOBS] = {
    "copying the graph",
    "following each cable once",
    "ports labelled",
    "ports not labelled",
    "labelled, two cables swapped",
    "not labelled, two cables swapped",
    "a plane of newcomers, not labelled",
    "verify",
};

struct bench {
    struct graph labelled, shape, labelled_swapped, shape_swapped, plane;
    struct graph_server *copy;
    struct solution truth;
    uint64_t sink;
};

static void require(bool holds)
{
    if (!holds) {
        fprintf(stderr, "bench_boot: it does not come out as it must\n");
        exit(EXIT_FAILURE);
    }
}

static cw_coord coord(cw_dims dims, uint32_t cell)
{
    return (cw_coord){(uint8_t)(cell / dims.z / dims.y), (uint8_t)(cell / dims.z % dims.y), (uint8_t)(cell % dims.z)};
}

/* Servers in random order; ports in random order when they are not labelled. */
static struct graph build(cw_dims dims, bool labelled, struct prng *p)
{
    uint32_t n = dims_servers(dims);
    struct graph g;
    uint32_t *at = calloc(n, sizeof *at);
    uint8_t(*port)[CW_LINK_COUNT] = calloc(n, sizeof *port);
    require(graph_make(&g, n) == 0 && at != NULL && port != NULL);
    for (uint32_t i = 0; i < n; i++) {
        at[i] = i;
        g.server[i].id = i + 1;
        for (uint8_t d = 0; d < CW_LINK_COUNT; d++) {
            port[i][d] = d;
            g.server[i].label[d] = labelled ? d : (uint8_t)BOOT_UNLABELLED;
        }
        if (!labelled) {
            prng_shuffle(p, port[i], CW_LINK_COUNT, 1);
        }
    }
    prng_shuffle(p, at, n, sizeof *at);
    for (uint32_t cell = 0; cell < n; cell++) {
        for (unsigned d = 0; d < CW_LINK_COUNT; d += 2) {
            uint32_t a = at[cell], b = at[coord_cell(dims, coord_step(dims, coord(dims, cell), d))];
            graph_join(&g, (struct graph_end){a, port[a][d]}, (struct graph_end){b, port[b][d + 1]});
        }
    }
    free(at);
    free(port);
    return g;
}

static void swap_two(struct graph *g)
{
    struct graph_end a = {1, 0}, b = {g->count / 2, 0}, far_a = graph_far(g, 1, 0), far_b = graph_far(g, b.server, 0);
    graph_cut(g, a);
    graph_cut(g, b);
    graph_join(g, a, far_b);
    graph_join(g, b, far_a);
}

/* All but one plane have their place. */
static void settle_but_a_plane(struct graph *g)
{
    struct solution s;
    require(boot_solve(g, &s) == 0);
    for (uint32_t i = 0; i < g->count; i++) {
        if (s.spot[i].at.x != 1) {
            g->server[i].placed = true;
            g->server[i].dims = s.dims;
            g->server[i].at = s.spot[i].at;
            memcpy(g->server[i].label, s.spot[i].direction, CW_LINK_COUNT);
        }
    }
    solution_free(&s);
}

static void solve_and_check(const struct graph *g, int expected)
{
    struct solution s;
    require(boot_solve(g, &s) == 0);
    require(boot_verify(g, &s) == expected);
    solution_free(&s);
}

static void run(struct bench *b, enum job job)
{
    switch (job) {
    case COPY:
        memcpy(b->copy, b->labelled.server, b->labelled.count * sizeof *b->copy);
        __asm__ volatile("" : : "r"(b->copy) : "memory");
        break;
    case CABLES:
        for (uint32_t i = 0; i < b->labelled.count; i++) {
            for (unsigned port = 0; port < CW_LINK_COUNT; port++) {
                b->sink += b->labelled.server[graph_far(&b->labelled, i, port).server].id;
            }
        }
        break;
    case LABELLED:
        solve_and_check(&b->labelled, 0);
        break;
    case SHAPE:
        solve_and_check(&b->shape, 0);
        break;
    case LABELLED_SWAPPED:
        solve_and_check(&b->labelled_swapped, 1);
        break;
    case SHAPE_SWAPPED:
        solve_and_check(&b->shape_swapped, 1);
        break;
    case PLANE:
        solve_and_check(&b->plane, 0);
        break;
    default:
        require(boot_verify(&b->labelled, &b->truth) == 0);
        break;
    }
}

static double milliseconds(struct bench *b, enum job job)
{
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    run(b, job);
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (double)(end.tv_sec - begin.tv_sec) * 1e3 + (double)(end.tv_nsec - begin.tv_nsec) / 1e6;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void measure(cw_dims dims, unsigned rounds)
{
    struct prng p = prng_stream(1, 2, 3);
    struct bench b = {.labelled = build(dims, true, &p), .shape = build(dims, false, &p)};
    b.labelled_swapped = build(dims, true, &p);
    b.shape_swapped = build(dims, false, &p);
    b.plane = build(dims, false, &p);
    swap_two(&b.labelled_swapped);
    swap_two(&b.shape_swapped);
    settle_but_a_plane(&b.plane);
    b.copy = malloc(b.labelled.count * sizeof *b.copy);
    require(b.copy != NULL && boot_solve(&b.labelled, &b.truth) == 0);
    double took[JOBS][ROUNDS];
    for (unsigned round = 0; round < rounds; round++) {
        for (enum job job = 0; job < JOBS; job++) {
            took[job][round] = milliseconds(&b, job);
        }
    }
    printf("%ux%ux%u, %u servers\n", dims.x, dims.y, dims.z, b.labelled.count);
    for (enum job job = 0; job < JOBS; job++) {
        qsort(took[job], rounds, sizeof took[job][0], by_value);
        qsort(took[CABLES], rounds, sizeof took[CABLES][0], by_value);
        printf("  %-36s %10.3f ms  %8.1f of following the cables\n", names[job], took[job][rounds / 2],
               took[job][rounds / 2] / took[CABLES][rounds / 2]);
    }
    graph_free(&b.labelled);
    graph_free(&b.shape);
    graph_free(&b.labelled_swapped);
    graph_free(&b.shape_swapped);
    graph_free(&b.plane);
    solution_free(&b.truth);
    free(b.copy);
}

int main(int argc, char **argv)
{
    bool smoke = argc > 1 && strcmp(argv[1], "--smoke") == 0;
    measure((cw_dims){3, 3, 3}, smoke ? 1 : ROUNDS);
    measure((cw_dims){8, 8, 8}, smoke ? 1 : ROUNDS);
    if (!smoke) {
        measure((cw_dims){16, 16, 16}, ROUNDS);
        measure((cw_dims){40, 40, 40}, ROUNDS);
    }
    return EXIT_SUCCESS;
}
