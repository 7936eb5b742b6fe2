/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_linkstate_world.c - seeds of ls_world.h until one fails.
 *
 *     test_linkstate_world [--trace] [--delivery], and the options of seeds.h. Exit code 1: a seed failed.
 *
 * --trace prints every event of a seed. --delivery leaves out the checks of single rules and keeps those of what the
 * rules are for: mutants.py asks so whether a mutant does harm.
 */
#include "ls_world.h"
#include "sanitized.h"
#include "seeds.h"

#include <stdlib.h>
#include <string.h>

/* What the command line asks for. */
static bool trace, delivery_only;

struct ledger {
    char wrong[SEEDS_WRONG_BYTES];
    uint64_t counts[LS_COUNTERS];
    uint64_t events, frames, probes, waits, checks;
};
static struct ledger *ledger;
static struct ledger sums; /* of all seeds; `wrong` is not used */

static void run(uint64_t seed)
{
    struct world *w = malloc(sizeof *w);
    if (w == NULL) {
        abort();
    }
    world_run(w, seed, delivery_only, trace ? stdout : NULL);
    if (w->failure[0] != '\0') {
        const cw_dims *d = &w->knobs.dims;
        snprintf(ledger->wrong, sizeof ledger->wrong, "%s (%ux%ux%u, at %.3f ms; repeat: --seed %llu --trace)",
                 w->failure, d->x, d->y, d->z, (double)w->now.ns / 1e6, (unsigned long long)seed);
    }
    world_close(w);
    memcpy(ledger->counts, w->counts, sizeof ledger->counts);
    ledger->events = w->events;
    ledger->frames = w->frames;
    ledger->probes = w->probes;
    ledger->waits = w->waits;
    ledger->checks = w->checks;
    free(w);
}

static void add(void)
{
    for (unsigned i = 0; i < LS_COUNTERS; i++) {
        sums.counts[i] += ledger->counts[i];
    }
    sums.events += ledger->events;
    sums.frames += ledger->frames;
    sums.probes += ledger->probes;
    sums.waits += ledger->waits;
    sums.checks += ledger->checks;
}

static void print_sums(void)
{
    printf("%llu events, %llu frames, %llu data frames let in (%llu had to wait), %llu keys owned\n ",
           (unsigned long long)sums.events, (unsigned long long)sums.frames, (unsigned long long)sums.probes,
           (unsigned long long)sums.waits, (unsigned long long)sums.checks);
    for (unsigned i = 0; i < LS_COUNTERS; i++) {
        printf(" %s %llu", ls_counter_name((enum ls_counter)i), (unsigned long long)sums.counts[i]);
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    static const struct seeds_option options[] = {
        {"--trace", &trace, NULL}, {"--delivery", &delivery_only, NULL}, {NULL, NULL, NULL}};
    ledger = seeds_share(sizeof *ledger);
    struct seeds seeds = {.count = SANITIZED ? 8 : 80,
                          .options = options,
                          .ledger = ledger,
                          .ledger_bytes = sizeof *ledger,
                          .wrong = ledger->wrong,
                          .run = run,
                          .add = add};
    if (seeds_read(&seeds, argc, argv) != 0) {
        return 2;
    }
    int rc = seeds_run(&seeds);
    print_sums();
    return rc;
}
