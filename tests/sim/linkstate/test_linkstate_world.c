/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_linkstate_world.c - seeds of ls_world.h until one fails.
 *
 *     test_linkstate_world [--first <seed>] [--seeds <count>] [--seed <one>] [--trace] [--delivery] [--all]
 *
 * --delivery leaves out the checks of single rules and keeps those of what they are for (mutants: does it matter?).
 * --all goes on after a failure: how many seeds fail, and in what?
 * CUBEWAY_SEEDS sets the count where the command does not. A failure prints the command that repeats it.
 */
#include "ls_world.h"
#include "sanitized.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SEEDS = 150 };

static const char *program;
static volatile unsigned long long running;

/* A CHECK of the product has stopped us: say which seed, with functions that a handler may call. */
static void tell_seed(int number)
{
    char text[96];
    int length = snprintf(text, sizeof text, "seed %llu: stopped by a check\n  repeat: %s --seed %llu\n", running,
                          "test_linkstate_world", running);
    (void)!write(STDOUT_FILENO, text, (size_t)length);
    signal(number, SIG_DFL);
    raise(number);
}

struct totals {
    uint64_t counts[LS_COUNTERS];
    uint64_t events, frames, probes, waits, checks;
};

static bool run_seed(uint64_t seed, bool delivery_only, FILE *trace, struct totals *totals)
{
    struct world *w = malloc(sizeof *w);
    if (w == NULL) {
        return false;
    }
    running = seed;
    world_run(w, seed, delivery_only, trace);
    bool well = w->failure[0] == '\0';
    if (!well) {
        printf("seed %llu, %ux%ux%u, at %.3f ms: %s\n  repeat: %s --seed %llu --trace\n", (unsigned long long)seed,
               w->knobs.dims.x, w->knobs.dims.y, w->knobs.dims.z, (double)w->now.ns / 1e6, w->failure, program,
               (unsigned long long)seed);
    }
    world_close(w);
    for (unsigned i = 0; i < LS_COUNTERS; i++) {
        totals->counts[i] += w->counts[i];
    }
    totals->events += w->events;
    totals->frames += w->frames;
    totals->probes += w->probes;
    totals->waits += w->waits;
    totals->checks += w->checks;
    free(w);
    return well;
}

static void print_totals(uint64_t seeds, const struct totals *t, double seconds)
{
    printf(
        "%llu seeds, %.1f s: %llu events, %llu frames, %llu data frames let in (%llu had to wait), %llu keys owned\n ",
        (unsigned long long)seeds, seconds, (unsigned long long)t->events, (unsigned long long)t->frames,
        (unsigned long long)t->probes, (unsigned long long)t->waits, (unsigned long long)t->checks);
    for (unsigned i = 0; i < LS_COUNTERS; i++) {
        printf(" %s %llu", ls_counter_name((enum ls_counter)i), (unsigned long long)t->counts[i]);
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    program = argv[0];
    const char *env = getenv("CUBEWAY_SEEDS");
    uint64_t first = 1, count = env == NULL ? (SANITIZED ? SEEDS / 5 : SEEDS) : strtoull(env, NULL, 0);
    FILE *trace = NULL;
    bool delivery_only = false, all = false;
    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc;
        if (strcmp(argv[i], "--first") == 0 && more) {
            first = strtoull(argv[++i], NULL, 0);
        } else if (strcmp(argv[i], "--seeds") == 0 && more) {
            count = strtoull(argv[++i], NULL, 0);
        } else if (strcmp(argv[i], "--seed") == 0 && more) {
            first = strtoull(argv[++i], NULL, 0);
            count = 1;
        } else if (strcmp(argv[i], "--trace") == 0) {
            trace = stdout;
        } else if (strcmp(argv[i], "--delivery") == 0) {
            delivery_only = true;
        } else if (strcmp(argv[i], "--all") == 0) {
            all = true;
        } else {
            fprintf(stderr, "usage: %s [--first n] [--seeds n] [--seed n] [--trace] [--delivery] [--all]\n", program);
            return 2;
        }
    }
    signal(SIGABRT, tell_seed);
    struct totals totals;
    memset(&totals, 0, sizeof totals);
    clock_t start = clock();
    uint64_t done = 0;
    bool well = true;
    while (done < count && (well || all)) {
        well &= run_seed(first + done, delivery_only, trace, &totals);
        done++;
    }
    print_totals(done, &totals, (double)(clock() - start) / CLOCKS_PER_SEC);
    return well ? 0 : 1;
}
