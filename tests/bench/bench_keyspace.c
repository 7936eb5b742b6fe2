/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_keyspace - what it costs to find the servers of a key, beside one SHA-1 of a 32-byte name in the same run.
 *
 * Every figure is the median of the rounds; a round runs every case once, in turn. Ratios are medians of the round's
 * own ratios to the product's SHA-1 (key_sha1). `--smoke`: one short round.
 */
#include "keyspace/facet.h"
#include "keyspace/key.h"
#include "keyspace/moves.h"
#include "keyspace/owner.h"
#include "rng.h"

#include <openssl/evp.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS_MOST = 31, ROUTES = 4096 };

static volatile uint64_t sink; /* what is computed must be computed */

struct world {
    struct torus torus;
    struct reach reach;
    struct reach less; /* reach without victim */
    cw_server victim;
    uint64_t route[ROUTES];  /* random keys */
    uint64_t orphan[ROUTES]; /* keys whose home is down, when any is */
};

static void world_open(struct world *w, uint16_t side, unsigned down_of_100, uint64_t seed)
{
    struct rng rng = {seed};
    if (torus_init(&w->torus, (cw_dims){side, side, side}) != 0) {
        abort();
    }
    uint32_t n = w->torus.servers;
    reach_init(&w->reach, n, malloc(reach_bytes(n)));
    reach_init(&w->less, n, malloc(reach_bytes(n)));
    reach_fill(&w->reach);
    uint32_t up = n - n * down_of_100 / 100;
    while (w->reach.members > up) {
        reach_remove(&w->reach, (cw_server)rng_below(&rng, n));
    }
    do {
        w->victim = (cw_server)rng_below(&rng, n);
    } while (!reach_has(&w->reach, w->victim));
    reach_copy(&w->less, &w->reach);
    reach_remove(&w->less, w->victim);
    for (unsigned i = 0; i < ROUTES; i++) {
        w->route[i] = rng_next(&rng);
        do {
            w->orphan[i] = rng_next(&rng);
        } while (up < n && reach_has(&w->reach, key_home(&w->torus, w->orphan[i])));
    }
}

static void world_close(struct world *w)
{
    free(w->reach.word);
    free(w->less.word);
}

/* One run of a case: does its work and returns how many operations that was. */
typedef unsigned run_fn(const struct world *w);

static unsigned run_sha1_product(const struct world *w)
{
    uint8_t name[32] = {(uint8_t)w->route[0]};
    for (unsigned i = 0; i < ROUTES; i++) {
        cw_key key = key_sha1(name, sizeof name);
        name[0] ^= key.b[0];
    }
    sink = name[0];
    return ROUTES;
}

static unsigned run_sha1_one_shot(const struct world *w)
{
    uint8_t name[32] = {(uint8_t)w->route[0]}, digest[SHA_DIGEST_LENGTH];
    for (unsigned i = 0; i < ROUTES; i++) {
        SHA1(name, sizeof name, digest);
        name[0] ^= digest[0];
    }
    sink = name[0];
    return ROUTES;
}

static unsigned run_sha1_prepared(const struct world *w)
{
    uint8_t name[32] = {(uint8_t)w->route[0]}, digest[SHA_DIGEST_LENGTH];
    EVP_MD *md = EVP_MD_fetch(NULL, "SHA1", NULL);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    for (unsigned i = 0; i < ROUTES; i++) {
        EVP_DigestInit_ex(context, md, NULL);
        EVP_DigestUpdate(context, name, sizeof name);
        EVP_DigestFinal_ex(context, digest, NULL);
        name[0] ^= digest[0];
    }
    EVP_MD_CTX_free(context);
    EVP_MD_free(md);
    sink = name[0];
    return ROUTES;
}

/* Each lookup waits for the one before it, as a packet's does: latency, not throughput. */
static unsigned roots_of(const struct world *w, const uint64_t route[])
{
    cw_server last = 0;
    for (unsigned i = 0; i < ROUTES; i++) {
        last = owner_root(&w->torus, route[i] ^ (last & 1), &w->reach);
    }
    sink = last;
    return ROUTES;
}

static unsigned run_roots(const struct world *w)
{
    return roots_of(w, w->route);
}

static unsigned run_orphan_roots(const struct world *w)
{
    return roots_of(w, w->orphan);
}

static unsigned run_lists(const struct world *w)
{
    cw_server out[3] = {0};
    for (unsigned i = 0; i < ROUTES; i++) {
        owner_servers_for_key(&w->torus, w->route[i] ^ (out[2] & 1), &w->reach, 3, out);
    }
    sink = out[2];
    return ROUTES;
}

static unsigned run_sequences(const struct world *w)
{
    unsigned steps = 0;
    uint64_t sum = 0;
    for (unsigned index = 0; index < FACET_SEQUENCES; index++) {
        struct facet_walk walk;
        facet_walk_init(&walk, &w->torus, w->victim, index);
        do {
            sum += facet_walk_server(&walk);
            steps++;
        } while (facet_walk_next(&walk));
    }
    sink = sum;
    return steps;
}

static int count_move(void *arg, const struct moves_entry *entry)
{
    *(uint64_t *)arg += entry->to;
    return 0;
}

static unsigned run_death(const struct world *w)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < 8; i++) {
        moves_between(&w->torus, &w->reach, &w->less, count_move, &sum);
    }
    sink = sum;
    return 8;
}

static unsigned run_birth(const struct world *w)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < 8; i++) {
        moves_between(&w->torus, &w->less, &w->reach, count_move, &sum);
    }
    sink = sum;
    return 8;
}

/* The obvious way to answer the same question: both roots of every (home, index). */
static unsigned run_death_by_sweep(const struct world *w)
{
    uint64_t sum = 0;
    for (cw_server home = 0; home < w->torus.servers; home++) {
        for (unsigned index = 0; index < FACET_SEQUENCES; index++) {
            cw_server from = owner_root_of(&w->torus, home, index, &w->reach);
            cw_server to = owner_root_of(&w->torus, home, index, &w->less);
            sum += from != to ? to : 0;
        }
    }
    sink = sum;
    return 1;
}

enum { SMALL, LARGE, TENTH, WORLDS };

static const struct {
    const char *name;
    unsigned world;
    run_fn *run;
    unsigned repeat;
} cases[] = {
    {"SHA-1 of 32 bytes, as in the product", SMALL, run_sha1_product, 4},
    {"SHA-1 of 32 bytes, SHA1()", SMALL, run_sha1_one_shot, 1},
    {"SHA-1 of 32 bytes, EVP context kept", SMALL, run_sha1_prepared, 2},
    {"root, 3x3x3, all up", SMALL, run_roots, 50},
    {"root, 16x16x16, all up", LARGE, run_roots, 50},
    {"root, 16x16x16, 10 % down", TENTH, run_roots, 20},
    {"root, 16x16x16, 10 % down, home is down", TENTH, run_orphan_roots, 5},
    {"first 3 servers, 3x3x3, all up", SMALL, run_lists, 5},
    {"first 3 servers, 16x16x16, all up", LARGE, run_lists, 5},
    {"first 3 servers, 16x16x16, 10 % down", TENTH, run_lists, 5},
    {"a step of a sequence (48 x 4,096 of them)", LARGE, run_sequences, 1},
    {"moves after a death, 16x16x16, all up", LARGE, run_death, 20},
    {"moves after a death, 16x16x16, 10 % down", TENTH, run_death, 20},
    {"moves after a return, 16x16x16, 10 % down", TENTH, run_birth, 20},
    {"the same moves by a sweep", TENTH, run_death_by_sweep, 1},
};
enum { CASES = sizeof cases / sizeof *cases };

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double ns_of(unsigned c, const struct world *w, bool smoke)
{
    unsigned repeat = smoke ? 1 : cases[c].repeat;
    double operations = 0, start = seconds();
    for (unsigned i = 0; i < repeat; i++) {
        operations += cases[c].run(&w[cases[c].world]);
    }
    return (seconds() - start) * 1e9 / operations;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *value, unsigned n)
{
    qsort(value, n, sizeof *value, by_value);
    return value[n / 2];
}

int main(int argc, char **argv)
{
    bool smoke = argc > 1 && strcmp(argv[1], "--smoke") == 0;
    unsigned rounds = smoke ? 1 : ROUNDS_MOST;
    static struct world worlds[WORLDS];
    world_open(&worlds[SMALL], 3, 0, 1);
    world_open(&worlds[LARGE], 16, 0, 2);
    world_open(&worlds[TENTH], 16, 10, 3);
    static double ns[CASES][ROUNDS_MOST], ratio[CASES][ROUNDS_MOST];
    for (unsigned round = 0; round < rounds; round++) {
        for (unsigned c = 0; c < CASES; c++) {
            ns[c][round] = ns_of(c, worlds, smoke);
            ratio[c][round] = ns[c][round] / ns[0][round];
        }
    }
    printf("%-44s %14s %14s\n", "", "ns", "per SHA-1");
    for (unsigned c = 0; c < CASES; c++) {
        printf("%-44s %14.2f %14.3f\n", cases[c].name, median(ns[c], rounds), median(ratio[c], rounds));
    }
    for (unsigned i = 0; i < WORLDS; i++) {
        world_close(&worlds[i]);
    }
    return EXIT_SUCCESS;
}
